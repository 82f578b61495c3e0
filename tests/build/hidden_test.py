"""No library of a user's exports anything of Weft that is compiled with -fvisibility-inlines-hidden (decision 16).

The flag, which weft::headers and pkg-config add, hides functions that are inline or constexpr. A function template that is
neither is exported by every shared library that calls it, unless its attribute hides it: the headers are read for such. A constant
is exported where it is not folded, which without optimisation is wherever its address is taken: hidden_user.cpp, with all
kinds of operators, is compiled by the compiler that is given, with -O0.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("layouts", "gemm", "prologues", "epilogues", "conv")
TYPES = re.compile(r"(template|class|struct|using|concept|union|extern)\b")
HIDDEN = re.compile(r"\b(inline|constexpr|consteval|WEFT_DEVICE)\b|gnu::visibility|[\w>]::\w+\(")  # a member: as it is declared


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


def symbols(compiler: str) -> list[str]:
    """The symbols of Weft that a shared library with hidden_user.cpp would export."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = pathlib.Path(folder) / "user.o"
        subprocess.run([compiler, "-std=c++20", "-O0", "-fPIC", "-w", "-ffp-contract=off", "-fvisibility-inlines-hidden",
                        f"-I{ROOT}/cmake/include", "-c", ROOT / "tests/build/hidden_user.cpp", "-o", compiled], check=True)
        table = subprocess.run(["readelf", "--syms", "--wide", compiled], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines()]
    return [row[7] for row in rows if len(row) > 7 and row[4] != "LOCAL" and row[5] == "DEFAULT" and row[6] != "UND"
            and re.match(r"_Z(G[VR]|Z)?N?K?4weft", row[7])]


def main() -> int:
    sample = "template <class T>\nint F(T x) {\n}\ntemplate <class T>\ninline int G() {\n}\ntemplate <class T>\n  requires requires { typename T::X; }\nint H() {\n}\ntemplate <int k>\nstruct S {\n};\n"
    assert [line for line, _ in exported(sample)] == [1, 7], exported(sample)
    failed = False
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.hpp")):  # a .cuh is for weft_add_operators, which hides all
            for line, head in exported(path.read_text()):
                print(f"{path.relative_to(ROOT)}:{line}: a shared library exports this; make it inline: {head}")
                failed = True
    for symbol in symbols(sys.argv[1]):
        print(f"hidden_user.cpp, compiled with -O0, exports {symbol}: give it [[gnu::visibility(\"hidden\")]]")
        failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
