"""The rule of the house, as tests: who may import whom, what stays out of which process, and what is banned where."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "workbench").rglob("*.py"))


def run_python(code: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_imports_point_downwards():
    """The contracts of pyproject.toml: layers, no Qt below the session, Paddle only in training, no cycles."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing():
    """Style, unused names, and the banned ways of importing Qt widgets and OpenCV."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("package", ["core", "inference", "training", "cli"])
def test_package_needs_no_qt(package):
    """Every module of the package imports while PySide6 cannot be."""
    run_python(
        "import sys, pkgutil, importlib\n"
        "sys.modules['PySide6'] = None\n"
        f"import workbench.{package} as package\n"
        "names = [m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + '.')]\n"
        "assert names\n"
        "for name in names:\n"
        "    if not name.endswith('__main__'):\n"
        "        importlib.import_module(name)\n"
        "assert sys.modules['PySide6'] is None\n"
    )


def test_session_uses_qtcore_only():
    out = run_python(
        "import sys, pkgutil, importlib, workbench.session as package\n"
        "for m in pkgutil.walk_packages(package.__path__, package.__name__ + '.'): importlib.import_module(m.name)\n"
        "print([n for n in ('PySide6.QtWidgets', 'PySide6.QtGui', 'paddle') if n in sys.modules])\n"
    )
    assert out.strip() == "[]"


def test_window_process_does_not_import_paddle():
    """Building the whole window, its panels included, leaves Paddle alone."""
    out = run_python(
        "import sys, pkgutil, importlib, workbench.ui as package\n"
        "for m in pkgutil.walk_packages(package.__path__, package.__name__ + '.'): importlib.import_module(m.name)\n"
        "print('paddle' in sys.modules)\n",
        QT_QPA_PLATFORM="offscreen",
    )
    assert out.strip() == "False"


def test_nobody_imports_the_training_program():
    """It is started as a child; only the entry point may become it."""
    for path in SOURCES:
        inside = path.relative_to(ROOT / "workbench")
        if inside.parts[0] in ("training", "__main__.py"):
            continue
        assert not re.search(r"^\s*(from|import) workbench\.training", path.read_text("utf-8"), re.M), inside


def test_nothing_unpickles_or_executes_files():
    """Weights and projects are data. `paddle.load`, pickle, eval and exec have no place here."""
    banned = re.compile(
        r"\bpaddle\.load\(|\bimport pickle\b|\bpickle\.load|\bnp\.load\(|allow_pickle=True"
        r"|(?<![\w.])eval\(|(?<![\w.])exec\("
    )
    for path in SOURCES:
        found = banned.search(path.read_text("utf-8"))
        assert not found, f"{path.relative_to(ROOT)}: {found.group(0)}"


def test_cv2_import_leaves_the_qt_variables_alone():
    out = run_python(
        "import os\n"
        "from workbench.inference.io.opencv import cv2\n"
        "print(sorted(k for k in os.environ if k.startswith('QT_') and k != 'QT_QPA_PLATFORM'))\n"
    )
    assert out.strip() == "[]"


def test_void_qt_calls_keep_references_to_none():
    """PySide6 6.12.0 on Python < 3.12 loses one reference to None a call and aborts within seconds."""
    out = run_python(
        "import sys\n"
        "from PySide6.QtCore import QObject\n"
        "o = QObject()\n"
        "before = sys.getrefcount(None)\n"
        "for _ in range(2000): o.setObjectName('x')\n"
        "print(before - sys.getrefcount(None))\n"
    )
    assert int(out) < 200


# A file past this length tells that a decision wants to move down into core.
LONGEST_FILE = 400


def test_files_stay_readable():
    long = {
        str(path.relative_to(ROOT)): count
        for path in SOURCES
        if (count := len(path.read_text("utf-8").splitlines())) > LONGEST_FILE
    }
    assert not long


def test_docstrings_name_their_subject():
    """A docstring begins with a noun phrase or an imperative verb, never with a question word."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                text = ast.get_docstring(node) or ""
                if re.match(r"(What|How|Which|Where|Whether|The same)\b", text):
                    found.append(f"{path.relative_to(ROOT)}: {text.splitlines()[0]}")
    assert not found


# The import name of each dependency whose import name differs from its own.
IMPORTED_AS = {
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "pyside6-essentials": "PySide6",
    "nvidia-ml-py": "pynvml",
    "paddlepaddle": "paddle",
    "paddlepaddle-gpu": "paddle",
    "pytest-qt": "qtbot",
    "pytest-timeout": "timeout",
    "pytest-xdist": "xdist",
    "import-linter": "importlinter",
    "pyinstaller": "PyInstaller",
    "scikit-learn": "sklearn",
}


def test_every_dependency_is_used():
    """A dependency that no file names is a dependency to drop."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    quoted = re.findall(r'^\s+"([A-Za-z0-9_.-]+)[^"]*",', text.split("[project.scripts]")[0], re.M)
    everything = (
        "\n".join(
            path.read_text("utf-8")
            for folder in ("workbench", "tests", "packaging", ".ci")
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix in ("", ".py", ".sh", ".spec")
        )
        + (ROOT / "README.md").read_text("utf-8")
        + text.split("[tool.", 1)[1]
    )
    assert len(quoted) > 15
    for name in {n.lower() for n in quoted}:
        imported = IMPORTED_AS.get(name, name.replace("-", "_"))
        assert re.search(rf"\b{re.escape(imported)}\b", everything), name
