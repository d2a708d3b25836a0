"""Start of the window: what is imported later, and icons that are drawn when they are shown."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon, QPixmap

from workbench.ui.widgets.theme import IconEngine, Theme, ThemeManager, make_icon

# Imported on first use, because each takes a share of the start that the welcome page does not need.
LATER = (
    *("cv2", "defusedxml", "jinja2", "onnx", "onnxruntime", "paddle", "PIL"),
    *("psutil", "pyqtgraph", "regex", "tifffile", "yaml"),
    "importlib.metadata",  # by pydantic with the first validator
    *("workbench.core.adoption", "workbench.core.evaluation", "workbench.core.label_next"),
    *("workbench.core.suggestions.suggestion_files", "workbench.inference.predictor"),
    *("workbench.core.project_check", "workbench.core.documents", "workbench.core.project.formats"),
    *("workbench.ui.check.check_dialog", "workbench.ui.dialogs.preferences_dialog", "workbench.ui.help.guide_window"),
    *("workbench.ui.evaluation.segmentation_evaluation", "workbench.ui.evaluation.verdict_evaluation_page"),
    *("workbench.ui.label_files.label_file_dialogs", "workbench.ui.project.new_project_dialog"),
    *("workbench.ui.predictions.predict_folder_dialog", "workbench.ui.training.settings_dialog"),
)

WELCOME_PAGE = """
import builtins, gc, sys
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from workbench.__main__ import main

class Report(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not painted:
            painted.append(True)
            print(*sys.modules)
            print(gc.isenabled(), builtins.__import__ is plain_import)
            QApplication.instance().quit()
        return False

plain_import, painted = builtins.__orig_import__, []
app = QApplication([])
report = Report()
app.installEventFilter(report)
sys.exit(main([]))
"""


def test_welcome_page_is_shown_without_what_is_needed_later(tmp_path):
    home = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", WELCOME_PAGE], env={**os.environ, **home}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    modules, state = done.stdout.splitlines()[:2]
    assert "workbench.ui.shell.welcome" in modules.split()
    assert set(modules.split()).isdisjoint(LATER)
    assert state == "False True"  # no garbage collection, and no reading of sources by PySide6


def test_names_imported_later_exist():
    for name in LATER:
        if name.startswith("workbench."):
            __import__(name)


@pytest.fixture
def manager(qapp) -> ThemeManager:
    return ThemeManager(qapp)


@pytest.fixture
def icon(manager) -> QIcon:
    return manager.icon("brush")


def colors(pixmap: QPixmap) -> set[str]:
    image = pixmap.toImage()
    points = [(x, y) for x in range(image.width()) for y in range(image.height())]
    return {image.pixelColor(x, y).name() for x, y in points if image.pixelColor(x, y).alpha() == 255}


def test_icon_is_drawn_in_the_size_and_color_of_its_state(icon):
    theme = Theme.load("dark")
    assert icon.pixmap(64).size() == QSize(64, 64)
    assert colors(icon.pixmap(64)) == {theme.color("text").name()}
    assert colors(icon.pixmap(64, QIcon.Mode.Disabled)) == {theme.color("disabled").name()}
    sharp = icon.pixmap(QSize(16, 16), 2.0)
    assert sharp.devicePixelRatio() == 2.0 and sharp.size() == QSize(32, 32)
    assert icon.pixmap(16).devicePixelRatio() == 1.0
    assert icon.pixmap(QSize(40, 16)).size() == QSize(16, 16)


def test_unknown_icon_is_refused(manager):
    with pytest.raises(FileNotFoundError):
        manager.icon("no such icon")


@pytest.mark.parametrize("cloned", [False, True])
def test_copy_of_an_icon_outlives_the_original(manager, cloned):
    manager.theme = Theme("red", True, {"text": "#ff0000"})
    original = make_icon("brush", "text", weakref.ref(manager))
    copy = QIcon(original)
    if cloned:
        copy.addPixmap(QPixmap(8, 8))  # makes Qt clone the engine
    cycle = [original]
    cycle.append(cycle)
    del original, cycle
    gc.collect()
    assert colors(copy.pixmap(32)) == {"#ff0000"}


def test_icon_without_a_manager_is_empty(qapp):
    manager = ThemeManager(qapp)
    copy = QIcon(manager.icon("brush"))
    del manager
    gc.collect()
    assert colors(copy.pixmap(32)) == set()


def test_copies_of_icons_are_freed(manager, monkeypatch):
    def engines() -> int:
        return sum(isinstance(one, IconEngine) for one in gc.get_objects())

    before, original = engines(), make_icon("brush", "text", weakref.ref(manager))
    for _ in range(2000):
        QIcon(original).addPixmap(QPixmap(8, 8))  # makes Qt clone the engine
    assert engines() - before < 1000
    monkeypatch.setattr(IconEngine, "_checked_size", 0)  # the next icon makes it search for deleted engines
    make_icon("brush", "text", weakref.ref(manager))
    assert engines() - before < 5
