"""Export of labels in the window: options, report of what the format cannot hold, links to the images."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt

from workbench.ui.label_files.label_file_dialogs import LabelExportDialog


@pytest.fixture
def dialog(opened, qtbot):
    opened.window.table["export_labels"].trigger()
    return opened.window.findChild(LabelExportDialog)


def run(dialog, qtbot, format: str, out):
    dialog.format.setCurrentIndex(dialog.format.findData(format))
    dialog.folder.line.setText(str(out))
    with qtbot.waitSignal(dialog.job.ended, timeout=10_000) as ended:
        qtbot.mouseClick(dialog.start_button, Qt.MouseButton.LeftButton)
    return ended.args[0]


def test_export_with_images(dialog, qtbot, tmp_path):
    dialog.images.setChecked(True)
    report = run(dialog, qtbot, "coco", tmp_path / "out")
    assert (report.labels, report.images) == (3, 3) and "3 labels exported" in dialog.status.text()
    files = list((tmp_path / "out").rglob("*.json"))
    assert len(json.loads(files[0].read_text("utf-8"))["images"]) == 3
    assert len(list((tmp_path / "out").rglob("*.png"))) == 3


def test_report_links_to_the_images(dialog, opened, qtbot, tmp_path):
    run(dialog, qtbot, "png", tmp_path / "out")
    table = dialog.report.table
    assert dialog.report.isVisible() and table.rowCount() == 3
    assert table.item(2, 1).text() == "The verdict is not exported"
    key = table.item(2, 0).toolTip()
    dialog.report.activated.emit(key)
    qtbot.waitUntil(lambda: opened.services.session.key == key, timeout=5000)


def test_names_that_a_format_cannot_hold_are_shown_before_the_export(dialog, opened, qtbot, tmp_path):
    project = opened.services.session.project
    project.add_class("ignore")
    dialog.format.setCurrentIndex(dialog.format.findData("coco"))
    assert dialog.names.isHidden()
    dialog.format.setCurrentIndex(dialog.format.findData("png"))
    assert not dialog.names.isHidden() and "ignore → ignore-2" in dialog.names.text()
    report = run(dialog, qtbot, "png", tmp_path / "out")
    assert report.renamed and "ignore-2" in (tmp_path / "out" / "labels.txt").read_text().splitlines()


def test_folder_with_files_is_refused(dialog, qtbot, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_text("x")
    dialog.folder.line.setText(str(tmp_path / "out"))
    with qtbot.waitSignal(dialog.job.failed, timeout=10_000):
        dialog.start_button.click()
    assert "already exists" in dialog.status.text()


def test_formats_that_always_copy_the_images(dialog):
    dialog.format.setCurrentIndex(dialog.format.findData("mvtec"))
    assert dialog.images.isChecked() and not dialog.images.isEnabled()
    dialog.format.setCurrentIndex(dialog.format.findData("labelme"))
    assert dialog.images.isEnabled() and dialog.shapes.count() == 2
