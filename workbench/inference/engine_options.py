"""Performance settings of an engine that do not change results."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Speed and memory settings of an engine; settings that an engine does not support are ignored.

    threads: 0 for all, so that the best value of one machine also suits another with more cores.
    optimise: "all", or "extended", which disables ONNX Runtime's data layout optimizations.
    arena: keep memory for the next image.
    spin: idle threads spin, which is fast on an idle machine and slow on a busy one.
    """

    threads: int = 0
    optimise: str = "all"
    arena: bool = True
    spin: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.threads, bool) or not isinstance(self.threads, int) or not 0 <= self.threads <= 4096:
            raise ValueError(f"threads must be a whole number from 0 to 4096, not {self.threads!r}")
        if self.optimise not in ("all", "extended"):
            raise ValueError(f'optimise must be "all" or "extended", not {self.optimise!r}')
        for name in ("arena", "spin"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, not {getattr(self, name)!r}")

    @classmethod
    def from_json(cls, content: Any) -> EngineOptions:
        """Return settings from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        if not isinstance(content, dict):
            raise ValueError(f"it must hold names and values, not {content!r}")
        unknown = sorted(set(content) - {entry.name for entry in fields(cls)})
        if unknown:
            raise ValueError(f"it has entries that are not known: {', '.join(map(str, unknown))}")
        return cls(**content)
