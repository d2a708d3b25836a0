"""Options of an export: defaults, command line and checks."""

from __future__ import annotations

import argparse

import pytest

from workbench.core.problems import BadSettings
from workbench.core.runs.export_options import COMMAND_LINE_FORMATS, ExportOptions, add_export_arguments


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
    ],
)
def test_arguments_and_parser_are_inverse(options):
    assert parse(options.to_arguments()) == options


def test_command_line_defaults():
    assert parse([]) == ExportOptions(COMMAND_LINE_FORMATS)
    assert parse(["--formats", " onnx, ,int8"]).formats == ("onnx", "int8")


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (ExportOptions(("tflite",)), "formats"),
        (ExportOptions(()), "formats"),
        (ExportOptions(target_ms=0.0), "target"),
        (ExportOptions(language="fr"), "language"),
    ],
)
def test_invalid_options_are_refused(options, key):
    with pytest.raises(BadSettings) as raised:
        options.check()
    assert raised.value.fields["key"] == key
    ExportOptions().check()
