"""Options of an export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.messages import Message
from workbench.core.problems import BadSettings
from workbench.core.resources import LANGUAGES
from workbench.inference.engines.registry import KINDS
from workbench.training.export.latency import SECONDS


@dataclass(frozen=True)
class ExportOptions:
    """Export options. formats: names of engines.

    point: operating point, see `held_out.move_thresholds`. target_ms: for the usual image, or None.
    seconds: measuring time per engine; 0 for no measurement. language: of the card and of README.md.
    """

    formats: Sequence[str] = ("onnx",)
    point: str = "balanced"
    target_ms: float | None = None
    seconds: float = SECONDS
    language: str = "en"

    def check(self) -> None:
        """Raise BadRecipe if an option is invalid."""
        for name in self.formats:
            if name not in KINDS:
                raise BadSettings(
                    key="formats", value=name, why=Message("export.unknown_format", names=", ".join(KINDS))
                )
        if not self.formats:
            raise BadSettings(
                key="formats", value="nothing", why=Message("export.nothing_chosen", names=", ".join(KINDS))
            )
        if self.target_ms is not None and not self.target_ms > 0:
            raise BadSettings(key="target", value=self.target_ms, why=Message("export.target"))
        if self.language not in LANGUAGES:
            raise BadSettings(
                key="language", value=self.language, why=Message("export.language", names=" or ".join(LANGUAGES))
            )
