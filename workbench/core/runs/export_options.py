"""Options of an export for the window, the command line and the training program: defaults, arguments, checks."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from workbench.core.messages import Message
from workbench.core.names import split_names
from workbench.core.problems import BadSettings
from workbench.core.resources import LANGUAGES
from workbench.inference.engines.registry import KINDS

WINDOW_FORMATS = ("onnx",)
"""Default of the window: the format that the exported program and the window itself run."""
COMMAND_LINE_FORMATS = ("onnx", "paddle")
"""Default of the command line."""
BENCHMARK_SECONDS = 8.0
"""Default time to measure each engine."""


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export.

    formats: names of engines, see inference.engines.registry. point: operating point: "balanced" as validated, "more",
    "fewer", or a probability as text. target_ms: maximum time for an image of usual size, or None. seconds: time to
    measure each engine; 0 for no measurement. language: of the model card and of README.md, a key of LANGUAGES; "" for
    the language of the window, or English without a window.
    """

    formats: tuple[str, ...] = WINDOW_FORMATS
    point: str = "balanced"
    target_ms: float | None = None
    seconds: float = BENCHMARK_SECONDS
    language: str = ""

    def check(self) -> None:
        """Raise BadSettings if an option is invalid."""
        for name in self.formats:
            if name not in KINDS:
                why = Message("export.unknown_format", names=", ".join(KINDS))
                raise BadSettings(key="formats", value=name, why=why)
        if not self.formats:
            raise BadSettings(
                key="formats", value="nothing", why=Message("export.nothing_chosen", names=", ".join(KINDS))
            )
        if self.target_ms is not None and not self.target_ms > 0:
            raise BadSettings(key="target", value=self.target_ms, why=Message("export.target"))
        if self.language not in ("", *LANGUAGES):
            raise BadSettings(
                key="language", value=self.language, why=Message("export.language", names=" or ".join(LANGUAGES))
            )

    def to_arguments(self) -> list[str]:
        """Return the command line of these options, the inverse of `from_namespace`."""
        arguments = ["--formats", ",".join(self.formats), "--point", self.point, "--seconds", f"{self.seconds:g}"]
        if self.target_ms is not None:
            arguments += ["--target", f"{self.target_ms:g}"]
        if self.language:
            arguments += ["--language", self.language]
        return arguments

    @classmethod
    def from_namespace(cls, namespace: argparse.Namespace) -> ExportOptions:
        """Return the options parsed by a parser with `add_export_arguments`."""
        return cls(
            tuple(namespace.formats), namespace.point, namespace.target, namespace.seconds, namespace.language or ""
        )


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of an export to a parser, with the defaults of the command line."""
    parser.add_argument(
        "--formats",
        type=split_names,
        default=list(COMMAND_LINE_FORMATS),
        metavar=",".join(COMMAND_LINE_FORMATS),
        help=f"formats, separated by commas: {', '.join(KINDS)} (default: {','.join(COMMAND_LINE_FORMATS)}); "
        "int8 and bf16 are reduced precision: close to the run, not equal to it, and the difference is reported",
    )
    parser.add_argument(
        "--point",
        default="balanced",
        metavar="balanced|more|fewer|P",
        help=(
            "operating point: balanced = the run's current one, more = fewer missed defects, fewer = fewer "
            'false alarms, or a probability such as 0.35 (verdicts below it become "unsure")'
        ),
    )
    parser.add_argument("--target", type=float, metavar="MS", help="maximum time per image in ms")
    parser.add_argument(
        "--seconds",
        type=float,
        default=BENCHMARK_SECONDS,
        metavar="S",
        help=f"time to benchmark each engine in seconds (default: {BENCHMARK_SECONDS:g}; 0 = skip)",
    )
    languages = " or ".join(LANGUAGES)
    parser.add_argument("--language", choices=list(LANGUAGES), help=f"language of the model card: {languages} (en)")
