"""No function template of a header is exported by a library that is compiled with -fvisibility-inlines-hidden.

The flag, which weft::headers and pkg-config add, hides what is inline or constexpr. A function template that is neither is
exported by every shared library of a user's that calls it, unless its attribute hides it (decision 16).
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("layouts", "gemm", "prologues", "epilogues", "conv")
TYPES = re.compile(r"(template|class|struct|using|concept|union|extern)\b")
HIDDEN = re.compile(r"\b(inline|constexpr|consteval|WEFT_DEVICE)\b|gnu::visibility|\w::\w+\(")  # a member: as it is declared


def end_of(text: str, at: int, opening: str, closing: str) -> int:
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    while True:
        if text[at] == "(" and opening != "(":
            at = end_of(text, at, "(", ")")
            continue
        depth += (text[at] == opening) - (text[at] == closing and text[at - 1] != "-")
        at += 1
        if depth == 0:
            return at


def exported(text: str) -> list[tuple[int, str]]:
    """Lines and heads of function templates of namespaces that are defined and not hidden."""
    text = re.sub(r"//[^\n]*", "", text)
    found = []
    for match in re.finditer(r"^template <", text, re.MULTILINE):
        rest = text[end_of(text, match.end() - 1, "<", ">"):].lstrip()
        rest = re.sub(r"^requires requires *(\([^)]*\))? *{[^}]*}\s*", "", rest)
        head = re.match(r"[^{;]*", rest).group()
        defined = rest[len(head):].startswith("{")
        lines = [line.strip() for line in head.splitlines()]
        if not defined or any(TYPES.match(line) for line in lines) or HIDDEN.search(head):
            continue
        found.append((text.count("\n", 0, match.start()) + 1, " ".join(lines)))
    return found


def main() -> int:
    sample = "template <class T>\nint F(T x) {\n}\ntemplate <class T>\ninline int G() {\n}\ntemplate <class T>\n  requires requires { typename T::X; }\nint H() {\n}\ntemplate <int k>\nstruct S {\n};\n"
    assert [line for line, _ in exported(sample)] == [1, 7], exported(sample)
    failed = False
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.hpp")):  # a .cuh is for weft_add_operators, which hides all
            for line, head in exported(path.read_text()):
                print(f"{path.relative_to(ROOT)}:{line}: a shared library exports this; make it inline: {head}")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
