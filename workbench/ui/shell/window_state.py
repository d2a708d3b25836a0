"""State of the window that is kept between sessions: geometry, tool options and the choices of the panels."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt
from PySide6.QtWidgets import QMainWindow

from workbench.session.preferences import Preferences
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.predictions.layers_panel import LayersPanel
from workbench.ui.shell.workspace import Workspace
from workbench.ui.training.train_controls import TrainControls

_SIZE = QSize(1440, 900)  # px, at the first start
_ROOM = QSize(120, 120)  # px that a screen must have beside the window; otherwise the window is maximized


def maximize_on_small_screen(window: QMainWindow) -> None:
    """Maximize a window at the first start on a screen without room for it."""
    available = window.screen().availableGeometry().size()
    needed = _SIZE + _ROOM
    if not QSettings().contains("geometry/window") and needed.boundedTo(available) != needed:
        window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)


@dataclass(frozen=True, kw_only=True)
class WindowState:
    """Parts of the window whose state is stored, and the preferences."""

    window: QMainWindow
    workspace: Workspace
    canvas: Canvas
    layers: LayersPanel
    controls: TrainControls
    preferences: Preferences

    def restore(self) -> None:
        """Apply the stored state, or the defaults."""
        preferences, settings = self.preferences, QSettings()
        available = self.window.screen().availableGeometry()
        state = settings.value("geometry/window")
        if not (isinstance(state, QByteArray) and self.window.restoreGeometry(state)):
            self.window.resize(_SIZE.boundedTo(available.size()))
        self.workspace.restore(settings, self.window.width())
        self.canvas.options.restore(settings)
        self.canvas.set_diameter(max(1, round(2 * preferences.brush_radius)))
        self.layers.set_opacity(preferences.overlay_opacity)
        self.controls.set_values(preferences.model, preferences.minutes, preferences.device)

    def save(self) -> None:
        """Store the state and the preferences."""
        preferences, settings = self.preferences, QSettings()
        settings.setValue("geometry/window", self.window.saveGeometry())
        self.workspace.save(settings)
        self.canvas.options.save(settings)
        preferences.brush_radius = self.canvas.diameter / 2
        preferences.overlay_opacity = self.canvas.scene.label_style.opacity
        preferences.model, preferences.minutes, preferences.device = self.controls.values()
        preferences.save()
