"""A network as a page that people look at: page_of, and picture_of its graph alone."""
from .page import page_of
from .picture import picture_of

__all__ = ["page_of", "picture_of"]
