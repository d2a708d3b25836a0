"""Import of labels in the window: preview, mapping, progress, undo, drops and new projects."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication

from tests.ui.file_drops import drop
from tests.ui.layout_faults import cut
from workbench.core.project import annotation
from workbench.core.project.import_plan import PlannedClass
from workbench.inference.io.image_io import write_png
from workbench.ui.label_files import path_choices
from workbench.ui.label_files.label_file_dialogs import ImportDialog
from workbench.ui.project.new_project_dialog import NewProjectDialog, QuickProjectDialog

pytestmark = pytest.mark.usefixtures("one_window")


@pytest.fixture
def folder(tmp_path) -> Path:
    """labelme files of three images, with the classes "Scratch" and "crater", and one file without its image."""
    folder = tmp_path / "标注 in"
    folder.mkdir()
    for number in range(4):
        if number < 3:
            write_png(folder / f"n{number}.png", np.full((40, 60), 90, np.uint8))
        shapes = [
            {"label": name, "points": [[x, 5], [x + 9, 5], [x + 9, 20]], "shape_type": "polygon", "flags": {}}
            for name, x in (("Scratch", 4), ("crater", 30))
        ]
        content = {"version": "5.4.1", "flags": {}, "shapes": shapes, "imagePath": f"n{number}.png", "imageData": None}
        (folder / f"n{number}.json").write_text(json.dumps(content), "utf-8")
    return folder


def dialog_of(application, qtbot) -> ImportDialog:
    qtbot.waitUntil(lambda: application.window.findChild(ImportDialog) is not None, timeout=10_000)
    dialog = application.window.findChild(ImportDialog)
    qtbot.waitUntil(lambda: dialog.plan is not None, timeout=10_000)
    return dialog


@pytest.fixture
def dialog(opened, folder, qtbot):
    opened.window.label_files.show_import(folder)
    return dialog_of(opened, qtbot)


def run(dialog, application, qtbot) -> None:
    with qtbot.waitSignal(application.services.session.label_import.imported, timeout=10_000):
        qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)


def test_typed_path_is_read(opened, folder, qtbot):
    opened.window.label_files.import_labels()
    qtbot.waitUntil(lambda: opened.window.findChild(ImportDialog) is not None, timeout=10_000)
    dialog = opened.window.findChild(ImportDialog)
    line, row = dialog.files.line, dialog.preview.options.format_row
    assert dialog.isVisible() and not row.isVisible(), "no format is missing before files are read"
    qtbot.keyClicks(line, str(folder.with_name("absent")))
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert dialog.status.text() == "The labels do not exist." and not dialog.import_button.isEnabled()
    line.clear()
    event = QInputMethodEvent()
    event.setCommitString(str(folder))
    QApplication.sendEvent(line, event)
    qtbot.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.plan is not None, timeout=10_000)
    assert "3 images" in dialog.preview.summary.text() and dialog.import_button.isEnabled() and row.isVisible()
    qtbot.keyClicks(line, "x")  # no longer the folder of the preview
    assert dialog.plan is None and not dialog.import_button.isEnabled()


def test_preview_lists_format_classes_and_skipped_files(dialog):
    assert dialog.preview.options.format.currentText() == "labelme, X-AnyLabeling (4)"
    assert "3 images: 0 in the project, 3 new" in dialog.preview.summary.text()
    assert dialog.preview.missing.isVisible() and "Labels without an image: 1." in dialog.preview.missing.text.text()
    assert dialog.preview.mapping.targets(PlannedClass) == {"Scratch": "scratch", "crater": "crater"}
    for column in (1, 2):  # headings end where their numbers end
        alignment = dialog.preview.mapping.item(0, column).textAlignment()
        assert dialog.preview.mapping.horizontalHeaderItem(column).textAlignment() == alignment
    assert [dialog.preview.mapping.item(row, 4).text() for row in range(2)] == ["existing", "new"]
    # The labels that cannot be used come first, and are not folded away.
    assert dialog.preview.account.isVisible() and "n3.json" in dialog.preview.account.text.text()
    assert dialog.preview.skipped.table.rowCount() == 1 and dialog.preview.skipped.table.isVisible()
    assert "n3.json" in dialog.preview.skipped.table.item(0, 0).text()
    assert not dialog.preview.options.boxes.isVisible() and not dialog.preview.options.conflicts.isVisible()


def qtbot_click(button) -> None:
    button.click()
    QApplication.processEvents()


def test_another_name_inside_a_label_file_is_shown_at_once(opened, folder, qtbot):
    (folder / "n3.json").unlink()
    (folder / "n1.json").write_text((folder / "n1.json").read_text("utf-8").replace("n1.png", "gone.png"), "utf-8")
    opened.window.label_files.show_import(folder)
    dialog = dialog_of(opened, qtbot)
    assert dialog.preview.skipped.table.isVisible() and "gone.png" in dialog.preview.skipped.table.item(0, 1).text()
    run(dialog, opened, qtbot)
    assert dialog.result.skipped.table.isVisible() and "gone.png" in dialog.result.skipped.table.item(0, 1).text()


def test_preview_of_former_files_does_not_appear_while_a_path_is_typed(dialog, opened, folder, qtbot):
    dialog.show_paths([folder])
    job = opened.services.session.label_import
    assert job.activity == "reading"
    qtbot.keyClicks(dialog.files.line, "x")
    assert job.activity == "" and dialog.plan is None
    QApplication.processEvents()
    assert dialog.plan is None and not dialog.import_button.isEnabled()


def test_import_with_edited_mapping_and_undo(dialog, opened, qtbot):
    session = opened.services.session
    dialog.preview.mapping.cellWidget(0, 3).setEditText("pit")
    field = dialog.preview.mapping.cellWidget(1, 3)
    field.setCurrentIndex(field.count() - 1)
    assert [dialog.preview.mapping.item(row, 4).text() for row in range(2)] == ["existing", "ignored"]
    run(dialog, opened, qtbot)
    assert dialog.result.heading.text() == "3 images labeled, 1 skipped"
    assert set(np.unique(annotation.load_mask(session.project, "n0.png"))) == {0, 2}
    assert [info.name for info in session.project.classes] == ["scratch", "pit"]
    with qtbot.waitSignal(session.label_import.undone, timeout=10_000):
        qtbot.mouseClick(dialog.undo_button, Qt.MouseButton.LeftButton)
    assert not session.project.image_path("n0.png").exists()
    assert any("Import undone" in text for text in opened.window.messages.texts)


def test_escape_cancels_the_import_and_keeps_the_dialog(dialog, opened, qtbot):
    session = opened.services.session
    with qtbot.waitSignal(session.label_import.imported, timeout=10_000) as imported:
        dialog.import_button.click()
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert imported.args[0].cancelled and dialog.isVisible()
    assert "Nothing was changed" in dialog.status.text() and dialog.import_button.isEnabled()
    assert not session.project.image_path("n0.png").exists()


def test_labeled_images_ask_for_the_conflict(opened, folder, qtbot):
    session = opened.services.session
    opened.window.label_files.show_import(folder)
    dialog = dialog_of(opened, qtbot)
    run(dialog, opened, qtbot)
    dialog.accept()
    qtbot.waitUntil(lambda: opened.window.findChild(ImportDialog) is None, timeout=5000)
    content = json.loads((folder / "n1.json").read_text("utf-8"))
    content["shapes"].pop()
    (folder / "n1.json").write_text(json.dumps(content), "utf-8")
    opened.window.label_files.show_import(folder)
    dialog = dialog_of(opened, qtbot)
    assert dialog.preview.options.conflicts.isVisible()
    assert dialog.preview.options._conflicts_label.text().startswith("3 images")
    dialog.preview.options.conflicts.setCurrentIndex(dialog.preview.options.conflicts.findData("replace"))
    run(dialog, opened, qtbot)
    assert "1 existing label changed.\n2 existing labels kept." in dialog.result.details.text()
    assert session.undo_stack.next_undo.title == "import labels" and dialog.undo_button.isVisible()


def test_an_import_that_changes_nothing_offers_no_undo_and_leaves_that_of_the_one_before(dialog, opened, folder, qtbot):
    session = opened.services.session
    images = len(session.keys)
    run(dialog, opened, qtbot)
    dialog.accept()
    qtbot.waitUntil(lambda: opened.window.findChild(ImportDialog) is None, timeout=5000)
    opened.window.label_files.show_import(folder)
    dialog = dialog_of(opened, qtbot)
    run(dialog, opened, qtbot)
    assert "3 existing labels kept." in dialog.result.details.text() and not dialog.undo_button.isVisible()
    qtbot.waitUntil(lambda: len(session.keys) == images + 3, timeout=5000)
    with qtbot.waitSignal(session.label_import.undone, timeout=10_000):
        session.undo()
    qtbot.waitUntil(lambda: len(session.keys) == images, timeout=5000)


def test_folder_without_labels_shows_what_it_contains(opened, qtbot, tmp_path):
    (tmp_path / "void").mkdir()
    (tmp_path / "void" / "a.doc").write_bytes(b"x")
    dialog = ImportDialog(opened.services.session, opened.style, [tmp_path / "void"], parent=opened.window)
    dialog.open()
    qtbot.waitUntil(lambda: "1 .doc" in dialog.status.text(), timeout=10_000)
    assert not dialog.import_button.isEnabled() and not dialog.preview.mapping.isVisible()
    dialog.reject()


def test_format_that_is_not_recognized_can_be_chosen(opened, qtbot, tmp_path):
    for gray, name in enumerate(("cam1", "cam2"), 90):
        (tmp_path / "in" / name).mkdir(parents=True)
        write_png(tmp_path / "in" / name / "a.png", np.full((40, 60), gray, np.uint8))
    opened.window.label_files.show_import(tmp_path / "in")
    dialog = opened.window.findChild(ImportDialog)
    qtbot.waitUntil(lambda: "may not be verdicts" in dialog.status.text())
    format = dialog.preview.options.format
    assert format.isVisible() and format.isEnabled() and format.currentIndex() == -1
    assert not dialog.import_button.isEnabled()
    format.setCurrentIndex(format.findData("folders"))
    format.activated.emit(format.currentIndex())
    qtbot.waitUntil(lambda: dialog.plan is not None)
    assert format.isVisible() and format.currentData() == "folders"
    run(dialog, opened, qtbot)
    assert {"cam1", "cam2"} <= set(opened.services.session.project.file.verdicts)


def test_images_in_another_folder_are_located(opened, folder, qtbot, tmp_path, monkeypatch):
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(3):
        (folder / f"n{number}.png").rename(photos / f"n{number}.png")
    opened.window.label_files.show_import(folder)
    dialog = dialog_of(opened, qtbot)
    assert "Labels without an image: 4." in dialog.preview.missing.text.text() and not dialog.import_button.isEnabled()
    wrong, session = tmp_path / "wrong", opened.services.session
    wrong.mkdir()
    write_png(wrong / "other.png", np.full((40, 60), 70, np.uint8))
    monkeypatch.setattr(path_choices.QFileDialog, "getExistingDirectory", lambda *_: str(wrong))
    dialog.preview.missing.button.click()
    text = dialog.preview.missing.text.text
    qtbot.waitUntil(lambda: f"None of them is in {wrong}." in text(), timeout=10_000)
    assert not session.project.file.sources[1:]
    qtbot.waitUntil(lambda: "@wrong/other.png" not in session.keys, timeout=10_000)
    monkeypatch.setattr(path_choices.QFileDialog, "getExistingDirectory", lambda *_: str(photos))
    dialog.preview.missing.button.click()
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.report.labeled == 3, timeout=10_000)
    run(dialog, opened, qtbot)
    assert annotation.load_mask(opened.services.session.project, "@photos/n0.png").any()


def test_first_labeled_image_is_opened_after_the_first_import(application, folder, qtbot, tmp_path):
    session = application.services.session
    write_png(folder / "a.png", np.full((40, 60), 70, np.uint8))
    with qtbot.waitSignal(session.project_opened, timeout=10_000):
        session.create_project(tmp_path / "first")
    application.window.label_files.show_import(folder)
    dialog = dialog_of(application, qtbot)
    run(dialog, application, qtbot)
    qtbot.waitUntil(lambda: session.key == "a.png", timeout=10_000)
    qtbot.waitUntil(lambda: "n0.png" in session.rows and session.rows["n0.png"].status == "done", timeout=10_000)
    dialog.close_button.click()
    qtbot.waitUntil(lambda: session.key == "n0.png", timeout=10_000)


def test_later_imports_keep_the_open_image(dialog, opened, qtbot):
    session = opened.services.session
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_image("lot1/new.png")
    run(dialog, opened, qtbot)
    qtbot.waitUntil(lambda: "n0.png" in session.rows and session.rows["n0.png"].status == "done", timeout=10_000)
    dialog.close_button.click()
    assert session.key == "lot1/new.png" and session.opening in (None, session.key)


ACCEPTED = Qt.DropAction.CopyAction


def test_dropped_folder_with_labels_offers_the_import(opened, folder, qtbot):
    assert drop(opened.window, folder)[-1] == ACCEPTED
    dialog = dialog_of(opened, qtbot)
    assert dialog.images_only.isVisible()
    with qtbot.waitSignal(opened.services.session.image_list.added, timeout=10_000) as added:
        qtbot.mouseClick(dialog.images_only, Qt.MouseButton.LeftButton)
    assert added.args[0].copied == 3


def test_dropped_folder_without_labels_is_added(opened, qtbot, tmp_path):
    write_png(tmp_path / "plain" / "x.png", np.full((40, 60), 90, np.uint8))
    with qtbot.waitSignal(opened.services.session.image_list.added, timeout=10_000) as added:
        assert drop(opened.window, tmp_path / "plain")[-1] == ACCEPTED
    assert added.args[0].copied == 1 and opened.window.findChild(ImportDialog) is None


def test_folder_dropped_without_a_project_becomes_a_labeled_project(application, folder, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(type(application.window.project_commands), "projects_folder", lambda self: tmp_path)
    assert drop(application.window, folder)[-1] == ACCEPTED
    qtbot.waitUntil(lambda: application.window.findChild(QuickProjectDialog) is not None, timeout=5000)
    new = application.window.findChild(QuickProjectDialog)
    qtbot.waitUntil(lambda: "labelme" in new.found.text(), timeout=10_000)
    assert not new.classes.text()  # the classes are those of the labels
    assert cut(new) == []
    new.create.click()
    dialog = dialog_of(application, qtbot)
    session = application.services.session
    assert "3 images: 3 in the project, 0 new" in dialog.preview.summary.text()
    run(dialog, application, qtbot)
    assert [info.name for info in session.project.classes] == ["Scratch", "crater"]
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert not dialog.isVisible()
    qtbot.waitUntil(lambda: sum(row.status == "done" for row in session.rows.values()) == 3, timeout=10_000)


def test_dropped_label_files_are_one_import(opened, folder, qtbot):
    assert drop(opened.window, folder / "n0.json", folder / "n1.json", folder / "n1.png")[-1] == ACCEPTED
    dialog = dialog_of(opened, qtbot)
    assert dialog.files.line.text().startswith("3 files and folders in ") and dialog.images_only.isVisible()
    assert "2 images: 0 in the project, 2 new" in dialog.preview.summary.text()
    run(dialog, opened, qtbot)
    assert dialog.result.heading.text() == "2 images labeled"


def test_dropped_text_files_that_list_objects_are_labels(opened, qtbot, tmp_path):
    write_png(tmp_path / "y0.png", np.full((40, 60), 90, np.uint8))
    (tmp_path / "y0.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    (tmp_path / "y1.txt").write_text("")
    assert drop(opened.window, tmp_path / "y0.txt", tmp_path / "y1.txt")[-1] == ACCEPTED
    dialog = dialog_of(opened, qtbot)
    assert dialog.plan.report.format == "yolo" and dialog.plan.report.boxes == 1 and not dialog.images_only.isVisible()


def test_dropped_json_files_that_are_no_labels_are_reported(opened, qtbot, tmp_path):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    with qtbot.waitSignal(opened.services.session.image_list.added, timeout=10_000) as added:
        assert drop(opened.window, tmp_path / "a.json", tmp_path / "b.json")[-1] == ACCEPTED
    assert sorted(added.args[0].left_out) == [("a.json", "kind"), ("b.json", "kind")]


def test_label_files_dropped_without_a_project_fill_in_their_folder(application, folder, qtbot):
    assert drop(application.window, folder / "n0.json", folder / "n1.json")[-1] == ACCEPTED
    qtbot.waitUntil(lambda: application.window.findChild(NewProjectDialog) is not None, timeout=5000)
    assert application.window.findChild(NewProjectDialog).labels.text() == str(folder)


def test_masks_of_numbered_objects_are_imported_as_one_class(opened, qtbot, tmp_path):
    mask = np.zeros((40, 60), np.uint8)
    for number in range(1, 71):
        mask[number // 10 * 5 : number // 10 * 5 + 4, number % 10 * 6 : number % 10 * 6 + 5] = number
    write_png(tmp_path / "in" / "images" / "m.png", np.full((40, 60), 90, np.uint8))
    write_png(tmp_path / "in" / "masks" / "m.png", mask)
    opened.window.label_files.show_import(tmp_path / "in")
    dialog = dialog_of(opened, qtbot)
    assert dialog.preview.options.class_name.isVisible() and not dialog.import_button.isEnabled()
    dialog.preview.options.class_name.setFocus()
    qtbot.keyClicks(dialog.preview.options.class_name, "pore")
    qtbot.keyClick(dialog.preview.options.class_name, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.report.labeled == 1, timeout=10_000)
    assert dialog.preview.mapping.targets(PlannedClass) == {"pore": "pore"}
    run(dialog, opened, qtbot)
    saved = annotation.load_mask(opened.services.session.project, "images/m.png")
    assert np.array_equal(saved > 0, mask > 0) and len(np.unique(saved)) == 2


def test_images_without_a_label_become_done_on_request(dialog, opened, folder, qtbot):
    assert not dialog.preview.options.background.isVisible()
    (folder / "n3.json").unlink()  # a label without its image might be that of the image without a label
    write_png(folder / "good.png", np.full((40, 60), 91, np.uint8))
    dialog.show_paths([folder])
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.report.background == 1, timeout=10_000)
    assert dialog.preview.options.background.isVisible() and not dialog.preview.options.background.isChecked()
    dialog.preview.options.background.setChecked(True)
    run(dialog, opened, qtbot)
    assert dialog.result.heading.text().startswith("4 images labeled")


def masks(folder: Path, values: dict[str, np.ndarray], place: str = "masks") -> Path:
    """Write images of 60 x 40 pixels and their masks."""
    for number, (name, mask) in enumerate(values.items()):
        gray = np.random.default_rng(number).integers(60, 190, (40, 60)).astype(np.uint8)
        write_png(folder / "images" / f"{name}.png", gray)
        write_png(folder / place / f"{name}.png", mask)
    return folder


def square(value: int) -> np.ndarray:
    mask = np.zeros((40, 60), np.uint8)
    mask[5:20, 5:25] = value
    return mask


@pytest.mark.parametrize(
    ("rule", "classes"),
    [("unlisted=name", ["pit", "class_7"]), ("unlisted=ignore", ["pit"]), ("masks=images", ["pit"])],
)
def test_questions_about_masks_are_answered_in_the_preview(opened, tmp_path, qtbot, rule, classes):
    folder = masks(tmp_path / "in", {"a": square(1), "b": square(7 if "unlisted" in rule else 1)})
    (folder / "labels.txt").write_text("background\npit\n")
    if "unlisted" not in rule:
        masks(folder, {"a": square(1), "b": square(1)}, "masks_old")
    opened.window.label_files.show_import(folder)
    dialog = dialog_of(opened, qtbot)
    assert dialog.plan.report.labeled == ("unlisted" in rule) and dialog.preview.question.isVisible()
    # The question is the next step; the answers of the command line and a list that is folded are not mentioned.
    assert not dialog.status.text() and "--pair" not in dialog.preview.account.text.text()
    with qtbot.waitSignal(opened.services.session.label_import.planned, timeout=10_000):
        qtbot.mouseClick(dialog.preview.question.buttons[rule], Qt.MouseButton.LeftButton)
    assert dialog.plan.report.labeled == 2 and not dialog.preview.question.isVisible()
    assert [entry.source for entry in dialog.plan.classes] == classes


def test_inverted_masks_are_inverted_with_one_click(opened, tmp_path, qtbot):
    opened.window.label_files.show_import(masks(tmp_path / "in", {name: 255 - square(255) for name in "abc"}))
    dialog = dialog_of(opened, qtbot)
    with qtbot.waitSignal(opened.services.session.label_import.planned, timeout=10_000):
        qtbot.mouseClick(dialog.preview.concerns.buttons[0], Qt.MouseButton.LeftButton)
    assert not dialog.preview.concerns.isVisible()
    run(dialog, opened, qtbot)
    # A remark alone is folded.
    assert dialog.result.skipped.link.isVisible() and not dialog.result.skipped.table.isVisible()
    project = opened.services.session.project
    assert np.array_equal(annotation.load_mask(project, "images/a.png") > 0, square(1) > 0)
