"""Update the translations: `python resources/i18n/update.py` (needs pyside6-lupdate and pyside6-lrelease).

Texts of the window are found in its sources. The patterns of problems and of messages.txt are written to a temporary
source file first, under the contexts "problems" and "sentences".
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from workbench.core import messages, problems  # noqa: E402
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE  # noqa: E402


def patterns() -> list[tuple[str, str]]:
    """Return (translation context, English pattern) of all messages."""
    ids = [kind.__name__ for kind in problems.problem_classes()] + list(messages.catalog())
    return [(context, text) for context, texts in map(messages.patterns, ids) for text in texts]


def replace_file(source: Path, target: Path) -> None:
    """Replace `target` by a copy of `source`; a process that has the old file open or mapped keeps its content."""
    beside = target.with_name(f".{target.name}.new")
    shutil.copyfile(source, beside)
    os.replace(beside, target)


def tool(name: str) -> str:
    """Return the path of a program of PySide6."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or name


def update(*files: Path) -> None:
    """Add the texts of the sources to translation files (.ts), and remove those that are no longer used."""
    with tempfile.TemporaryDirectory() as folder:
        passing = Path(folder) / "patterns.py"
        calls = [f"QCoreApplication.translate({context!r}, {text!r})" for context, text in dict.fromkeys(patterns())]
        passing.write_text("\n".join(calls) + "\n", "utf-8")
        sources = sorted(map(str, (ROOT / "workbench" / "ui").rglob("*.py")))
        options = ["-locations", "none", "-no-obsolete", "-ts", *map(str, files)]
        subprocess.run([tool("pyside6-lupdate"), *sources, str(passing), *options], check=True)


def main() -> int:
    files = [HERE / f"workbench_{name}.ts" for name in LANGUAGES if name != SOURCE_LANGUAGE]
    update(*files)
    with tempfile.TemporaryDirectory() as folder:
        for ts in files:
            # A window or a test that reads the old file at this moment keeps it.
            new = Path(folder) / f"{ts.stem}.qm"
            subprocess.run([tool("pyside6-lrelease"), str(ts), "-qm", str(new)], check=True)
            replace_file(new, ts.with_suffix(".qm"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
