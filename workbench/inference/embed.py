"""This package as part of an export: its sources, predict.py and requirements.txt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .engines.kinds import KINDS
from .writing import write_atomic

_HERE = Path(__file__).resolve().parent
_NAME = "inference"

_PREDICT = '''"""Run this model: python predict.py PICTURES... --out results (or: from predict import Predictor)."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def Predictor(folder=HERE, **options):
    """The model in `folder`. Predictor().predict(array), grey or RGB, gives .mask, .regions, .verdict."""
    from inference import predictor

    return predictor.Predictor.open(folder, **options)


if __name__ == "__main__":
    if sys.version_info < (3, 10):
        sys.exit("This needs Python 3.10 or newer.")
    try:
        from inference.runner import main
    except ImportError as error:
        needed = HERE / "requirements.txt"
        sys.exit(f'{error}. Install what is needed: "{sys.executable}" -m pip install -r "{needed}"')
    sys.exit(main(sys.argv[1:], HERE))
'''

_PORTABLE = "onnx"  # small, quick everywhere, and what the window predicts with
_NEEDED = ("numpy>=2", "opencv-python-headless>=4.10")
_ALSO = """\
# TIFF kinds that OpenCV cannot decode:
# tifffile>=2024.1.30
"""


def embed(folder: Path | str, engines: Sequence[str] = ("onnx",)) -> None:
    """Write what an export runs with into `folder`: inference/, predict.py, requirements.txt.

    engines: of the export, the quickest first. requirements.txt is for the one that runs everywhere; each of the others
    that needs something else gets a requirements-NAME.txt.
    Raises OSError, also where the sources are not at hand because the program was packed without them.
    """
    folder = Path(folder)
    sources = sorted(_HERE.rglob("*.py"))
    if _HERE / "runner.py" not in sources:
        raise FileNotFoundError(f"the sources of the export's runner are missing from {_HERE}")
    for source in sources:
        write_atomic(folder / _NAME / source.relative_to(_HERE), source.read_bytes())
    write_atomic(folder / "predict.py", _PREDICT.encode())
    for name, file in requirement_files(engines).items():
        write_atomic(folder / file, _requirements(name, engines).encode())


def requirement_files(engines: Sequence[str]) -> dict[str, str]:
    """Engine to the list of its packages, that of requirements.txt first; engines that it serves too are left out.

    engines: of an export, the quickest first.
    """
    if not engines:
        return {}
    main = _PORTABLE if _PORTABLE in engines else engines[0]
    files = {main: "requirements.txt"}
    for name in engines:
        if not _file_for(name, files):
            files[name] = f"requirements-{name}.txt"
    return files


def _file_for(name: str, files: Mapping[str, str]) -> str:
    """The list that serves an engine, which may be another's; "" if there is none."""
    return next((file for other, file in files.items() if set(KINDS[name].needs) <= set(KINDS[other].needs)), "")


def _requirements(name: str, engines: Sequence[str]) -> str:
    """NumPy, OpenCV and one engine, and where the lists for the other engines are."""
    files = requirement_files(engines)
    lines = "\n".join([*_NEEDED, *KINDS[name].needs])
    others = [file for other, file in files.items() if other != name]
    said = f"# For other engines: {', '.join(others)}\n" if others else ""
    quickest = _file_for(engines[0], files)
    if quickest != files[name]:
        said += f"# The quickest where this was made: {engines[0]}, {quickest}\n"
    return f"{lines}\n{_ALSO}{said}"
