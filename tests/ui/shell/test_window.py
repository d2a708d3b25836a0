"""Main window: opening, closing, themes, languages, panels, preferences and dialogs."""

from __future__ import annotations

import os

import psutil
import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from workbench.core.project.project import Project
from workbench.session.preferences import Preferences
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.project.help_dialogs import AboutDialog
from workbench.ui.project.new_project_dialog import NewProjectDialog, QuickProjectDialog, names
from workbench.ui.shell.application import Application, unusable_qt
from workbench.ui.widgets.text_labels import available_area, keep_on_screen
from workbench.ui.widgets.theme import NAMES, Theme


def test_closed_window_leaves_no_threads_and_widgets(qapp, qtbot, root):
    def once() -> None:
        application = Application(qapp, Preferences(language="en"))
        application.show()
        with qtbot.waitSignal(application.services.session.current.opened, timeout=10_000):
            application.services.session.open_project(root)
        qtbot.wait(50)
        application.end()

    process = psutil.Process()
    children = process.children()  # servers of the forked programs
    once()  # what libraries keep for the life of the process
    QCoreApplication.sendPostedEvents(None, 52)
    qtbot.wait(1200)  # idle threads of a pool end after a second
    threads, widgets = process.num_threads(), len(QApplication.topLevelWidgets())
    for _ in range(2):
        once()
    QCoreApplication.sendPostedEvents(None, 52)
    qtbot.waitUntil(lambda: process.num_threads() <= threads, timeout=10_000)
    assert len(QApplication.topLevelWidgets()) <= widgets
    assert set(process.children()) <= set(children)
    with Project.open(root):
        pass  # its lock was given back


def test_language_change_rebuilds_the_window(opened, qtbot, monkeypatch):
    session, mask = opened.services.session, opened.services.session.mask
    predicted = []
    monkeypatch.setattr(PredictionOverlay, "_image_opened", lambda self, key: predicted.append(key))
    old = opened.window
    old.canvas.choose_tool("rectangle")
    old.table["language_zh_CN"].trigger()
    qtbot.waitUntil(lambda: opened.window is not old, timeout=5000)
    assert opened.window.training.controls.button.text() == "开始训练"
    assert session.mask is mask and opened.window.canvas.scene.labels is not None
    assert opened.window.images.model.rowCount() == 5
    assert opened.window.canvas.tool == "rectangle"
    qtbot.waitUntil(lambda: predicted == [session.key], timeout=5000)  # its result is shown in the new window
    session.open_image(session.keys[1])
    qtbot.waitUntil(lambda: session.key == session.keys[1], timeout=5000)
    newer = opened.window
    newer.table["language_en"].trigger()
    qtbot.waitUntil(lambda: opened.window is not newer, timeout=5000)
    assert opened.window.training.controls.button.text() == "Train"


@pytest.mark.parametrize("page", ["thumbnails", "evaluation"])
def test_language_change_keeps_page_and_lists(opened, qtbot, page):
    old, filters = opened.window, opened.window.images.filters
    old.images.search.setText("lot1")
    filters.sort.setCurrentIndex(2)
    filters.descending.setChecked(True)
    old.training.heading.setChecked(True)
    old.table[page].trigger()
    listed = old.images.model.keys
    old.table["language_zh_CN"].trigger()
    qtbot.waitUntil(lambda: opened.window is not old)
    new = opened.window
    qtbot.waitUntil(lambda: new.images.model.keys == listed)
    assert (new.images.filters.sort.currentIndex(), new.images.filters.descending.isChecked()) == (2, True)
    assert (new.images.browsing, new.center.in_evaluation) == (page == "thumbnails", page == "evaluation")
    assert new.images.thumbnail_view.isVisible() == (page == "thumbnails")


