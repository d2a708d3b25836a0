"""Prediction of a folder in its dialog: progress, stop and continue, watching, failures, closing."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.inference.conftest import gray_export, limited_export, spotted, unlike_images, verdict_export
from workbench.inference.io.image_io import write_png
from workbench.inference.verdict_rule import ResultsSummary
from workbench.session import prediction_jobs
from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
from workbench.ui.text import formatting, image_texts
from workbench.ui.widgets.dialogs import Question

__all__ = ["gray_export", "limited_export", "unlike_images", "verdict_export"]

LONG = 30_000


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "来料 [1]"
    rng = np.random.default_rng(2)
    for number in range(5):
        write_png(folder / f"{number}.png", spotted(rng, 90, 120))
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


@pytest.fixture
def dialog(application, qtbot):
    application.window.table["predict_folder"].trigger()
    dialog = application.window.findChild(PredictFolderDialog)
    assert dialog.isVisible() and not dialog.isModal()
    application.window.table["predict_folder"].trigger()
    assert len(application.window.findChildren(PredictFolderDialog)) == 1
    return dialog


def fill_form(dialog, model, images, out) -> None:
    assert not dialog.start_button.isEnabled()
    dialog.model.line.setText(str(model))
    dialog.images.line.setText(str(images))
    dialog.out.line.setText(str(out))
    assert dialog.start_button.isEnabled()


def click(button) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def column_texts(dialog, column: int) -> list[str]:
    return [dialog.results.index(row, column).data() for row in range(dialog.results.rowCount())]


def test_dialog_shows_what_is_missing(dialog, gray_export, images, tmp_path):
    assert dialog.status.isVisible() and "no model yet. Train one" in dialog.status.text()
    dialog.model.line.setText(str(gray_export))
    assert dialog.status.text() == "Choose the folder of the images to predict."
    dialog.images.line.setText(str(images))
    assert dialog.status.text() == "Choose a folder for the results."
    dialog.out.line.setText(str(tmp_path / "out"))
    assert not dialog.status.isVisible() and dialog.start_button.isEnabled()


def test_folder_is_predicted_while_window_stays_usable(dialog, gray_export, images, tmp_path, qtbot):
    out = tmp_path / "out"
    fill_form(dialog, gray_export, images, out)
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG):
        click(dialog.start_button)
        assert dialog.job.running and dialog.start_button.text() == "Stop" and not dialog.model.isEnabled()
    assert column_texts(dialog, 0) == ["0.png", "1.png", "2.png", "3.png", "4.png", "broken.png"]
    entries = json.loads((out / "results.json").read_text("utf-8"))["pictures"]
    regions = [entry["regions"] for entry in entries]
    assert column_texts(dialog, 1)[:5] == ["NG" if found else "OK" for found in regions]  # a model without a rule
    assert column_texts(dialog, 2)[:5] == [
        ", ".join(dict.fromkeys(r["class_name"] for r in found)) for found in regions
    ]
    assert column_texts(dialog, 3)[:5] == [str(len(found)) if found else "" for found in regions]
    largest = max((region for found in regions for region in found), key=lambda region: region["area"])
    area = formatting.region_area(largest["area"], largest["area_um2"])
    basis = "(without a verdict rule, an image with a region is NG)"
    summary = f"NG {sum(map(bool, regions))} of 5, largest {area}, {largest['class_name']} {basis}. "
    assert dialog.status.text().startswith(summary)
    click_on_heading(dialog, 4)  # the smallest first
    click_on_heading(dialog, 4)
    assert dialog.table.model().index(0, 0).data() == entry_with(entries, largest)
    assert dialog.results.rows[0].path.name == "0.png" and dialog.table.currentIndex().isValid()
    assert column_texts(dialog, 1)[5].startswith("Skipped: the file is incomplete")
    assert "5 images done, 1 skipped" in dialog.status.text() and dialog.show_results.isVisible()
    assert dialog.start_button.text() == "Predict" and dialog.start_button.objectName() == "primary"
    qtbot.waitUntil(lambda: not dialog.preview.pixmap().isNull(), timeout=LONG)  # the first row's overlay


def click_on_heading(dialog, column: int) -> None:
    header = dialog.table.horizontalHeader()
    x = header.sectionViewportPosition(column) + header.sectionSize(column) // 2
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, header.height() // 2))


def entry_with(entries, region) -> str:
    return Path(next(entry["path"] for entry in entries if region in entry["regions"])).name


def test_unlike_images_are_named_with_their_reasons(dialog, limited_export, unlike_images, tmp_path, qtbot):
    fill_form(dialog, limited_export, unlike_images, tmp_path / "out")
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG):
        click(dialog.start_button)
    shown = dict(zip(column_texts(dialog, 0), column_texts(dialog, 1)))
    assert shown["black.png"] == "unsure: every pixel has the value 0" and shown["good.png"] == "OK"
    told = "3 images are unlike the training images. This model has no unlike score: "
    assert told in dialog.status.text()
    for name, remark in (("black.png", "every pixel has the value 0"), ("good.png", "")):
        dialog.table.selectRow(column_texts(dialog, 0).index(name))
        assert dialog.remark.text() == remark
    row = column_texts(dialog, 0).index("good-12.png")
    assert "good-12.png\n12-bit values are scaled" in dialog.results.index(row, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_names_are_whole_and_unsure_is_translated(
    dialog, limited_export, unlike_images, tmp_path, qtbot, qapp, request
):
    name = "line-3-station-2-part-00417.png"
    (unlike_images / "black.png").rename(unlike_images / name)
    fill_form(dialog, limited_export, unlike_images, tmp_path / "out")
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG):
        click(dialog.start_button)
    assert dialog.table.columnWidth(0) > dialog.table.fontMetrics().horizontalAdvance(name)
    translators = formatting.install(qapp, "zh_CN")
    request.addfinalizer(lambda: [*map(qapp.removeTranslator, translators), formatting.install(qapp, "en")])
    assert column_texts(dialog, 1)[column_texts(dialog, 0).index(name)].startswith("不确定：")
    assert image_texts.summary_text(ResultsSummary(6, {"unsure": 3}, None)).startswith("不确定 3")


def test_areas_of_all_images_have_the_unit_of_the_largest(dialog):
    for number, area in enumerate((468_125.0, 2_350_000.0, 601_875.0)):
        region = SimpleNamespace(area=area / 625, area_um2=area)
        path = Path(f"{number}.png")
        dialog.results.add(prediction_jobs.ImagePredicted(number, 3, path, path, found=1, largest=region))
        dialog.results.index(0, 4).data()
    assert column_texts(dialog, 4) == ["0.468 mm²", "2.35 mm²", "0.602 mm²"]


def test_stopped_prediction_continues(dialog, gray_export, images, tmp_path, qtbot, monkeypatch):
    rng = np.random.default_rng(8)
    for number in range(10, 30):
        write_png(images / f"{number}.png", spotted(rng, 90, 90))
    pressed, original = threading.Event(), prediction_jobs.predicted_event

    def wait_for_click(number: int, *rest: object) -> prediction_jobs.ImagePredicted:
        if number > 5:  # the button is clicked before the end
            pressed.wait(LONG / 1000)
        return original(number, *rest)

    monkeypatch.setattr(prediction_jobs, "predicted_event", wait_for_click)
    fill_form(dialog, gray_export, images, tmp_path / "out")
    assert not dialog.skip_existing.isEnabled()
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG) as first:
        click(dialog.start_button)
        qtbot.waitUntil(lambda: dialog.results.rowCount() >= 2, timeout=LONG)
        click(dialog.start_button)
        pressed.set()
    assert not first.args[0].whole and 2 <= first.args[0].images < 25
    assert dialog.skip_existing.isEnabled() and dialog.skip_existing.isChecked() and "Stopped" in dialog.status.text()
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG) as second:
        click(dialog.start_button)
    assert second.args[0].whole and second.args[0].images == 25
    assert dialog.results.rowCount() == 25 + 1 - first.args[0].images
    paths = [entry["path"] for entry in json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["pictures"]]
    assert len(paths) == len(set(paths)) == 25


def test_watched_folder_predicts_new_images_until_stopped(dialog, gray_export, images, tmp_path, qtbot):
    out, line = tmp_path / "out", tmp_path / "line"
    line.mkdir()
    fill_form(dialog, gray_export, line, out)
    dialog.watch.setChecked(True)
    assert not dialog.skip_existing.isEnabled()
    click(dialog.start_button)
    qtbot.waitUntil(lambda: "Waiting for images" in dialog.status.text(), timeout=LONG)
    shutil.copy(images / "0.png", line / "a.png")
    qtbot.waitUntil(lambda: column_texts(dialog, 0) == ["a.png"], timeout=LONG)
    qtbot.waitUntil(lambda: not dialog.preview.pixmap().isNull(), timeout=LONG)  # the preview follows the newest image
    shutil.copy(images / "1.png", line / "b.png")
    qtbot.waitUntil(lambda: column_texts(dialog, 0) == ["a.png", "b.png"], timeout=LONG)
    assert "2 images done, 0 skipped" in dialog.status.text() and dialog.job.running
    rows = (out / "regions.csv").read_text("utf-8-sig")
    assert "a.png" in rows and "b.png" in rows  # written while watching
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG) as first:
        click(dialog.start_button)
    assert (first.args[0].images, first.args[0].whole) == (2, False) and "Stopped" in dialog.status.text()
    shutil.copy(images / "2.png", line / "c.png")
    click(dialog.start_button)  # continues
    qtbot.waitUntil(lambda: column_texts(dialog, 0) == ["c.png"], timeout=LONG)
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG) as second:
        click(dialog.start_button)
    assert second.args[0].images == 3


def test_failures_are_shown(dialog, gray_export, images, tmp_path, qtbot):
    fill_form(dialog, tmp_path / "nothing", images, tmp_path / "out")
    for model, folder, expected in (
        (tmp_path / "nothing", images, "neither a run nor an export"),
        (gray_export, tmp_path / "none", "there is no such file"),
    ):
        dialog.model.line.setText(str(model))
        dialog.images.line.setText(str(folder))
        with qtbot.waitSignal(dialog.job.failed, timeout=LONG):
            click(dialog.start_button)
        assert expected in dialog.status.text()
    damaged = tmp_path / "damaged"
    shutil.copytree(gray_export, damaged)
    (damaged / "network.onnx").write_bytes(b"")
    dialog.model.line.setText(str(damaged))
    dialog.images.line.setText(str(images))
    with qtbot.waitSignal(dialog.job.failed, timeout=LONG):
        click(dialog.start_button)
    assert "network.onnx has been changed" in dialog.status.text() and not (tmp_path / "out").exists()


def test_closing_dialog_keeps_results(application, dialog, verdict_export, images, tmp_path, qtbot):
    fill_form(dialog, verdict_export, images, tmp_path / "out")
    with qtbot.waitSignal(dialog.job.ended, timeout=LONG):
        click(dialog.start_button)
    assert set(column_texts(dialog, 1)[:5]) <= {"OK", "NG"}
    click(dialog.start_button)
    with qtbot.waitSignal(dialog.destroyed, timeout=LONG):
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert (tmp_path / "out" / "results.json").exists()
    assert application.window.findChild(PredictFolderDialog) is None


def test_closing_window_asks_and_stops_prediction(application, dialog, gray_export, images, tmp_path, qtbot):
    fill_form(dialog, gray_export, images, tmp_path / "out")
    click(dialog.start_button)
    work = dialog.job
    with qtbot.waitSignal(dialog.destroyed, timeout=LONG):
        assert work.running
        application.window.close()

        def questions() -> list[Question]:
            return [question for question in application.window.findChildren(Question) if question.isVisible()]

        qtbot.waitUntil(lambda: bool(questions()), timeout=LONG)
        assert work.running  # nothing is stopped before the question is answered
        questions()[0].buttons["stop"].click()


def test_models_are_shown_by_name(tmp_path, qtbot):
    name = "UNet  2026-01-01 10:10  ·  Dice, any defect 0.80"
    first, second, export = tmp_path / "20260101-101010-unet", tmp_path / "20260101-101011-unet", tmp_path / "export"
    dialog = PredictFolderDialog({first: name, second: name})
    qtbot.addWidget(dialog)
    field = dialog.model
    assert field.line.text() == name and field.path == first and str(first) in field.input.toolTip()
    field.input.setCurrentIndex(1)  # of the same name, so it is shown by its path
    assert field.line.text() == str(second) and field.path == second
    field.line.setText(str(export))
    assert field.path == export and str(export) in field.input.toolTip()


def test_results_folder_is_proposed_for_a_typed_image_folder(tmp_path, qtbot):
    dialog = PredictFolderDialog({})
    qtbot.addWidget(dialog)
    dialog.images.line.setText(str(tmp_path / "absent"))
    dialog.images.line.editingFinished.emit()
    assert dialog.out.path is None
    dialog.images.line.setText(str(tmp_path))
    QTest.keyClick(dialog.images.line, Qt.Key.Key_Return)
    assert dialog.out.path == tmp_path.with_name(f"{tmp_path.name}-results")
    (tmp_path / "next").mkdir()
    dialog.images.line.setText(str(tmp_path / "next"))
    dialog.images.line.editingFinished.emit()
    assert dialog.out.path == tmp_path / "next-results", "results of other images are not mixed"
    dialog.out.line.setText(str(tmp_path / "own"))
    dialog.images.line.setText(str(tmp_path))
    dialog.images.line.editingFinished.emit()
    assert dialog.out.path == tmp_path / "own"
