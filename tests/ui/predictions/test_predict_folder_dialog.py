"""A folder through a model from the window: told as it goes, stopped, gone on with, and never in the way."""

from __future__ import annotations

import json
import shutil
import threading

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.inference.conftest import grey_export, spotted, verdict_export
from workbench.inference.io.image_io import write_png
from workbench.session import folder_prediction
from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
from workbench.ui.widgets.question_dialog import Question

__all__ = ["grey_export", "verdict_export"]

LONG = 30_000


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "来料 [1]"
    rng = np.random.default_rng(2)
    for number in range(5):
        write_png(folder / f"{number}.png", spotted(rng, 90, 120))
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


@pytest.fixture
def dialog(application, qtbot):
    application.window.table["predict_folder"].trigger()
    found = application.window.findChild(PredictFolderDialog)
    assert found.isVisible() and not found.isModal()
    application.window.table["predict_folder"].trigger()
    assert len(application.window.findChildren(PredictFolderDialog)) == 1
    return found


def ask(dialog, model, pictures, out) -> None:
    assert not dialog.go.isEnabled()
    dialog.model.setEditText(str(model))
    dialog.images.setText(str(pictures))
    dialog.out.setText(str(out))
    assert dialog.go.isEnabled()


def click(button) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def shown(dialog, column: int) -> list[str]:
    return [dialog.found.index(row, column).data() for row in range(dialog.found.rowCount())]


def test_a_folder_is_predicted_beside_the_window(dialog, grey_export, pictures, tmp_path, qtbot):
    out = tmp_path / "out"
    ask(dialog, grey_export, pictures, out)
    with qtbot.waitSignal(dialog.work.ended, timeout=LONG):
        click(dialog.go)
        assert dialog.work.running and dialog.go.text() == "Stop" and not dialog.model.isEnabled()
    assert shown(dialog, 0) == ["0.png", "1.png", "2.png", "3.png", "4.png", "broken.png"]
    found = json.loads((out / "results.json").read_text("utf-8"))["pictures"]
    counts = [f"{len(entry['regions'])} regions" for entry in found]
    assert shown(dialog, 1)[:5] == [{"0 regions": "–", "1 regions": "1 region"}.get(text, text) for text in counts]
    assert shown(dialog, 1)[5].startswith("skipped: the file is incomplete")
    assert "5 pictures, 1 skipped" in dialog.said.text() and dialog.show_results.isVisible()
    assert dialog.go.text() == "Predict" and dialog.go.objectName() == "primary"
    qtbot.waitUntil(lambda: not dialog.preview.pixmap().isNull(), timeout=LONG)  # the first row's overlay


def test_stopped_it_goes_on_where_it_was(dialog, grey_export, pictures, tmp_path, qtbot, monkeypatch):
    rng = np.random.default_rng(8)
    for number in range(10, 30):
        write_png(pictures / f"{number}.png", spotted(rng, 90, 90))
    pressed, image_predicted = threading.Event(), folder_prediction._image_predicted

    def report_slowly(number: int, *details: object) -> folder_prediction.ImagePredicted:
        if number > 5:  # however busy the machine is, the button is pressed before the end
            pressed.wait(LONG / 1000)
        return image_predicted(number, *details)

    monkeypatch.setattr(folder_prediction, "_image_predicted", report_slowly)
    ask(dialog, grey_export, pictures, tmp_path / "out")
    assert not dialog.go_on.isEnabled()
    with qtbot.waitSignal(dialog.work.ended, timeout=LONG) as first:
        click(dialog.go)
        qtbot.waitUntil(lambda: dialog.found.rowCount() >= 2, timeout=LONG)
        click(dialog.go)
        pressed.set()
    assert not first.args[0].whole and 2 <= first.args[0].images < 25
    assert dialog.go_on.isEnabled() and dialog.go_on.isChecked() and "Stopped" in dialog.said.text()
    with qtbot.waitSignal(dialog.work.ended, timeout=LONG) as second:
        click(dialog.go)
    assert second.args[0].whole and second.args[0].images == 25
    assert dialog.found.rowCount() == 25 + 1 - first.args[0].images
    paths = [entry["path"] for entry in json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["pictures"]]
    assert len(paths) == len(set(paths)) == 25


