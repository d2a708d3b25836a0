"""Copy of this package for an export: its sources, predict.py and requirements.txt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..engines.registry import KINDS
from ..io.atomic_write import write_atomic

_SOURCE_FOLDER = Path(__file__).resolve().parents[1]
_PACKAGE_NAME = "inference"

# Source of predict.py. It verifies the code before importing it, so it is short and uses only the standard library.
_SCRIPT = '''"""Run this model: python predict.py IMAGES... --out results (or: from predict import Predictor)."""

import sys


def open_log():
    """Return the log of a program without a console: predict.log in the folder of results, or a temporary file."""
    import argparse
    import tempfile
    import time
    from pathlib import Path

    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--out", type=Path, default=Path("results"))
    how = {"encoding": "utf-8", "errors": "backslashreplace", "buffering": 1}
    try:
        folder = parser.parse_known_args()[0].out
        folder.mkdir(parents=True, exist_ok=True)
        log = open(folder / "predict.log", "a", **how)
    except (OSError, SystemExit):
        log = tempfile.NamedTemporaryFile("a", prefix="predict-", suffix=".log", delete=False, **how)
    print(time.strftime("%Y-%m-%d %H:%M:%S"), ascii(sys.argv[1:]), file=log)
    return log


def replace_missing_streams():
    """Open the log in place of a missing stdout or stderr, as in pythonw, services and scheduled tasks."""
    import os

    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the next file would get this number, and with it what libraries write to a console
            os.open(os.devnull, os.O_RDWR)
    missing = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    log = open_log() if missing else None
    for name in missing:
        setattr(sys, name, log)


def refuse(why):
    """End the program with one sentence on stderr, and with --json as an object on stdout too."""
    why = why if why.isprintable() else ascii(why)[1:-1]
    if "--json" in sys.argv:
        import json

        print(json.dumps({"error": why}), flush=True)
    sys.exit(why)


if __name__ == "__main__":
    replace_missing_streams()
    no_memory = "There is not enough memory. Close other programs, or use smaller images."
    sys.excepthook = lambda kind, error, trace: refuse(
        no_memory if issubclass(kind, MemoryError) else f"Unexpected: {kind.__name__}: {error}"
    )

import hashlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def damage():
    """Return a sentence about the first file of code that is not as it was exported, or "" if there is none."""
    try:
        lines = (HERE / "SHA256SUMS").read_bytes().decode("utf-8", "replace").split("\\n")
    except OSError:
        return "This export is damaged: SHA256SUMS is missing or cannot be read."
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines) if name.endswith(".py")}
    if not {"predict.py", "inference/batch/runner.py"} <= set(sums):
        return "This export is damaged: SHA256SUMS does not list the code."
    for name in sorted(sums):
        try:
            found = hashlib.sha256((HERE / name).read_bytes()).hexdigest()
        except (OSError, ValueError):
            return f"This export is damaged: {name} is missing or cannot be read."
        if found != sums[name]:
            return f"This export is damaged: {name} has been changed since the export was written."
    return ""


def main():
    if sys.version_info < (3, 10):
        refuse("This needs Python 3.10 or newer.")
    why = "" if "--skip-self-test" in sys.argv else damage()
    if why:
        refuse(why)
    try:
        from inference.batch import runner
        from inference.io.opencv import import_opencv

        import_opencv()
    except ImportError as error:
        needed = HERE / "requirements.txt"
        refuse(f'{error}. Install what is needed: "{sys.executable}" -m pip install -r "{needed}"')
    return runner.main(sys.argv[1:], HERE)


def Predictor(folder=HERE, **options):
    """The model in `folder`. Predictor().predict(array), gray or RGB, gives .mask, .regions, .verdict."""
    why = damage()
    if why:
        raise ImportError(why)
    from inference import predictor

    return predictor.Predictor.open(folder, **options)


if __name__ == "__main__":
    sys.exit(main())
'''

_DEFAULT_ENGINE = "onnx"  # small, fast on all platforms, and used by the application
_COMMON_REQUIREMENTS = ("numpy>=2", "opencv-python-headless>=4.10")
_OPTIONAL_REQUIREMENTS = """\
# TIFF kinds that OpenCV cannot decode:
# tifffile>=2024.1.30
"""


def write_package(folder: Path | str, engines: Sequence[str] = ("onnx",)) -> None:
    """Write the code of an export into `folder`: inference/, predict.py, requirements.txt.

    engines: engines of the export, fastest first. requirements.txt is for the engine that runs everywhere; others with
        different requirements get a requirements-NAME.txt.

    Raises OSError, also if the sources are missing because the application was packaged without them.
    """
    folder = Path(folder)
    sources = sorted(_SOURCE_FOLDER.rglob("*.py"))
    if _SOURCE_FOLDER / "batch" / "runner.py" not in sources:
        raise FileNotFoundError(f"the sources of the export's runner are missing from {_SOURCE_FOLDER}")
    for source in sources:
        write_atomic(folder / _PACKAGE_NAME / source.relative_to(_SOURCE_FOLDER), source.read_bytes())
    write_atomic(folder / "predict.py", _SCRIPT.encode())
    for name, file in requirement_files(engines).items():
        write_atomic(folder / file, _requirements(name, engines).encode())


def requirement_files(engines: Sequence[str]) -> dict[str, str]:
    """Return engine name to requirements file, requirements.txt first; engines covered by another's file are omitted.

    engines: engines of an export, fastest first.
    """
    if not engines:
        return {}
    main = _DEFAULT_ENGINE if _DEFAULT_ENGINE in engines else engines[0]
    files = {main: "requirements.txt"}
    for name in engines:
        if not _file_for(name, files):
            files[name] = f"requirements-{name}.txt"
    return files


def _file_for(name: str, files: Mapping[str, str]) -> str:
    """Return the requirements file that covers an engine, possibly another engine's; "" if there is none."""
    return next(
        (file for other, file in files.items() if set(KINDS[name].requirements) <= set(KINDS[other].requirements)), ""
    )


def _requirements(name: str, engines: Sequence[str]) -> str:
    """Return the text of an engine's requirements file, with references to those of the other engines."""
    files = requirement_files(engines)
    lines = "\n".join([*_COMMON_REQUIREMENTS, *KINDS[name].requirements])
    others = [file for other, file in files.items() if other != name]
    comments = f"# For other engines: {', '.join(others)}\n" if others else ""
    fastest_file = _file_for(engines[0], files)
    if fastest_file != files[name]:
        comments += f"# The quickest where this was made: {engines[0]}, {fastest_file}\n"
    return f"{lines}\n{_OPTIONAL_REQUIREMENTS}{comments}"
