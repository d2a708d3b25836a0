"""Result of one check of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """Result of one check. detail: the finding. fix: a command or advice; "" if none is needed."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
