"""Layout of the panels while a project is open, and the state of the window that is kept between sessions.

Banner that is shown while the open project's folder is not available, with buttons to continue.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QObject, QSettings, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFileDialog,
    QHBoxLayout,
    QMainWindow,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from workbench.core.problems import ProjectGone
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.predictions.layers_panel import LayersPanel
from workbench.ui.text.formatting import problem_text
from workbench.ui.training.train_controls import TrainControls
from workbench.ui.widgets.message_bar import MessageBar
from workbench.ui.widgets.text_labels import CollapsibleSection, available_area, keep_on_screen

_TOPIC = "folder"


class MissingFolder(QObject):
    """Banner with the problem of the folder and the state of unsaved changes."""

    def __init__(self, window: QWidget, session: Session, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._session, self._messages = window, session, messages
        session.folder.changed.connect(self._show)
        self._show()

    def choose_folder(self) -> None:
        """Let the user choose the folder to which the project was moved."""
        project = self._session.project
        if project is None:
            return
        start = next((parent for parent in project.root.parents if parent.is_dir()), Path.home())
        title = self.tr("Find project folder")
        folder = QFileDialog.getExistingDirectory(self._window, title, str(start))
        if folder and self._session.find_folder(folder):
            self._save()

    def retry(self) -> None:
        """Check whether the folder is available again."""
        if self._session.folder.check():
            self._save()

    def _save(self) -> None:
        if self._session.flush():
            self._messages.show_message(
                "success", self.tr("The project folder is available again. All changes are saved."), topic="save"
            )

    def _show(self) -> None:
        problem = self._session.folder.problem
        if problem is None:
            self._messages.withdraw(_TOPIC)
        elif isinstance(problem, ProjectGone):
            text = self.tr("The project folder {path} is not available.").format(path=problem.fields["path"])
            buttons = [(self.tr("Find folder…"), self.choose_folder), (self.tr("Try again"), self.retry)]
            self._messages.show_message(
                "problem", text, self._unsaved_text(), topic=_TOPIC, buttons=buttons, sticky=True
            )
        else:
            text, advice = problem_text(problem)
            unsaved = self._unsaved_text() if self._session.autosave.unsaved_changes else ""
            self._messages.show_message(
                "problem", text, " ".join(filter(None, (advice, unsaved))), topic=_TOPIC, sticky=True
            )

    def _unsaved_text(self) -> str:
        """Return the text about where unsaved changes are stored until the folder is available."""
        saves = self._session.autosave
        if not saves.unsaved_changes:
            return self.tr("You can continue labeling. Changes are saved when the folder is available again.")
        if saves.rescued:
            text = self.tr("Unsaved changes: {count}. Changes are kept in memory and in a recovery journal.")
        else:
            text = self.tr("Unsaved changes: {count}. Changes are kept in memory.")
        return text.format(count=saves.unsaved_changes)


_TRAINING_HEIGHT = 250  # px, of the open training panel
_CANVAS_SHARE = 0.6  # of its height beside the folded training panel that the canvas keeps at least
_SIDES = (230, 0.15, 340), (250, 0.15, 340)  # px, share of the width, px: widths of the image list and the side panel
_LEAST_SIDE = 240  # px, least width of the side panel
_LEAST_CENTER = 540  # px, for the buttons of the header
_LEAST_WIDTH = 1024  # px, of the window with large texts on a small screen
_SIZE = QSize(1440, 900)  # px, at the first start
_ROOM = QSize(120, 120)  # px that a screen must have beside the window; otherwise the window is maximized


class Workspace(QSplitter):
    """Image list, canvas and side panel above the training panel. The positions of the splitters are saved."""

    def __init__(
        self,
        images: QWidget,
        header: QWidget,
        options: QWidget,
        tools: QWidget,
        canvas: QWidget,
        side: QWidget,
        training: QWidget,
    ) -> None:
        super().__init__(Qt.Orientation.Vertical, childrenCollapsible=False)
        center = QWidget(minimumWidth=_LEAST_CENTER)
        column = without_margins(QVBoxLayout(center))
        column.addWidget(header)
        column.addWidget(options)
        row = without_margins(QHBoxLayout())
        row.addWidget(tools)
        row.addWidget(canvas, 1)
        column.addLayout(row, 1)
        self._of_canvas = (header, options, tools, side)
        self._surroundings = (images, header, options, side, tools)  # hidden during an evaluation
        self._hidden: list[QWidget] = []
        self._covered: list[QWidget] = []  # hidden while thumbnails are shown
        self._above = (header, options)
        self._training = training
        self._training_height = _TRAINING_HEIGHT
        self._strip = 0  # px, height of the folded training panel
        self._folded = False
        self.splitterMoved.connect(lambda *_: self._limit_training())
        self._columns = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        for widget in (images, center, side):
            self._columns.addWidget(widget)
        self._columns.setStretchFactor(1, 1)
        self._columns.setSizes([230, 800, 250])
        self.addWidget(self._columns)
        self.addWidget(training)
        self.setStretchFactor(0, 1)

    def minimumSizeHint(self) -> QSize:
        """Return the least size of the panels beside each other, or what the screen has room for with large texts."""
        least = super().minimumSizeHint()
        least.setWidth(min(least.width(), max(_LEAST_WIDTH, available_area(self).width())))
        return least

    def show_thumbnails(self, on: bool) -> None:
        """Hide what belongs to the canvas and its image, while thumbnails are shown in its place."""
        if on:
            self._covered = [widget for widget in self._of_canvas if not widget.isHidden()]
        for widget in self._covered:
            widget.setHidden(on)

    def show_center_only(self, on: bool) -> None:
        """Hide all panels except the central one, or show them again."""
        if on:
            self._hidden = [widget for widget in self._surroundings if not widget.isHidden()]
        for widget in self._hidden:
            widget.setVisible(not on)

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._resize_folded()
        return handled

    def _resize_folded(self) -> None:
        """Resize on folding: a splitter alone would keep the height of a folded panel as a gap."""
        maximum, sizes = self._training.maximumHeight(), self.sizes()
        total, folded = sum(sizes), self._training.maximumHeight() <= self._training.minimumSizeHint().height()
        if folded:
            self._strip = maximum
            if not self._folded and sizes[1] > maximum:
                self._training_height = sizes[1]
            if sizes[1] != maximum:
                self.setSizes([total - maximum, maximum])
        elif self._folded:
            self.setSizes([total - self._training_height, self._training_height])
        self._folded = folded
        self._limit_training()

    def _limit_training(self) -> None:
        """Keep the canvas large enough beside the open training panel."""
        sizes = self.sizes()
        canvas = sum(sizes) - self._strip - sum(widget.height() for widget in self._above if widget.isVisible())
        most = self._strip + int((1 - _CANVAS_SHARE) * canvas)
        if not self._folded and sizes[1] > most:
            self.setSizes([sum(sizes) - most, most])

    def restore(self, settings: QSettings, width: int) -> None:
        """Restore the positions, or set those suitable for a window of this width."""
        state = settings.value("geometry/across")
        if isinstance(state, QByteArray):
            self._columns.restoreState(state)
        else:
            left, right = (min(max(least, round(share * width)), most) for least, share, most in _SIDES)
            self._columns.setSizes([left, width - left - right, right])
        self._training_height = settings.value("geometry/training", _TRAINING_HEIGHT, int)

    def save(self, settings: QSettings) -> None:
        settings.setValue("geometry/across", self._columns.saveState())
        height = self._training_height if self._folded else self.sizes()[1]
        settings.setValue("geometry/training", height)


class SidePanel(QScrollArea):
    """Scroll area with sections one below another. It is as wide as they need, which depends on the size of texts."""

    def __init__(self, sections: list[CollapsibleSection]) -> None:
        super().__init__(objectName="side", widgetResizable=True)
        body = QWidget(objectName="sideBody")
        column = without_margins(QVBoxLayout(body))
        column.setContentsMargins(0, 4, 0, 8)
        for section in sections:
            column.addWidget(section)
        column.addStretch(1)
        self.setAccessibleName(QCoreApplication.translate("Window", "Side panel"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(body)
        self.verticalScrollBar().rangeChanged.connect(self._keep_focus_visible)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        frame = 2 * self.frameWidth() + self.verticalScrollBar().sizeHint().width()
        self.setMinimumWidth(max(_LEAST_SIDE, self.widget().minimumSizeHint().width() + frame))

    def _keep_focus_visible(self, *_: object) -> None:
        """Scroll to the widget with the focus after a section above it has unfolded."""
        focused = QApplication.focusWidget()
        if focused is not None and self.isAncestorOf(focused):
            # The layout must be complete before scrolling.
            QTimer.singleShot(0, focused, lambda: self.ensureWidgetVisible(focused, 0, 0))


def without_margins(layout: QBoxLayout) -> QBoxLayout:
    """Remove margins and spacing from a layout, and return it."""
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout


def maximize_on_small_screen(window: QMainWindow) -> None:
    """Maximize a window at the first start on a screen without room for it."""
    available = available_area(window).size()
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
        available = available_area(self.window)
        state = settings.value("geometry/window")
        if not (isinstance(state, QByteArray) and self.window.restoreGeometry(state)):
            self.window.resize(_SIZE.boundedTo(available.size()))
        elif not self.window.isMaximized() and not self.window.isFullScreen():
            keep_on_screen(self.window)
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
