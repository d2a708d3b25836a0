"""Exact pip commands that install missing packages for this Python."""

from __future__ import annotations

import re
import sys
from importlib import metadata

DISTRIBUTION = "defect-workbench"
# Index of Paddle's builds for NVIDIA GPUs; PyPI has none of this version.
GPU_INDEX = "https://www.paddlepaddle.org.cn/packages/stable/cu126/"
_FALLBACK = ("paddlepaddle>=3.3,<3.4", "onnx>=1.16", "setuptools>=65")
# Required versions for a checkout that is not installed and therefore has no metadata.
_KNOWN = {"onnxruntime": "onnxruntime>=1.18,!=1.24.0", "numpy": "numpy>=2"}


def pip_command(*requirements: str, index: str = "") -> str:
    """Return a command line that can be pasted: this interpreter's pip, every requirement quoted."""
    quoted = " ".join(f'"{requirement}"' for requirement in requirements)
    extra = f" --extra-index-url {index}" if index else ""
    return f'"{sys.executable}" -m pip install {quoted}{extra}'


def paddle_command(*, gpu: bool = False) -> str:
    requirements = _of_extra("gpu" if gpu else "cpu")
    if gpu and not requirements:
        requirements = [_FALLBACK[0].replace("paddlepaddle", "paddlepaddle-gpu"), *_FALLBACK[1:]]
    return pip_command(*(requirements or _FALLBACK), index=GPU_INDEX if gpu else "")


def requirement(name: str) -> str:
    """Return this distribution's requirement of a package, such as "numpy>=2", or the bare name if unknown."""
    lines = [line for line in _requirements() if _name(line) == name.casefold() and "extra ==" not in line]
    return lines[0].partition(";")[0].strip() if lines else _KNOWN.get(name, name)


def _of_extra(extra: str) -> list[str]:
    pattern = re.compile(rf"""extra\s*==\s*['"]{extra}['"]""")
    return [line.partition(";")[0].strip() for line in _requirements() if pattern.search(line)]


def _requirements() -> list[str]:
    try:
        return metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []


def _name(line: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0].casefold()
