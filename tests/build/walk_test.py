"""docs/walk.md is true: each function of its tables is in the file beside it."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "walk.md"
ROW = re.compile(r"^\| `(\w+)` \| \[([\w/.]+)\]\(\.\./([\w/.]+)\) \|")


class WalkTest(unittest.TestCase):
    def test_each_function_is_in_its_file(self):
        rows = [ROW.match(line) for line in PAGE.read_text().splitlines() if line.startswith("| `")]
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertIsNotNone(row, "a row is | `function` | [file](../file) | what it does |")
            function, shown, file = row.groups()
            with self.subTest(function=function):
                self.assertEqual(shown, file)
                self.assertRegex((ROOT / file).read_text(), rf"\b{function}\b")

    def test_every_link_leads_to_a_file(self):
        for file in re.findall(r"\]\(\.\./([\w/.]+)\)", PAGE.read_text()):
            self.assertTrue((ROOT / file).exists(), file)


if __name__ == "__main__":
    unittest.main()
