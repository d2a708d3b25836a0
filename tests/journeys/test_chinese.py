"""The window in Chinese: a class with a Chinese name, a command found by its Chinese name, exported labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from workbench.ui.label_files.label_file_dialogs import LabelExportDialog
from workbench.ui.project.new_project_dialog import QuickProjectDialog

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def language():
    return "zh_CN"


def test_from_images_to_exported_labels_in_chinese(user, qtbot, tmp_path, raw_images, monkeypatch):
    folder, masks = raw_images
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")  # the project is created there
    session, window = user.session, user.window
    user.drop_folder(folder)
    dialog = user.dialog(QuickProjectDialog)
    qtbot.waitUntil(lambda: "12" in dialog.count.text())
    user.type("划痕")
    with qtbot.waitSignal(session.current.opened):
        user.key(Qt.Key.Key_Return)
    user.activate()
    qtbot.waitUntil(lambda: len(session.rows) == 12 and session.mask is not None)
    assert [info.name for info in session.project.classes] == ["划痕"]

    first = session.key
    user.scribble(masks[first.rpartition("/")[2]])
    strokes = user.inputs.drags - 1
    user.key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.rows[first].status == "done" and session.key != first)
    qtbot.waitUntil(lambda: "标注" in window.stage_bar.next.text())

    user.key(Qt.Key.Key_P, CONTROL_SHIFT)
    user.type("导出标注")
    assert window.dialogs.palette.view.currentIndex().data() == "导出标注"
    user.key(Qt.Key.Key_Return)
    export = user.dialog(LabelExportDialog)
    export.format.setCurrentIndex(export.format.findData("labelme"))
    with qtbot.waitSignal(export.job.ended) as ended:
        user.click(export.start_button)
    report = ended.args[0]
    assert report.labels == 1 and "1" in export.status.text()
    (file,) = Path(report.path).rglob("*.json")
    assert {shape["label"] for shape in json.loads(file.read_text("utf-8"))["shapes"]} == {"划痕"}
    assert (user.inputs.clicks, user.inputs.keys) == (1, 10) and strokes >= 1
