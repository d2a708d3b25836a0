"""Parts of the installed PaddlePaddle that the packed application needs: its distribution, and NVIDIA's libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata

_BUILDS = ("paddlepaddle-gpu", "paddlepaddle")


def paddle_parts(
    names: Iterable[str] | None = None, packages: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, list[str]]:
    """Return the name of the distribution, which differs for the GPU build, and the packages of CUDA libraries.

    names: installed distributions. packages: import names to distributions. Both are those of this Python by default.
    Raise LookupError without PaddlePaddle, or with both builds, which overwrite each other.
    """
    if names is None:
        names = [found.metadata["Name"] for found in metadata.distributions()]
    installed = {name.lower() for name in names if name}
    found = [name for name in _BUILDS if name in installed]
    if len(found) != 1:
        raise LookupError(f"exactly one of {' and '.join(_BUILDS)} must be installed, found: {found or 'none'}")
    if found[0] != "paddlepaddle-gpu":
        return found[0], []
    packages = metadata.packages_distributions() if packages is None else packages
    return found[0], sorted(name for name in packages if name == "nvidia" or name.startswith("nvidia."))
