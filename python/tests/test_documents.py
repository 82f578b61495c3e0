"""The code of docs/python.md and README.md does what the pages say."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


def test_page(capsys):
    names = {}
    assert len(blocks("docs/python.md")) == 2
    for block in blocks("docs/python.md"):
        exec(block, names)  # noqa: S102
    assert names["y"][0, 0, 5, 5, 0] == 60
    assert "simt" in capsys.readouterr().out


def test_readme(capsys):
    (block,) = blocks("README.md")
    exec(block, {})  # noqa: S102
    assert "corner 32 inside 120" in capsys.readouterr().out
