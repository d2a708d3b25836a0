"""Exports with choices: what the dialog offers and says, and what the report of an export shows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QLabel

from workbench.inference.engines.registry import KINDS, cannot_make
from workbench.session.training.export_job import ONE_CLICK, ExportChoices
from workbench.ui.text import export_texts
from workbench.ui.training.export_options_dialog import ExportOptionsDialog, ExportReport

RESULT = {
    "path": "/x/导出 1",
    "formats": ["onnx", "int8"],
    "latency": {"onnx": 12.34, "int8": None},
    "note": "n",
    "parity": {
        "onnx": {"max_abs": 2e-6, "mask_agreement": 1.0, "passed": True},
        "int8": {
            "max_abs": 0.2,
            "mask_agreement": 0.9995,
            "passed": True,
            "reduced": "int8",
            "held_out": {
                "before": {"pictures": 7, "dice": 0.881, "found": 12, "defects": 13, "false_per_picture": 0.5},
                "after": {"pictures": 7, "dice": 0.874, "found": 11, "defects": 13, "false_per_picture": 0.25},
            },
        },
        "lite": {"max_abs": None, "mask_agreement": None, "passed": False, "why": "paddlelite is missing"},
    },
}


def texts(widget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel))


def test_choices_come_back_as_they_were_asked_for(qtbot):
    dialog = ExportOptionsDialog("unet", ONE_CLICK)
    qtbot.addWidget(dialog)
    assert set(dialog.formats) == set(KINDS) and dialog.choices() == ONE_CLICK
    assert {name for name, box in dialog.formats.items() if not box.isEnabled()} == {
        name for name in KINDS if cannot_make(name)
    }
    dialog.formats["legacy"].setChecked(True)
    dialog.point.setCurrentIndex(dialog.point.findData("own"))
    dialog.probability.setValue(0.35)
    dialog.target.setValue(20)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.export.click()
    assert chosen.args == [ExportChoices(("onnx", "legacy"), "0.35", 20.0)]
    assert chosen.args[0].options() == ["--point", "0.35", "--target", "20", "--language", "en"]


def test_the_card_is_in_the_language_of_the_window_if_nobody_says_another(qtbot):
    before = QLocale()
    QLocale.setDefault(QLocale("zh_CN"))
    try:
        dialog = ExportOptionsDialog("unet", ONE_CLICK)
        qtbot.addWidget(dialog)
        assert dialog.language.currentText() == "简体中文" and dialog.choices() == ONE_CLICK
        assert dialog.choices().options()[-2:] == ["--language", "zh_CN"]
        dialog.language.setCurrentIndex(dialog.language.findData("en"))
        assert dialog.choices().options()[-2:] == ["--language", "en"]
    finally:
        QLocale.setDefault(before)


@pytest.mark.parametrize(
    "choices", [ExportChoices(("onnx",), "0.35", 20.0), ExportChoices(("onnx", "paddle"), "fewer", None, "zh_CN")]
)
def test_the_dialog_remembers_what_was_chosen_before(qtbot, choices):
    dialog = ExportOptionsDialog("unet", choices)
    qtbot.addWidget(dialog)
    assert dialog.choices() == choices


def test_nothing_chosen_is_not_exported_and_verdicts_have_no_threshold(qtbot):
    dialog = ExportOptionsDialog("resnet", ExportChoices(("onnx",), "0.35"))
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.point.isVisible() and dialog.choices().point == "balanced"
    dialog.formats["onnx"].setChecked(False)
    assert not dialog.export.isEnabled() and "at least one" in dialog.why.text()


def test_the_report_tells_every_format_and_what_fewer_bits_cost(qtbot):
    report = ExportReport(RESULT, lambda path: None)
    qtbot.addWidget(report)
    said = texts(report)
    for words in (
        "All results equal",
        "12.3 ms",
        "99.950% equal",
        "Dice 0.881 → 0.874",
        "found 12 → 11 of 13",
        "False alarms per image 0.50 → 0.25",
        "Left out: paddlelite is missing",
        "导出 1",
    ):
        assert words in said, words


def test_speed_is_of_the_first_format_and_left_out_where_it_is_not_known():
    assert "12.3 ms" in export_texts.speed_text(RESULT)
    assert export_texts.speed_text({"formats": ["int8"], "latency": {"int8": None}}) == ""
    assert export_texts.speed_text({"formats": ["onnx"]}) == ""
