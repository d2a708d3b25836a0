"""This package as part of an export: its sources, predict.py and requirements.txt."""

from __future__ import annotations

from pathlib import Path

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

_REQUIREMENTS = """\
numpy>=2
opencv-python-headless>=4.10
onnxruntime>=1.18,!=1.24.0
# TIFF kinds that OpenCV cannot decode:
# tifffile>=2024.1.30
# For --engine paddle, instead of onnxruntime:
# paddlepaddle>=3.3,<3.4
"""


def embed(folder: Path | str) -> None:
    """Write what an export runs with into `folder`: inference/, predict.py, requirements.txt.

    Raises OSError, also where the sources are not at hand because the program was packed without them.
    """
    folder = Path(folder)
    sources = sorted(_HERE.rglob("*.py"))
    if _HERE / "runner.py" not in sources:
        raise FileNotFoundError(f"the sources of the export's runner are missing from {_HERE}")
    for source in sources:
        write_atomic(folder / _NAME / source.relative_to(_HERE), source.read_bytes())
    write_atomic(folder / "predict.py", _PREDICT.encode())
    write_atomic(folder / "requirements.txt", _REQUIREMENTS.encode())
