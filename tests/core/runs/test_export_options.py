"""Options of an export: defaults, command line and checks."""

from __future__ import annotations

import argparse

import pytest

from workbench.core.problems import BadSettings
from workbench.core.runs.export_options import (
    COMMAND_LINE_FORMATS,
    LAYOUTS,
    LINE_FORMAT,
    ExportOptions,
    add_export_arguments,
    engines_of,
)


def parse(arguments: list[str]) -> ExportOptions:
    parser = argparse.ArgumentParser()
    add_export_arguments(parser)
    return ExportOptions.from_namespace(parser.parse_args(arguments))


@pytest.mark.parametrize(
    "options",
    [
        ExportOptions(),
        ExportOptions(("onnx", "int8"), "0.35", 12.5, 0.5, "zh_CN"),
        ExportOptions(("paddle",), "more", seconds=0),
        ExportOptions(("onnx", LINE_FORMAT), shape=(480, 640)),
    ],
)
def test_arguments_and_parser_are_inverse(options):
    assert parse(options.to_arguments()) == options


def test_an_export_has_the_engines_of_its_layouts():
    assert engines_of(("triton", "paddle", "onnx", "mlflow")) == ["onnx", "paddle"]
    for name in (LINE_FORMAT, *LAYOUTS):
        assert engines_of((name,)) == ["onnx"]


def test_command_line_defaults():
    assert parse([]) == ExportOptions(COMMAND_LINE_FORMATS)
    assert parse(["--formats", " onnx, ,int8"]).formats == ("onnx", "int8")


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (ExportOptions(("tflite",)), "formats"),
        (ExportOptions(()), "formats"),
        (ExportOptions(target_ms=0.0), "target"),
        (ExportOptions(language="tlh"), "language"),
    ],
)
def test_invalid_options_are_refused(options, key):
    with pytest.raises(BadSettings) as raised:
        options.check()
    assert raised.value.fields["key"] == key
    ExportOptions().check()


@pytest.mark.parametrize("text", ["512", "512x", "x512", "-5x5", "5.5x5", "axb", "512x512x3", "²x5", "9" * 30 + "x5"])
def test_shapes_that_are_none_are_refused(text, capsys):
    with pytest.raises(SystemExit) as error:
        parse(["--shape", text])
    assert error.value.code == 2 and "--shape" in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(15, 512), (512, 8193), (8192, 8192), (0, 0)])
def test_shapes_beyond_the_limits_are_refused(shape):
    with pytest.raises(BadSettings, match="16 million"):
        ExportOptions((LINE_FORMAT,), shape=shape).check()
    ExportOptions((LINE_FORMAT,), shape=(4096, 4096)).check()
