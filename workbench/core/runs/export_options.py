"""Options of an export for the window, the command line and the training program: defaults, arguments, checks."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from workbench.core.messages import Message, join
from workbench.core.plugins import plugins
from workbench.core.problems import BadSettings
from workbench.core.resources import LANGUAGES
from workbench.core.text_patterns import split_names
from workbench.inference.engines.registry import KINDS

# Self-contained ONNX model of one image size, for programs other than this one. It comes beside an engine.
LINE_FORMAT = "onnx-line"


@dataclass(frozen=True)
class Layout:
    """Files in the arrangement that another program reads. It comes beside an engine.

    code: module of `training/export`, or of a plug-in, and its function that writes the files. file: folder or main
    file in the export.
    program: its reader. engine: engine whose network it contains; "" if it has a network of its own. compares: its
    predictions compare images with the training images.
    """

    code: str
    file: str
    program: str
    engine: str = ""
    compares: bool = False


LAYOUTS: dict[str, Layout] = {
    "triton": Layout("layouts:write_repository", "triton/", "NVIDIA Triton Inference Server", "onnx"),
    "mlflow": Layout("layouts:write_mlflow", "MLmodel", "MLflow", "onnx", compares=True),
    "paddlex": Layout("layouts:write_deployment", "paddlex/", "PaddleSeg and PaddleX"),
}
FORMATS = [*KINDS, LINE_FORMAT, *LAYOUTS]
# Smallest and largest side of the images of a line model, in pixels.
LINE_SIDES = (16, 8192)
_LINE_PIXELS = 4096 * 4096  # all tiles of an image are in memory at once
# Default of the window: the format that the exported program and the window itself run.
WINDOW_FORMATS = ("onnx",)
# Default of the command line.
COMMAND_LINE_FORMATS = ("onnx", "paddle")
# Default time to measure each engine.
BENCHMARK_SECONDS = 8.0


@cache
def load_layouts() -> None:
    """Add the layouts of plug-ins, once. The start of the window does not need them."""
    found = plugins("workbench.layouts", lambda plugin: isinstance(plugin, Layout), FORMATS)
    LAYOUTS.update(found)
    FORMATS.extend(found)


def engines_of(formats: Iterable[str]) -> list[str]:
    """Return the engines of an export, each once: those among its formats, and those that its layouts contain.

    "onnx" if there is none: the exported program needs an engine that predicts images of any size.
    """
    names = [LAYOUTS[name].engine if name in LAYOUTS else name for name in formats if name != LINE_FORMAT]
    return list(dict.fromkeys(name for name in names if name)) or ["onnx"]


def comparison_limits(formats: Iterable[str]) -> list[str]:
    """Return which formats do not compare images with the training images, or not by themselves, as sentences."""
    formats, limits = list(formats), []
    if LINE_FORMAT in formats:
        limits.append(Message("export.line_compares", name=LINE_FORMAT))
    silent = [name for name in formats if name in LAYOUTS and not LAYOUTS[name].compares]
    if silent:
        limits.append(Message("export.not_compared", names=join("list.comma", silent)))
    return limits


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export.

    formats: names of FORMATS. shape: height and width of the images of the line model, or None for the usual size of
    the project's images. point: operating point, "balanced" as validated, "more" for fewer missed defects, "fewer" for
    fewer false alarms, or a probability as text. target_ms: maximum time for an image of usual size, or None. seconds:
    time to measure each engine; 0 for no measurement. language: of the model card and of README.md, a key of LANGUAGES;
    "" for the language of the window, or English without a window. require_ready: make no export of a model that marks
    more regions than anyone can inspect.
    """

    formats: tuple[str, ...] = WINDOW_FORMATS
    point: str = "balanced"
    target_ms: float | None = None
    seconds: float = BENCHMARK_SECONDS
    language: str = ""
    shape: tuple[int, int] | None = None
    require_ready: bool = False

    def check(self) -> None:
        """Raise BadSettings if an option is invalid."""
        load_layouts()
        for name in self.formats:
            if name not in FORMATS:
                why = Message("export.unknown_format", names=", ".join(FORMATS))
                raise BadSettings(key="formats", value=name, why=why)
        if not self.formats:
            raise BadSettings(
                key="formats", value="nothing", why=Message("export.nothing_chosen", names=", ".join(FORMATS))
            )
        if self.shape is not None:
            check_line_shape(self.shape)
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
        if self.require_ready:
            arguments.append("--require-ready")
        if self.language:
            arguments += ["--language", self.language]
        if self.shape is not None:
            arguments += ["--shape", shape_text(self.shape)]
        return arguments

    @classmethod
    def from_namespace(cls, namespace: argparse.Namespace) -> ExportOptions:
        """Return the options parsed by a parser with `add_export_arguments`."""
        return cls(
            tuple(namespace.formats),
            namespace.point,
            namespace.target,
            namespace.seconds,
            namespace.language or "",
            namespace.shape,
            namespace.require_ready,
        )


def check_line_shape(shape: tuple[int, int]) -> None:
    """Raise BadSettings if a line model cannot have images of this height and width."""
    if not shape_fits(shape):
        least, most = LINE_SIDES
        why = Message("export.shape", n=least, m=most, k=_LINE_PIXELS // 1_000_000)
        raise BadSettings(key="shape", value=shape_text(shape), why=why)


def shape_fits(shape: tuple[int, int]) -> bool:
    """Return True if a line model can have images of this height and width."""
    least, most = LINE_SIDES
    return all(least <= side <= most for side in shape) and shape[0] * shape[1] <= _LINE_PIXELS


def shape_text(shape: tuple[int, int]) -> str:
    """Return a shape as it is written on the command line, "HEIGHTxWIDTH"."""
    return f"{shape[0]}x{shape[1]}"


def _parse_shape(text: str) -> tuple[int, int]:
    height, _, width = text.lower().partition("x")
    if not (height.isascii() and height.isdigit() and width.isascii() and width.isdigit() and len(text) < 20):
        raise argparse.ArgumentTypeError(f"{text!r} is not HEIGHTxWIDTH, such as 512x512")
    return int(height), int(width)


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of an export to a parser, with the defaults of the command line."""
    load_layouts()
    parser.add_argument(
        "--formats",
        type=split_names,
        default=list(COMMAND_LINE_FORMATS),
        metavar=",".join(COMMAND_LINE_FORMATS),
        help=f"formats, separated by commas: {', '.join(FORMATS)} (default: {','.join(COMMAND_LINE_FORMATS)}); "
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
    parser.add_argument(
        "--shape",
        type=_parse_shape,
        metavar="HxW",
        help=f"image size of {LINE_FORMAT}, the self-contained model for other programs "
        "(default: the usual size of the project's images)",
    )
    parser.add_argument(
        "--require-ready",
        action="store_true",
        help="make no export of a model that marks more regions than anyone can inspect (default: only a warning)",
    )
    languages = " or ".join(LANGUAGES)
    parser.add_argument("--language", choices=list(LANGUAGES), help=f"language of the model card: {languages} (en)")
