"""Names from files are harmless in a terminal and in a spreadsheet."""

from __future__ import annotations

import csv
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.inference.batch.exported_runs import run
from workbench.inference.batch.export_package import write_checks, write_reference_results
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.inference.text_safety import csv_cell, csv_rows, csv_table, terminal_text

from .conftest import spotted

HARMFUL = "\x1b[2J\x1b]0;owned\x07a\rb\nc\x9b31m\u202egnp"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_control_characters_become_escapes_and_other_text_stays():
    assert terminal_text("\x1b[31m\n\x9b\u202e") == r"\x1b[31m\n\x9b\u202e"
    assert terminal_text("a\n\tb\x1b", block=True) == "a\n\tb\\x1b"
    for text in ("片 1 [a].png", "Größe 4 µm²", "“unsure” 😀", "C:\\new\\table"):
        assert terminal_text(text) == text


@pytest.mark.parametrize("text", ["=1+1", "+cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1"])
def test_text_that_resembles_a_formula_gets_an_apostrophe(text):
    assert csv_cell(text) == "'" + text


@pytest.mark.parametrize("value", [-1.5, -3, "-1.25", "+1e-05", "scratch", "a=b", "", None, "1-2"])
def test_numbers_and_other_text_stay_as_they_are(value):
    assert csv_cell(value) == value


@pytest.fixture
def harmful_export(gray_export):
    """The export with a class name that is a formula and holds control characters."""
    settings = load_settings(gray_export / "model.json")
    classes = (replace(settings.classes[0], name="=cmd|' /C calc'!A0\x1b[2J"), settings.classes[1])
    save_settings(replace(settings, classes=classes), gray_export / "model.json")
    images = [(f"{number}", gray_export / "golden" / f"{number}.png") for number in (1, 2)]
    write_reference_results(gray_export, Predictor.open(gray_export), images)
    write_checks(gray_export)
    return gray_export


@pytest.mark.skipif(sys.platform == "win32", reason="Windows forbids these file names")
def test_predict_shows_no_raw_control_character_and_json_keeps_the_names(harmful_export, tmp_path):
    folder = tmp_path / "in"
    write_png(folder / "good.png", spotted(np.random.default_rng(3)))
    (folder / "good.png").rename(folder / f"{HARMFUL}.png")
    (folder / f"{HARMFUL} broken.png").write_bytes(b"\x89PNG no picture")
    for extra in ([], ["--json"], ["--watch", "--unknown\x1b[2J"]):
        done = run(harmful_export, folder, "--out", tmp_path / "out", *extra)
        assert CONTROL.findall(done.stdout + done.stderr) == []
        assert r"\x1b[2J" in done.stderr
    report = json.loads(run(harmful_export, folder, "--out", tmp_path / "out", "--json").stdout)
    assert [entry["path"] for entry in report["pictures"]] == [str(folder / f"{HARMFUL}.png")]
    assert [entry["path"] for entry in report["skipped"]] == [str(folder / f"{HARMFUL} broken.png")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows forbids these file names")
def test_no_cell_of_a_table_is_a_formula(harmful_export, tmp_path):
    for name in ("=HYPERLINK(1).png", "@a.png", "-1+1.png"):
        write_png(tmp_path / "in" / name, spotted(np.random.default_rng(3)))
    done = run(
        harmful_export,
        "./=HYPERLINK(1).png",
        "@a.png",
        "-1+1.png".join(["./", ""]),
        "--out",
        tmp_path / "out",
        cwd=tmp_path / "in",
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "regions.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [cell for row in rows for cell in row.values()]
    assert any(cell.startswith("'=cmd") for cell in cells) and any(cell.startswith("'@a") for cell in cells)
    for cell in cells:
        assert not cell.startswith(("=", "+", "@", "\t", "\r", "-")), cell


def test_tables_start_with_a_byte_order_mark_and_hold_no_formulas():
    assert csv_table([("name", "n"), ("=cmd()", -1)]) == b"\xef\xbb\xbfname,n\r\n'=cmd(),-1\r\n"
    assert csv_rows([("\udcff.png",)]) == b"\xff.png\r\n"


def test_halves_of_characters_are_replaced_and_bytes_of_names_kept():
    assert csv_rows([["a\ud800b", "c\udcffd", "\udfff"]]) == "a\ufffdb,c".encode() + b"\xff" + "d,\ufffd\r\n".encode()