def test_a_folder_is_watched_until_it_is_stopped(dialog, grey_export, pictures, tmp_path, qtbot):
    out, line = tmp_path / "out", tmp_path / "line"
    line.mkdir()
    ask(dialog, grey_export, line, out)
    dialog.watch.setChecked(True)
    assert not dialog.go_on.isEnabled()
    click(dialog.go)
    qtbot.waitUntil(lambda: "Waiting for pictures" in dialog.said.text(), timeout=LONG)
    shutil.copy(pictures / "0.png", line / "a.png")
    qtbot.waitUntil(lambda: shown(dialog, 0) == ["a.png"], timeout=LONG)
    qtbot.waitUntil(lambda: not dialog.preview.pixmap().isNull(), timeout=LONG)  # what came, by itself
    shutil.copy(pictures / "1.png", line / "b.png")
    qtbot.waitUntil(lambda: shown(dialog, 0) == ["a.png", "b.png"], timeout=LONG)
    assert "2 pictures, 0 skipped" in dialog.said.text() and dialog.work.running
    rows = (out / "regions.csv").read_text("utf-8-sig")
    assert "a.png" in rows and "b.png" in rows  # before it ends
    with qtbot.waitSignal(dialog.work.ended, timeout=LONG) as first:
        click(dialog.go)
    assert (first.args[0].images, first.args[0].whole) == (2, False) and "Stopped" in dialog.said.text()
    shutil.copy(pictures / "2.png", line / "c.png")
    click(dialog.go)  # goes on where it was
    qtbot.waitUntil(lambda: shown(dialog, 0) == ["c.png"], timeout=LONG)
    with qtbot.waitSignal(dialog.work.ended, timeout=LONG) as second:
        click(dialog.go)
    assert second.args[0].images == 3


def test_what_cannot_be_done_is_a_sentence(dialog, grey_export, pictures, tmp_path, qtbot):
    ask(dialog, tmp_path / "nothing", pictures, tmp_path / "out")
    for model, folder, words in (
        (tmp_path / "nothing", pictures, "neither a run nor an export"),
        (grey_export, tmp_path / "none", "there is no such file"),
    ):
        dialog.model.setEditText(str(model))
        dialog.images.setText(str(folder))
        with qtbot.waitSignal(dialog.work.failed, timeout=LONG):
            click(dialog.go)
        assert words in dialog.said.text()
    damaged = tmp_path / "damaged"
    shutil.copytree(grey_export, damaged)
    (damaged / "network.onnx").write_bytes(b"")
    dialog.model.setEditText(str(damaged))
    dialog.images.setText(str(pictures))
    with qtbot.waitSignal(dialog.work.failed, timeout=LONG):
        click(dialog.go)
    assert "network.onnx has been changed" in dialog.said.text() and not (tmp_path / "out").exists()


def test_closing_ends_the_work_and_keeps_what_is_done(application, dialog, verdict_export, pictures, tmp_path, qtbot):
    ask(dialog, verdict_export, pictures, tmp_path / "out")
    with qtbot.waitSignal(dialog.work.ended, timeout=LONG):
        click(dialog.go)
    assert set(shown(dialog, 1)[:5]) <= {"OK", "NG"}
    click(dialog.go)
    with qtbot.waitSignal(dialog.destroyed, timeout=LONG):
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert (tmp_path / "out" / "results.json").exists()
    assert application.window.findChild(PredictFolderDialog) is None


def test_closing_the_window_ends_the_work(application, dialog, grey_export, pictures, tmp_path, qtbot):
    ask(dialog, grey_export, pictures, tmp_path / "out")
    click(dialog.go)
    work = dialog.work
    with qtbot.waitSignal(dialog.destroyed, timeout=LONG):
        assert work.running
        application.window.close()

        def questions() -> list[Question]:
            return [one for one in application.window.findChildren(Question) if one.isVisible()]

        qtbot.waitUntil(lambda: bool(questions()), timeout=LONG)
        assert work.running  # nothing is stopped before the question is answered
        questions()[0].buttons["stop"].click()
