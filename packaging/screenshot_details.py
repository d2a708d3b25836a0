"""Views of results, conflicts, lists and the keyboard focus in dialogs; see `screenshot_views`."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from screenshot_stage import Stage
from screenshot_views import View, evaluation

from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.region_table import RegionLimit
from workbench.ui.dialogs.preferences_dialog import ShortcutsPage
from workbench.ui.label_files.label_file_dialogs import ImportDialog, LabelExportDialog
from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
from workbench.ui.widgets.dialogs import Question

# Labels of a video with content that a mask cannot hold.
_VIDEO = """<annotations>
<track id="0" label="dent"><box frame="0" keyframe="1" outside="0" xtl="5" ytl="5" xbr="60" ybr="60"/></track>
<image id="1" name="{image}" width="{width}" height="{height}">
<tag label="bent"/><tag label="rust"/><skeleton label="scratch"/>
<box label="scratch" xtl="20" ytl="20" xbr="90" ybr="80"><attribute name="depth">2</attribute></box></image>
</annotations>"""


def shortcut_conflict(stage: Stage) -> None:
    """A recorded shortcut that another command has."""
    stage.follow("unet")
    page = stage.window.dialogs.show_settings("keyboard").findChild(ShortcutsPage)
    assert page is not None
    page.select("sources")
    page.recorder.setKeySequence(QKeySequence("Ctrl+O"))
    stage.pause(1)


def history(stage: Stage) -> None:
    """List of the steps that can be undone."""
    stage.open_copy("in-training", labels=True)
    stage.run("done_next")
    stage.run("history")
    stage.pause(0.5)


def remove_question(stage: Stage) -> None:
    stage.open_copy("in-training", labels=True)
    stage.run("remove_image")
    stage.wait(lambda: stage.window.findChildren(Question))


def import_losses(stage: Stage) -> None:
    """Preview of an import with content that is left out, and with missing images."""
    stage.open_project()
    folder = stage.sample.with_name("video")
    folder.mkdir(exist_ok=True)
    row = stage.session.rows[stage.session.keys[1]]
    text = _VIDEO.format(image=row.key.rpartition("/")[2], width=row.width, height=row.height)
    (folder / "annotations.xml").write_text(text, "utf-8")
    stage.window.label_files.show_import(folder)
    dialog = stage.window.findChild(ImportDialog)
    assert dialog is not None
    stage.wait(lambda: not dialog.preview.skipped.isHidden())
    dialog.preview.skipped.link.setChecked(True)
    stage.pause(0.5)


def export_losses(stage: Stage) -> None:
    """Report on an export of labels in a format without verdicts."""
    stage.follow("unet")
    stage.run("export_labels")
    dialog = stage.window.findChild(LabelExportDialog)
    assert dialog is not None
    dialog.format.setCurrentIndex(dialog.format.findData("yolo"))
    dialog.start()
    stage.wait(lambda: dialog.folder_button.isVisible())


def folder_results(stage: Stage) -> None:
    """Results of a folder of images, with the preview of one."""
    stage.follow("unet")
    stage.run("predict_folder")
    dialog = stage.window.findChild(PredictFolderDialog)
    assert dialog is not None
    dialog.images.line.setText(str(stage.sample / "pictures" / "lot-01"))
    dialog.out.line.setText(str(stage.sample.with_name("folder-results")))
    dialog.start()
    stage.wait(lambda: not dialog.job.running and dialog.results.rowCount() > 5)
    dialog.table.selectRow(3)
    stage.pause(1.5)
    stage.parts = (dialog,)


def saved_report(stage: Stage) -> None:
    """Message after the report of an evaluation was saved."""
    evaluation(stage)
    result = stage.window.evaluation.shown_evaluation()
    assert result is not None
    stage.window.evaluation.reports.write(result, stage.sample.with_name("report.html"))
    stage.wait(lambda: not stage.services.evaluation_report.running and stage.window.messages.texts)


def finished_training(stage: Stage) -> None:
    """Unfolded training panel with the curves of a finished run."""
    stage.follow("unet")
    stage.run("panel_training")
    stage.cleanup.append(lambda: stage.run("panel_training"))
    stage.pause(3)


def tool(command: str, stage: Stage) -> None:
    """Options of a tool over the canvas."""
    stage.follow("unet")
    stage.run(command)
    stage.cleanup.append(lambda: stage.run("brush"))
    stage.pause(0.3)


def search_error(stage: Stage) -> None:
    stage.open_project()
    stage.window.images.search.setText("class:unknown prob:high")
    stage.pause(1)


def submenus(stage: Stage) -> None:
    """All submenus of the menu bar, side by side."""
    stage.follow("unet")
    place, width = QPoint(10, 40), 0
    for title in stage.window.menuBar().actions():
        for action in title.menu().actions():
            menu = action.menu()
            if menu is not None and not menu.isEmpty():
                if place.y() + menu.sizeHint().height() > stage.window.height():
                    place, width = QPoint(place.x() + width + 4, 40), 0
                width = max(width, menu.sizeHint().width())
                menu.popup(stage.window.mapToGlobal(place))
                place.setY(place.y() + menu.sizeHint().height() + 4)
    stage.pause(0.3)


def separation(stage: Stage) -> None:
    """Wall of thumbnails on which four images are decided."""
    stage.open_copy("new-surfaces")
    stage.run("separate")
    view = stage.window.images.thumbnail_view
    for key in (Qt.Key.Key_B, Qt.Key.Key_G, Qt.Key.Key_G, Qt.Key.Key_B):
        stage.wait(lambda: view.preview.key is not None and view.preview.painted == view.preview.key)
        QTest.keyClick(QApplication.focusWidget() or view.list_view, key)
    stage.pause(1.5)


def coach_mark(number: int, stage: Stage) -> None:
    """Explanation of one of the controls."""
    stage.open_project()
    stage.run("coach_marks")
    for _ in range(number - 1):
        stage.window.dialogs.coach_marks.go_on()


def stopped_step(stage: Stage) -> None:
    """Step to an image that is not done, of which the search hides all."""
    stage.open_project()
    stage.window.images.search.setText(next(key for key, row in stage.session.rows.items() if row.status == "done"))
    stage.pause(0.5)
    stage.run("next_open")


def model_menu(stage: Stage) -> None:
    """Models that can be used."""
    stage.follow("unet")
    chip = stage.window.stage_bar.chip
    chip.choices.popup(chip.mapToGlobal(chip.rect().bottomLeft()))
    stage.pause(0.3)


def inspection_area(stage: Stage) -> None:
    """Inspection area with a part that is left out, and two zones."""
    stage.open_copy("area", labels=True)
    image = stage.session.image
    assert image is not None
    height, width = image.shape[:2]
    parts = (
        (0.06, 0.08, 0.94, 0.92, False, ""),
        (0.40, 0.08, 0.60, 0.25, True, ""),
        (0.10, 0.12, 0.35, 0.60, False, "sealing face"),
        (0.55, 0.45, 0.90, 0.88, False, "rim"),
    )
    polygons = tuple(
        AreaPolygon(((x0 * width, y0 * height), (x1 * width, y0 * height), (x1 * width, y1 * height),
                     (x0 * width, y1 * height)), excluded, zone)
        for x0, y0, x1, y1, excluded, zone in parts
    )  # fmt: skip
    stage.session.areas.use((InspectionArea(width, height, polygons),))
    stage.run("inspection_area")
    stage.pause(0.5)


def region_rule(stage: Stage) -> None:
    """Sentences of a verdict rule, one of them for a zone."""
    evaluation(stage)
    panel = stage.window.evaluation.segmentation.verdict
    panel.rule.setCurrentIndex(panel.rule.findData("region"))
    panel.rule.activated.emit(panel.rule.currentIndex())
    panel.limits.show_classes({1: "scratch", 2: "pit"}, None, ("rim", "sealing face"))
    panel.limits.show_limits((RegionLimit(1, most=2, length=40.0), RegionLimit(2, zone="rim")))
    panel.limits.changed.emit()
    stage.pause(2)


def tabbed(command: str, steps: int, stage: Stage) -> None:
    """Keyboard focus in a dialog after some presses of Tab."""
    stage.follow("unet")
    stage.run(command)
    stage.pause(1)
    dialog = next(each for each in stage.window.findChildren(QDialog) if each.isVisible())
    dialog.activateWindow()
    stage.pause(0.2)
    for _ in range(steps):
        QTest.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Tab)
    stage.pause(0.3)


_TABBED = {"export_labels": 7, "sources": 7, "training_settings": 7}  # dialog -> presses of Tab
FOCUS_VIEWS: dict[str, View] = {
    f"focus_{command}_{steps}": partial(tabbed, command, steps)
    for command, most in _TABBED.items()
    for steps in range(most + 1)
}
_HARMLESS: dict[str, View] = {
    view.__name__: view for view in (shortcut_conflict, finished_training, folder_results, export_losses, submenus)
}
_TOOLS = ("threshold", "wand", "crack", "box_cut", "polygon", "region")
_HARMLESS |= {f"tool_{name}": partial(tool, name) for name in _TOOLS}
_HARMLESS["model_menu"] = model_menu
DETAIL_VIEWS: dict[str, View] = {
    view.__name__: view
    for view in (
        *(history, remove_question, import_losses, saved_report, search_error),
        *(separation, stopped_step, inspection_area, region_rule),
    )
} | _HARMLESS
DETAIL_VIEWS |= {f"coach_mark_{number}": partial(coach_mark, number) for number in range(1, 7)}
HARMLESS_DETAILS = frozenset({*_HARMLESS, *FOCUS_VIEWS})
