#!/usr/bin/env python3
"""Checks the folders of the library against folders.txt, which declares their order.

A file includes files of its own folder and of folders that the order has before it, so that the folders have no cycle.
A folder has few files. A README.md that says of a folder "Its files include those of `a` and `b`." names the folders
that they do include.

What nvcc reads for each operator includes few headers of the standard library, since they are most of what it reads.

The folders of tests/ mirror those of the library, of perf/ and of examples/, but for a few that are named below.

    tests/build/folders_test.py           # the tree that this file is in
    tests/build/folders_test.py --graph   # also prints which folder includes which
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".hpp", ".cuh", ".cpp", ".cu", ".def"}
MOST_FILES = 15
# Folders of tests that mirror none: what serves all tests, and tables that are about all of conv/.
OF_TESTS = {"build", "build/launcher", "compile_fail", "onnx", "reference", "conv/epilogue", "conv/table", "conv/table/problems", "conv/table/rows",
            "conv/tiles",
            "gemm/table"}
# Those that have more files than others may, and how many: compile_fail has a file for each sentence.
MANY_TESTS = {"compile_fail": 200, "gemm/table": 36, "gemm/arch": 43, "conv/hopper": 18}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]weft/([^">]+)[">]', re.M)
# Where the kernels of an operator start, and all that they include of others. <memory> alone is longer than all of Weft that an operator reads.
OPERATORS = ("conv/instantiate.cuh", "gemm/instantiate.cuh", "conv/ready_made.hpp", "gemm/ready_made.hpp", "gemm/block.hpp")
SHORT_HEADERS = {"array", "bit", "cmath", "concepts", "cstddef", "cstdint", "cstring", "cuda_runtime.h", "limits", "new", "nv/target",
                 "tuple", "type_traits", "utility"}
OTHER_HEADER = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)
SENTENCE = re.compile(r"^Its files include (those of (.*)|no others)\.$", re.M)


def declared_order():
    """{folder: the most files that it may have}, in the order of folders.txt."""
    order = {}
    for line in (ROOT / "tests/build/folders.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            order[words[0]] = int(words[1]) if len(words) > 1 else MOST_FILES
    return order


def library_files(order):
    """Paths of the library's sources, relative to the root. What is in no folder of the order is found, too."""
    rooms = sorted({folder.split("/")[0] for folder in order})
    paths = [path for room in rooms for path in (ROOT / room).rglob("*") if path.suffix in SOURCES]
    return sorted(path.relative_to(ROOT) for path in paths)


def errors_of_tests():
    """What is wrong with the folders of tests/."""
    errors = []
    count = {}
    for path in (ROOT / "tests").rglob("*"):
        if path.suffix in SOURCES:
            folder = path.parent.relative_to(ROOT / "tests").as_posix()
            count[folder] = count.get(folder, 0) + 1
    for folder, files in sorted(count.items()):
        if folder not in OF_TESTS and not (ROOT / folder).is_dir():
            errors.append(f"tests/{folder} mirrors no folder: there is no {folder}")
        if files > MANY_TESTS.get(folder, MOST_FILES):
            errors.append(f"tests/{folder} has {files} files, more than {MANY_TESTS.get(folder, MOST_FILES)}")
    for folder in sorted(OF_TESTS - set(count)):
        errors.append(f"tests/{folder}, which this file names, has no file")
    return errors


def errors_of_operators():
    """Long headers that nvcc would read for every operator."""
    errors, seen, left = [], set(), list(OPERATORS)
    while left:
        path = left.pop()
        if path in seen or path.startswith("gemm/arch/cpu/") or not (ROOT / path).is_file():
            continue
        seen.add(path)
        text = (ROOT / path).read_text(encoding="utf-8")
        left += INCLUDE.findall(text)
        errors += [f"{path} includes <{header}>, which nvcc would read for every operator; SHORT_HEADERS has what it may read"
                   for header in OTHER_HEADER.findall(text) if header not in SHORT_HEADERS]
    if len(seen) < 100:
        errors.append(f"only {len(seen)} files are found that nvcc reads for operators")
    return errors


def main():
    order = declared_order()
    place = {folder: i for i, folder in enumerate(order)}
    files = library_files(order)
    errors = []
    count = dict.fromkeys(order, 0)
    arrows = {folder: {} for folder in order}
    for path in files:
        folder = path.parent.as_posix()
        if folder not in place:
            errors.append(f"{path}: its folder is not in tests/build/folders.txt")
            continue
        count[folder] += 1
        for included in INCLUDE.findall((ROOT / path).read_text(encoding="utf-8")):
            if "/" not in included:  # version.hpp, and what compiler.hpp includes to end a compilation
                continue
            target = pathlib.PurePosixPath(included).parent.as_posix()
            if not (ROOT / included).is_file():
                errors.append(f"{path}: there is no weft/{included}")
            elif target not in place:
                errors.append(f"{path}: the folder of weft/{included} is not in tests/build/folders.txt")
            elif target != folder:
                arrows[folder].setdefault(target, f"{path} includes weft/{included}")
                if place[target] > place[folder]:
                    errors.append(f"{path} includes weft/{included}, but tests/build/folders.txt has {target} after {folder}")
    for folder, most in order.items():
        if not count[folder]:
            errors.append(f"tests/build/folders.txt: {folder} has no file")
        if count[folder] > most:
            errors.append(f"{folder} has {count[folder]} files, more than {most}")
        readme = ROOT / folder / "README.md"
        if not readme.is_file():
            errors.append(f"{folder} has no README.md, which would say what is in it")
            continue
        sentence = SENTENCE.search(readme.read_text(encoding="utf-8"))
        if sentence:
            named = set(re.findall(r"`([^`]+)`", sentence[2] or ""))
            for target, include in arrows[folder].items():
                if target not in named:
                    errors.append(f"{folder}/README.md does not name `{target}` as included: {include}")
            for target in sorted(named - set(arrows[folder])):
                errors.append(f"{folder}/README.md names `{target}` as included, which no file of {folder} includes")
    errors += errors_of_tests() + errors_of_operators()
    if "--graph" in sys.argv:
        for folder in order:
            print(f"{folder} ({count[folder]}): {' '.join(sorted(arrows[folder], key=place.get))}")
        print(f"{len(order)} folders, {sum(map(len, arrows.values()))} arrows")
    if errors:
        print("\n".join(errors))
        return 1
    if len(files) < 100:
        print(f"only {len(files)} files are found")
        return 1
    print(f"{len(files)} files of {len(order)} folders include downwards")
    return 0


if __name__ == "__main__":
    sys.exit(main())