@pytest.mark.parametrize("name", NAMES)
def test_themes_load_with_sufficient_contrast(style_sheet, application, qapp, name):
    application.window.table[f"theme_{name}"].trigger()
    assert application.services.preferences.theme == name
    theme = Theme.load(name)
    assert qapp.palette().color(QPalette.ColorRole.Text) == theme.color("text")
    assert "@" not in qapp.styleSheet()
    for front, back, minimum in (
        ("text", "panel", 7),
        ("text", "base", 7),
        ("text", "raised", 7),
        ("text", "selection", 4.5),
        ("muted", "panel", 4.5),
        ("muted", "base", 4.5),
        ("danger", "panel", 4.5),
        ("accent_text", "accent", 4.5),
        ("danger_text", "danger_fill", 4.5),
        ("warning", "panel", 3),
        ("success", "panel", 3),
        ("curve_1", "panel", 3),
        ("curve_2", "panel", 3),
        ("curve_3", "panel", 3),
        ("curve_4", "panel", 3),
    ):
        assert contrast(theme.color(front), theme.color(back)) >= minimum, (front, back)


def contrast(front, back) -> float:
    """Contrast ratio of WCAG 2."""

    def luminance(color) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(front), luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_panels_can_be_hidden_and_shown(opened, qtbot):
    window = opened.window
    for id, panel in (
        ("panel_images", window.images),
        ("panel_side", window.side),
        ("panel_training", window.training.body),
    ):
        before = panel.isVisible()
        assert before == (id != "panel_training")  # folded while nothing trains
        window.table[id].trigger()
        assert panel.isVisible() != before
        window.table[id].trigger()
        assert panel.isVisible() == before


def test_preferences_are_saved(qapp, qtbot, root):
    first = Application(qapp, Preferences.load())
    first.show()
    first.window.canvas.set_diameter(33)
    first.window.layers.set_opacity(0.8)
    first.window.training.controls.set_values("resnet", 12.5, "cpu")
    with qtbot.waitSignal(first.services.session.current.opened, timeout=10_000):
        first.window.project_commands.open(root)
    first.services.session.open_image("lot1/new.png")
    qtbot.waitUntil(lambda: first.services.session.key == "lot1/new.png", timeout=5000)
    first.end()
    second = Application(qapp, Preferences.load())
    second.show()
    assert second.window.canvas.diameter == 33
    assert second.window.layers.labels.slider.value() == 80
    assert second.window.training.controls.values() == ("resnet", 12.5, "cpu")
    assert [project.path for project in second.window.project_commands.recent.projects()] == [root]
    buttons = [b.toolTip() for b in second.window.welcome.findChildren(QPushButton)]
    assert str(root) in buttons
    with qtbot.waitSignal(second.services.session.current.opened, timeout=10_000) as opened:
        second.window.project_commands.recent.open_requested.emit(root)
    assert opened.args == ["lot1/new.png"]
    second.end()


def test_locked_project_opens_read_only_with_a_message(application, qtbot, root):
    session, window = application.services.session, application.window
    with Project.open(root):
        with qtbot.waitSignal(session.current.opened, timeout=10_000):
            window.project_commands.open(root)
        assert not session.writable and "read-only" in window.windowTitle()
        assert any(f"process {os.getpid()}" in text for text in window.messages.texts)
        assert window.status.save_state.text() == "Read-only"
        assert not window.training.controls.button.isEnabled()
        window.canvas.refused.emit("read-only")
        assert any("Labels cannot be changed" in text for text in window.messages.texts)
    session.close_project()
    assert window.pages.currentWidget() is window.welcome and not window.messages.texts


def test_dropped_projects_are_opened_and_dropped_images_added(application, qtbot, root, tmp_path):
    session, window = application.services.session, application.window

    def drop(*paths) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        arguments = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(window, QDragEnterEvent(QPoint(10, 10), *arguments))
        QApplication.sendEvent(window, QDropEvent(QPointF(10, 10), *arguments))

    first, second = sorted((root / "pictures").rglob("*.png"))[:2]
    drop(first, second)
    assert any("project first" in text for text in window.messages.texts)
    drop(root / "pictures")  # makes a new project
    qtbot.waitUntil(lambda: window.findChild(QuickProjectDialog) is not None, timeout=10_000)
    window.findChild(QuickProjectDialog).reject()
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        drop(root)
    fresh = tmp_path / "更多 pictures"
    fresh.mkdir()
    (fresh / "x.png").write_bytes((root / "pictures" / "lot1" / "new.png").read_bytes())
    drop(fresh)
    qtbot.waitUntil(lambda: "更多 pictures/x.png" in session.keys, timeout=10_000)


