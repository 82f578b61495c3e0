"""The code of docs/python.md does what the page says."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"


def test_page(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(block, names)  # noqa: S102
    assert names["y"][0, 0, 5, 5, 0] == 60
    assert "mma_sm80" in capsys.readouterr().out
