"""Exact pip commands that install missing packages for this Python."""

from __future__ import annotations

import re
import sys
from importlib import metadata

from workbench.core.runs.gpu_facts import GpuFacts, read_gpu_facts
from workbench.core.runs.paddle_builds import PaddleBuild, choose_for_machine

DISTRIBUTION = "defect-workbench"
_FALLBACK = ("paddlepaddle>=3.3,<3.4", "onnx>=1.16", "setuptools>=65")
# Required versions for a checkout that is not installed and therefore has no metadata.
_KNOWN = {"onnxruntime": "onnxruntime>=1.18,!=1.24.0", "numpy": "numpy>=2"}


def pip_command(*requirements: str, index: str = "") -> str:
    """Return a command line that can be pasted: this interpreter's pip, every requirement quoted."""
    quoted = " ".join(f'"{requirement}"' for requirement in requirements)
    extra = f" --extra-index-url {index}" if index else ""
    return f"{python_pip()} install {quoted}{extra}"


def python_pip() -> str:
    return f'"{sys.executable}" -m pip'


def paddle_command(build: PaddleBuild | None = None) -> str:
    """Return the command that installs PaddlePaddle: a GPU build from its own index, or the CPU build from PyPI."""
    requirements = _of_extra("gpu" if build else "cpu")
    if build and not requirements:
        requirements = [_FALLBACK[0].replace("paddlepaddle", "paddlepaddle-gpu"), *_FALLBACK[1:]]
    return pip_command(*(requirements or _FALLBACK), index=build.index if build else "")


def replace_paddle_command(build: PaddleBuild | None) -> str:
    """Return the command that removes all builds of PaddlePaddle, which share one folder, and installs one."""
    return replace_command(paddle_command(build))


def replace_command(install: str) -> str:
    return f"{python_pip()} uninstall -y paddlepaddle paddlepaddle-gpu && {install}"


def paddle_command_here(facts: GpuFacts | None = None) -> str:
    """Return the command that installs the build of PaddlePaddle for this machine's GPU, or the CPU build without one.

    The CPU build is also named if the driver must be updated before any GPU build works.
    """
    choice = choose_for_machine(read_gpu_facts() if facts is None else facts)
    return paddle_command(None if choice.update else choice.build)


def requirement(name: str) -> str:
    """Return this distribution's requirement of a package, such as "numpy>=2", or the bare name if unknown."""
    lines = [line for line in _requirements() if _name(line) == name.casefold() and "extra ==" not in line]
    return lines[0].partition(";")[0].strip() if lines else _KNOWN.get(name, name)


def installed_version(distribution: str) -> str | None:
    """Return the installed version of a distribution, None if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


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
