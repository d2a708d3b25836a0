"""The window: places the panels and connects them; nothing else."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QScrollArea, QSplitter, QStackedWidget, QToolBar, QVBoxLayout, QWidget

from workbench.ui.actions import Actions, Parts
from workbench.ui.appearance import Appearance
from workbench.ui.canvas.canvas import Canvas
from workbench.ui.commands import Commands
from workbench.ui.dialogs.keys import Keys
from workbench.ui.drops import Drops
from workbench.ui.header import Header
from workbench.ui.menus import TOOLS, fill_menu_bar, fill_tool_bar
from workbench.ui.messages import Messages
from workbench.ui.overlay import Overlay
from workbench.ui.panels.classes import ClassesPanel
from workbench.ui.panels.layers import DisplayPanel, LayersPanel
from workbench.ui.panels.pictures import PicturesPanel
from workbench.ui.panels.section import Section
from workbench.ui.panels.training import TrainingPanel
from workbench.ui.panels.verdict import VerdictPanel
from workbench.ui.reports import Reports
from workbench.ui.rooms import Rooms
from workbench.ui.status import Status
from workbench.ui.theme import Style
from workbench.ui.welcome import Welcome


class Window(QMainWindow):
    """One window on one session."""

    closed = Signal()

    def __init__(self, rooms: Rooms, style: Style) -> None:
        super().__init__()
        self._rooms = rooms
        self.setWindowIcon(style.app_icon())
        self.setMinimumSize(QSize(960, 600))
        self._make(rooms, style)
        self._place(style)
        self._connect(rooms, style)
        self._restore()
        self._project_changed()

    def _make(self, rooms: Rooms, style: Style) -> None:
        session = rooms.session
        self.messages = Messages(style)
        self.canvas = Canvas(session)
        self.pictures = PicturesPanel(session, style)
        self.classes = ClassesPanel(session, style)
        self.verdict = VerdictPanel(session, style)
        self.layers = LayersPanel(self.canvas)
        self.display = DisplayPanel(self.canvas)
        self.training = TrainingPanel(session, rooms.training, rooms.exporter, style)
        self.overlay = Overlay(session, rooms.training, rooms.predictions, self.canvas)
        self.commands = Commands(self, session, rooms.settings, self.messages)
        self.appearance = Appearance(self, rooms.settings, style)
        self.reports = Reports(rooms, self.messages, self.commands)
        parts = Parts(session, self.canvas, self.pictures, self.verdict, self.layers, self.training, self.commands,
                      self.appearance, self.overlay)  # fmt: skip
        self.actions_ = Actions(parts, style, self)
        self.header = Header(session, self.pictures, self.actions_)
        self.status = Status(session, self.canvas)
        self.welcome = Welcome(self.actions_, style)

    def _place(self, style: Style) -> None:
        fill_menu_bar(self.menuBar(), self.actions_, self.commands.recent_menu)
        self.addActions(list(self.actions_.all()))
        self.setStatusBar(self.status)
        self.tools = QToolBar(objectName="tools", orientation=Qt.Orientation.Vertical, iconSize=QSize(20, 20))
        fill_tool_bar(self.tools, TOOLS, self.actions_)
        centre = QWidget()
        column = _box(QVBoxLayout(centre))
        column.addWidget(self.header)
        row = _box(QHBoxLayout())
        row.addWidget(self.tools)
        row.addWidget(self.canvas, 1)
        column.addLayout(row, 1)
        self.side = self._side(style)
        self.across = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        for widget in (self.pictures, centre, self.side):
            self.across.addWidget(widget)
        self.across.setStretchFactor(1, 1)
        self.across.setSizes([230, 800, 250])
        self.down = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self.down.addWidget(self.across)
        self.down.addWidget(self.training)
        self.down.setStretchFactor(0, 1)
        self.down.setSizes([560, 250])
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.down)
        whole = QWidget()
        outer = _box(QVBoxLayout(whole))
        outer.addWidget(self.messages)
        outer.addWidget(self.pages, 1)
        self.setCentralWidget(whole)
        self.appearance.set_panels(
            {"pictures": self.pictures, "side": self.side},
            [self.canvas, self.pictures.view, self.classes.view, self.training.controls.button],
        )

    def _side(self, style: Style) -> QScrollArea:
        body = QWidget(objectName="sideBody")
        column = _box(QVBoxLayout(body))
        column.setContentsMargins(0, 4, 0, 8)
        classes = Section("classes", self.tr("Classes"), self.classes, style)
        classes.add_button(self.classes.add_button)
        verdict = Section("verdict", self.tr("Verdict"), self.verdict, style)
        verdict.add_button(self.verdict.add_button)
        for section in (
            classes, verdict, Section("layers", self.tr("Layers"), self.layers, style),
            Section("display", self.tr("Display"), self.display, style),
        ):  # fmt: skip
            column.addWidget(section)
        column.addStretch(1)
        area = QScrollArea(objectName="side", widgetResizable=True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setMinimumWidth(220)
        area.setWidget(body)
        return area

    def _connect(self, rooms: Rooms, style: Style) -> None:
        session, actions = rooms.session, self.actions_
        self.drops = Drops(self)
        self.drops.dropped.connect(self.commands.drop)
        self.welcome.chosen.connect(self.commands.open)
        self.pictures.wants_files.connect(self.commands.add_pictures)
        self.pictures.wants_folder.connect(self.commands.add_folder)
        self.canvas.refused.connect(self.reports.refused)
        self.training.said.connect(self.messages.say)
        self.training.wants_export.connect(rooms.exporter.start)
        self.overlay.told.connect(self.header.say_model)
        rooms.telemetry.sampled.connect(self.training.sampled)
        actions.keys_wanted.connect(self._show_keys)
        session.project_opened.connect(self._project_changed)
        session.project_closed.connect(self._project_changed)
        session.picture_opened.connect(self._title)
        style.changed.connect(self._restyle)
        for signal in (
            session.project_opened, session.project_closed, session.pictures_listed, session.picture_opened,
            session.picture_failed, session.history_changed, session.note_changed, session.classes_changed,
            self.training.changed, self.canvas.tool_changed, rooms.predictions.predicted,
        ):  # fmt: skip
            signal.connect(actions.refresh)
        self._style = style
        self._restyle()

    def _project_changed(self) -> None:
        project = self._rooms.session.project
        self.pages.setCurrentWidget(self.welcome if project is None else self.down)
        if project is None:
            self.welcome.show_recent(self.commands.recent())
        self._title()

    def _title(self, *_: object) -> None:
        project = self._rooms.session.project
        read_only = self.tr(" (read-only)") if project and not project.writable else ""
        self.setWindowTitle(f"{project.file.name}{read_only} – Defect Workbench" if project else "Defect Workbench")

    def _restyle(self) -> None:
        theme = self._style.theme
        self.canvas.backdrop, self.canvas.frame = theme.color("canvas"), theme.color("border")
        self.canvas.update()

    def _show_keys(self) -> None:
        Keys(self.actions_, self).show()

    # --- where everything stood ------------------------------------------------------------------

    def _restore(self) -> None:
        settings, memory = self._rooms.settings, QSettings()
        self.resize(1280, 800)
        for name, part in (("window", self), ("across", self.across), ("down", self.down)):
            state = memory.value(f"geometry/{name}")
            if isinstance(state, QByteArray):
                part.restoreGeometry(state) if part is self else part.restoreState(state)
        self.canvas.set_diameter(max(1, round(2 * settings.brush_radius)))
        self.layers.set_opacity(settings.overlay_opacity)
        self.training.controls.set_wishes(settings.model, settings.minutes, settings.device)

    def _remember(self) -> None:
        settings, memory = self._rooms.settings, QSettings()
        memory.setValue("geometry/window", self.saveGeometry())
        memory.setValue("geometry/across", self.across.saveState())
        memory.setValue("geometry/down", self.down.saveState())
        settings.brush_radius = self.canvas.diameter / 2
        settings.overlay_opacity = self.canvas.label_style.opacity
        settings.model, settings.minutes, settings.device = self.training.controls.wishes()
        settings.save()

    def closeEvent(self, event) -> None:
        self._remember()
        self._rooms.session.flush()
        for part in (self.canvas, self.pictures, self.commands):
            part.end()
        super().closeEvent(event)
        self.closed.emit()


def _box(layout):
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout
