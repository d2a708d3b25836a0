"""Brings the translations up to date: `python resources/i18n/update.py` (needs pyside6-lupdate and pyside6-lrelease).

Texts of the window are found in its sources. Those of `core`, which speaks English patterns and knows no translator,
are written to a passing file first: problems under the context "problems", and what a run may say, as listed in
sentences.txt, under "sentences".
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from workbench.ui.text.message_translation import problem_types  # noqa: E402


def patterns() -> list[tuple[str, str]]:
    """(context, text) of everything that lower rooms say."""
    found = [("problems", text) for kind in problem_types() for text in (kind.says, kind.advice) if text]
    lines = (HERE / "sentences.txt").read_text("utf-8").splitlines()
    return found + [("sentences", line) for line in lines if line and not line.startswith("#")]


def main() -> int:
    beside = str(Path(sys.executable).parent)
    update, release = (shutil.which(name, path=beside) or name for name in ("pyside6-lupdate", "pyside6-lrelease"))
    with tempfile.TemporaryDirectory() as folder:
        passing = Path(folder) / "patterns.py"
        calls = [f"QCoreApplication.translate({context!r}, {text!r})" for context, text in dict.fromkeys(patterns())]
        passing.write_text("\n".join(calls) + "\n", "utf-8")
        sources = sorted(map(str, (ROOT / "workbench" / "ui").rglob("*.py")))
        for ts in sorted(HERE.glob("workbench_*.ts")):
            subprocess.run(
                [update, *sources, str(passing), "-locations", "none", "-no-obsolete", "-ts", str(ts)], check=True
            )
            subprocess.run([release, str(ts), "-qm", str(ts.with_suffix(".qm"))], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
