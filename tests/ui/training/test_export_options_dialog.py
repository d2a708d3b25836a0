"""Export options dialog and export report."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from workbench.core.messages import Message
from workbench.core.runs.events import Failed, Finished, encode
from workbench.core.runs.export_options import FORMATS, LINE_FORMAT, ExportOptions
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import RunLine
from workbench.inference.engines import registry
from workbench.inference.engines.registry import KINDS, cannot_make
from workbench.session.training.trainer_thread import DEFAULT_OPTIONS
from workbench.ui.text import settings_texts
from workbench.ui.training.model_dialogs import ExportOptionsDialog, ExportReport
from workbench.ui.widgets.text_labels import ContentScrollArea, available_area

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


def test_dialog_returns_choices(qtbot):
    dialog = ExportOptionsDialog("unet", DEFAULT_OPTIONS)
    qtbot.addWidget(dialog)
    assert set(dialog.formats) == set(FORMATS) and dialog.options() == DEFAULT_OPTIONS
    assert {name for name, box in dialog.formats.items() if not box.isEnabled()} == {
        name for name in KINDS if cannot_make(name)
    }
    dialog.formats["legacy"].setChecked(True)
    assert dialog.not_compared.isHidden()
    dialog.formats["triton"].setChecked(True)
    assert not dialog.not_compared.isHidden()
    assert dialog.not_compared.text().startswith("Programs that run triton compare no image with the training images")
    dialog.point.setCurrentIndex(dialog.point.findData("own"))
    dialog.probability.setValue(0.35)
    dialog.target.setValue(20)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.export.click()
    assert chosen.args == [ExportOptions(("onnx", "legacy", "triton"), "0.35", 20.0)]


def test_model_card_uses_language_of_window_by_default(qtbot):
    before = QLocale()
    QLocale.setDefault(QLocale("zh_CN"))
    try:
        dialog = ExportOptionsDialog("unet", DEFAULT_OPTIONS)
        qtbot.addWidget(dialog)
        assert dialog.language.currentText() == "简体中文" and dialog.options() == DEFAULT_OPTIONS
        dialog.language.setCurrentIndex(dialog.language.findData("en"))
        assert dialog.options().language == "en"
    finally:
        QLocale.setDefault(before)


def test_self_contained_model_has_an_image_size(qtbot):
    dialog = ExportOptionsDialog("unet", DEFAULT_OPTIONS)
    qtbot.addWidget(dialog)
    assert not dialog.size.isEnabled()
    dialog.formats[LINE_FORMAT].setChecked(True)
    assert dialog.size.isEnabled() and dialog.line_width.parentWidget().isHidden() and dialog.options().shape is None
    dialog.size.setCurrentIndex(dialog.size.findData("own"))
    assert not dialog.line_width.parentWidget().isHidden()
    dialog.line_width.setValue(640)
    dialog.line_height.setValue(480)
    assert dialog.options() == ExportOptions(("onnx", LINE_FORMAT), shape=(480, 640))
    dialog.line_width.setValue(8192)
    dialog.line_height.setValue(8192)
    assert not dialog.export.isEnabled() and "too large" in dialog.hint.text()
    dialog.formats[LINE_FORMAT].setChecked(False)
    assert dialog.export.isEnabled() and dialog.options() == DEFAULT_OPTIONS


@pytest.mark.parametrize(
    "choices",
    [
        ExportOptions(("onnx",), "0.35", 20.0),
        ExportOptions(("onnx", "paddle"), "fewer", language="zh_CN"),
        ExportOptions(("onnx", LINE_FORMAT), shape=(300, 400)),
    ],
)
def test_dialog_shows_previous_choices(qtbot, choices):
    dialog = ExportOptionsDialog("unet", choices)
    qtbot.addWidget(dialog)
    assert dialog.options() == choices


def test_reason_of_a_missing_engine_has_the_visible_name_of_the_format(qtbot, monkeypatch):
    monkeypatch.setattr(registry, "find_spec", lambda module: None if module == "paddlelite" else object())
    assert "'lite'" in cannot_make("lite")
    dialog = ExportOptionsDialog("unet", DEFAULT_OPTIONS)
    qtbot.addWidget(dialog)
    assert not dialog.formats["lite"].isEnabled()
    assert "The engine Paddle Lite needs paddlelite, which is not installed" in texts(dialog)


def test_export_needs_a_format_and_verdicts_have_no_threshold(qtbot):
    dialog = ExportOptionsDialog("resnet", ExportOptions(("onnx",), "0.35"))
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.point.isVisible() and dialog.options().point == "balanced"
    dialog.formats["onnx"].setChecked(False)
    assert not dialog.export.isEnabled() and "at least one" in dialog.hint.text()


def test_report_shows_formats_and_effect_of_reduced_precision(qtbot):
    report = ExportReport(RESULT, lambda path: None, None, "The model detects 0 of 6 defects")
    qtbot.addWidget(report)
    shown = texts(report)
    for text in (
        "All results equal",
        "12.3 ms",
        "99.950% equal",
        "Dice, mean of classes 0.881 → 0.874",
        "Detected 12 → 11 of 13",
        "False alarms per image 0.50 → 0.25",
        "Not exported: paddlelite is missing",
        "导出 1",
        "0 of 6 defects",
    ):
        assert text in shown, text


def test_speed_is_that_of_the_first_format_if_known():
    assert "12.3 ms" in settings_texts.speed_text(RESULT)
    assert settings_texts.speed_text({"formats": ["int8"], "latency": {"int8": None}}) == ""
    assert settings_texts.speed_text({"formats": ["onnx"]}) == ""


def test_model_that_detects_almost_nothing_has_a_warning():
    metrics = {"regions": {"defects": 12, "found": 0}, "any_defect": {"dice": 0.004}}
    assert settings_texts.weakness_text(metrics).startswith(
        "The model detects 0 of 12 defects in the validation images (Dice, any defect 0.00)."
    )
    metrics["regions"]["found"] = 1
    assert "1 of 12 defects" in settings_texts.weakness_text(metrics)
    metrics["regions"]["found"] = 2
    assert settings_texts.weakness_text(metrics) == ""
    assert "0 of 1 defect " in settings_texts.weakness_text({"regions": {"defects": 1}, "dice": 0.0})
    assert (
        settings_texts.weakness_text({"regions": {"defects": 0}, "dice": None})
        == settings_texts.weakness_text({})
        == ""
    )


@pytest.mark.parametrize("found", [0, 9])
def test_message_after_an_export_has_the_warning(application, tmp_path, found):
    services, run = application.services, Run(tmp_path / "runs" / "20260101-000000-unet")
    metrics = {"regions": {"defects": 12, "found": found}, "any_defect": {"dice": 0.0}}
    services.run_list.lines = [RunLine(run, "unet", None, metrics=metrics)]
    services.export_job.run = run
    services.export_job.finished.emit({"path": str(tmp_path / "out"), "formats": ["onnx"], "parity": {}})
    shown = texts(application.window.messages)
    assert f"Model exported to {tmp_path / 'out'}." in shown
    assert ("0 of 12 defects in the validation images (Dice, any defect 0.00)" in shown) == (found == 0)


class UsableRun(Run):
    def need_usable(self) -> None:
        """Its child needs no files."""


def test_model_that_is_not_ready_is_exported_on_request(application, tmp_path, qtbot):
    """A real child reports the problem, as the training program does; the second time it exports."""
    services, run = application.services, UsableRun(tmp_path / "runs" / "20260101-000000-unet")
    run.best.mkdir(parents=True)
    why = Message("export.too_many_regions", n="677,571", name="a.png")
    ending = encode(Failed(why="w", problem="ModelNotReady", fields={"why": why}))
    code = f"import sys; print({ending!r} if '--require-ready' in sys.argv else {encode(Finished(result={}))!r})"
    services.export_job._command = lambda run, out, options: [sys.executable, "-c", code, *options]
    with qtbot.waitSignal(services.export_job.failed):
        services.export_job.start(run)
    assert "it marks 677,571 regions on one image (a.png)" in texts(application.window.messages)
    (anyway,) = [b for b in application.window.messages.findChildren(QPushButton) if b.text() == "Export anyway"]
    with qtbot.waitSignal(services.export_job.finished):
        anyway.click()


def test_model_that_predicts_one_verdict_has_a_warning():
    rows = {"OK": {"recall": 1.0, "pictures": 3}, "NG": {"recall": 0.0, "pictures": 9}}
    metrics = {"accuracy": 0.25, "per_class": rows}
    assert "other than OK (25% of the images are correct)" in settings_texts.weakness_text(metrics)
    rows["NG"]["recall"] = 0.1
    assert settings_texts.weakness_text(metrics) == ""
    assert settings_texts.weakness_text({"accuracy": 1.0, "per_class": {"OK": {"recall": 1.0, "pictures": 3}}}) == ""


def test_content_scrolls_where_the_screen_has_no_room(qtbot):
    content = QWidget()
    column = QVBoxLayout(content)
    for _ in range(200):
        column.addWidget(QLabel("A line of text"))
    area = ContentScrollArea(content)
    qtbot.addWidget(area)
    screen = available_area(area).size()
    assert area.sizeHint().height() < max(screen.height(), 600) < content.sizeHint().height()
    assert area.sizeHint().width() > content.minimumSizeHint().width()  # nothing is cut beside the scroll bar
    content.layout().itemAt(0).widget().setMinimumWidth(500)
    assert area.minimumSizeHint().width() > 500