def _row(dialog, field):
    """Return the label and the field of a row of a form."""
    return next(label for label in dialog.findChildren(QLabel) if label.buddy() is field), field


def test_new_project_dialog(application, qtbot, tmp_path, root):
    session, window = application.services.session, application.window
    window.table["new_project"].trigger()
    dialog = window.findChild(NewProjectDialog)
    dialog.name.setText("a/b")
    assert not dialog.create.isEnabled() and "project name" in dialog.message.text()
    assert dialog.message.objectName() == "wrong" and dialog.name.property("wrong")
    dialog.name.setText("新项目 1")
    dialog.location.setText(str(tmp_path))
    dialog.images.setText(str(tmp_path / "nowhere"))
    assert not dialog.create.isEnabled() and dialog.images.property("wrong") and not dialog.name.property("wrong")
    dialog.images.setText(str(root / "pictures"))
    assert dialog.message.objectName() == "muted" and not dialog.images.property("wrong")
    qtbot.waitUntil(lambda: dialog.count.text() == "5 images", timeout=10_000)
    middles = [dialog.mapFromGlobal(w.mapToGlobal(w.rect().center())).y() for w in _row(dialog, dialog.images)]
    assert abs(middles[0] - middles[1]) <= 1
    dialog.classes.setText("划痕，pit; 划痕")
    dialog.verdicts.setText("OK, NG")
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        dialog.create.click()
    assert session.project.root == tmp_path / "新项目 1"
    assert [info.name for info in session.project.classes] == ["划痕", "pit"]
    assert session.project.file.verdicts == ["OK", "NG"] and len(session.keys) == 5
    assert names(" , ;a") == ["a"]


def test_about_dialog_shows_the_version(application):
    application.window.table["about"].trigger()
    page = application.window.findChild(AboutDialog)
    assert any("0." in label.text() for label in page.findChildren(QLabel))
    page.close()


def test_sample_project_is_created_and_opened(application, qtbot, tmp_path, monkeypatch):
    import workbench.core.sample_project as sample

    session, window = application.services.session, application.window
    make = sample.make_sample
    monkeypatch.setattr(sample, "make_sample", lambda root, **options: make(root, small=True, **options))
    window.project_commands._settings.recent_projects[:] = []
    monkeypatch.setattr(type(window.project_commands), "projects_folder", lambda self: tmp_path)
    with qtbot.waitSignal(session.current.opened, timeout=30_000):
        window.welcome.buttons["make_sample"].click()
        window.welcome.buttons["make_sample"].click()  # has no effect until the sample is written
        qtbot.waitUntil(lambda: any("of 16 images" in text for text in window.messages.texts))
    assert session.project.root == tmp_path / "sample" and len(session.keys) >= 16
    assert not (tmp_path / "sample-2").exists() and not window.messages.texts


def test_unusable_qt_version_is_rejected():
    assert "6.12.0" in unusable_qt("6.12.0", (3, 11)) and "pip install" in unusable_qt("6.12.0", (3, 10))
    assert not unusable_qt("6.12.0", (3, 12)) and not unusable_qt("6.11.3", (3, 11))


def test_stored_geometry_fits_on_the_screen(qtbot):
    """As after a change of the scale: the frame of the window is on the screen as well."""
    window = QWidget()
    qtbot.addWidget(window)
    screen = available_area(window)
    window.setGeometry(screen.x() + 60, screen.y() + 10, screen.width() + 300, screen.height() + 200)
    keep_on_screen(window)
    assert screen.contains(window.geometry()) and window.y() > screen.y() + 20
    window.setGeometry(screen.right() - 50, screen.bottom() - 50, 300, 200)
    keep_on_screen(window)
    assert screen.contains(window.geometry()) and window.size() == QSize(300, 200)
