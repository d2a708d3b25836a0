"""Print the size of each package: modules, lines, lines of code, share of imports in the lines, lines of its tests.

    python packaging/count_lines.py [FOLDER]

FOLDER: a checkout, by default that of this script. Blank lines, comments and docstrings are no code.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import defaultdict
from dataclasses import astuple, dataclass
from pathlib import Path

WITHOUT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Size:
    """Size of some modules. tests: lines of the tests in the folder of the same name."""

    modules: int = 0
    lines: int = 0
    code: int = 0
    imports: int = 0
    tests: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


def size_of(text: str) -> Size:
    """Return the size of the text of a module."""
    code, imports = set[int](), 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in WITHOUT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports += node.end_lineno - node.lineno + 1
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            code -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return Size(1, text.count("\n"), len(code), imports)


def sizes(root: Path) -> dict[str, Size]:
    """Return the size of each package of a checkout, with "" for modules and tests that are in none."""
    found = defaultdict[str, Size](Size)
    for path in (root / "workbench").rglob("*.py"):
        package, *_ = [*path.relative_to(root / "workbench").parts[:-1], ""]
        found[package] += size_of(path.read_text("utf-8"))
    for path in (root / "tests").rglob("*.py"):
        package, *_ = [*path.relative_to(root / "tests").parts[:-1], ""]
        found[package if package in found else ""].tests += path.read_text("utf-8").count("\n")
    return found


def main() -> None:
    found = sizes(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
    rows = [*((name or "others", found[name]) for name in sorted(found)), ("all", sum(found.values(), Size()))]
    print(f"{'package':12}{'modules':>8}{'lines':>9}{'code':>9}{'imports':>9}{'tests':>9}")
    for name, size in rows:
        share = size.imports / max(1, size.lines)
        print(f"{name:12}{size.modules:8}{size.lines:9,}{size.code:9,}{share:9.1%}{size.tests:9,}")


if __name__ == "__main__":
    main()
