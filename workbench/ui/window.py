"""Main window: creates the panels and connects them."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings, QSize, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget

from workbench.ui.actions import Actions
from workbench.ui.advice import Advice
from workbench.ui.appearance import Appearance
from workbench.ui.canvas.canvas import Canvas
from workbench.ui.canvas.option_bar import OptionBar
from workbench.ui.canvas.page_plate import PagePlate
from workbench.ui.canvas.regions import RegionWalk
from workbench.ui.commands import Commands
from workbench.ui.dialogs.keys import Keys
from workbench.ui.drops import Drops
from workbench.ui.header import Header
from workbench.ui.leaving import Leaving, Way
from workbench.ui.menus import fill_menu_bar
from workbench.ui.messages import Messages
from workbench.ui.missing_folder import MissingFolder
from workbench.ui.overlay import Overlay
from workbench.ui.panels.centre import Centre
from workbench.ui.panels.classes import ClassesPanel
from workbench.ui.panels.display import DisplayPanel
from workbench.ui.panels.history import HistoryPanel
from workbench.ui.panels.keep_learning import KeepLearning
from workbench.ui.panels.layers import LayersPanel
from workbench.ui.panels.pictures import PicturesPanel
from workbench.ui.panels.proposals import ProposalsPanel
from workbench.ui.panels.section import Section
from workbench.ui.panels.training import TrainingPanel
from workbench.ui.panels.verdict import VerdictPanel
from workbench.ui.proposing import Proposing
from workbench.ui.recipes import Recipes
from workbench.ui.reports import Reports
from workbench.ui.review.opening import Opening
from workbench.ui.review.page import ReviewPage
from workbench.ui.rooms import Rooms
from workbench.ui.rows import Parts
from workbench.ui.status import Status
from workbench.ui.theme import Style
from workbench.ui.typing_keys import EditorKeys
from workbench.ui.welcome import Welcome
from workbench.ui.workspace import Workspace, side_panel


class Window(QMainWindow):
    """Main window of one session."""

    closed = Signal()

    def __init__(self, rooms: Rooms, style: Style) -> None:
        super().__init__()
        self._rooms, self._style = rooms, style
        self._retired = False
        self.setWindowIcon(style.app_icon())
        self.setMinimumSize(QSize(960, 600))
        self._make(rooms, style)
        self._place(style)
        self._connect(rooms, style)
        self._restore()
        self._restyle()
        self._project_changed()

    def _make(self, rooms: Rooms, style: Style) -> None:
        session = rooms.session
        self.messages = Messages(style)
        self.canvas = Canvas(session)
        self.walk = RegionWalk(self.canvas)
        self.canvas.add_guest(PagePlate(self.canvas, rooms.pages))
        rooms.pages.turned.connect(self.canvas.show_page)
        self.pictures = PicturesPanel(session, style, rooms.guide)
        self.advice = Advice(session, rooms.guide, rooms.errors, self.pictures, self.canvas, self.messages)
        self.classes = ClassesPanel(session, style)
        self.verdict = VerdictPanel(session, style)
        self.history = HistoryPanel(session, style)
        self.overlay = Overlay(session, rooms.training, rooms.predictions, rooms.thresholds, self.canvas,
                               self.pictures.model)  # fmt: skip
        self.layers = LayersPanel(self.canvas, rooms.comparison, self.overlay)
        self.display = DisplayPanel(self.canvas, rooms.displays)
        self.training = TrainingPanel(session, rooms.training, rooms.exporter, rooms.story, rooms.shelf, style)
        self.training.controls.add_line(KeepLearning(rooms.kept))
        self.proposing = Proposing(rooms, self.canvas, self.layers, self.overlay, self.messages)
        self.proposals = ProposalsPanel(session, self.proposing, style)
        self.review = ReviewPage(session, rooms.review, style)
        self.reviewing = Opening(session, rooms.review, self.review, self.overlay, self.canvas, self.training,
                                 self.pictures.view)  # fmt: skip
        self.recipes = Recipes(session, rooms.wishes, self.training, style)
        self.leaving = Leaving(self, rooms, self.messages)
        self.commands = Commands(self, session, rooms.settings, self.messages, self.leaving)
        self.appearance = Appearance(self, rooms.settings, style)
        self.reports = Reports(rooms, self.messages, self.commands)
        self.missing_folder = MissingFolder(self, session, self.messages)
        parts = Parts(session, self.canvas, self.pictures, self.verdict, self.layers, self.training, self.commands,
                      self.appearance, self.overlay, self.walk, self.display, rooms.comparison,
                      rooms.displays, self.history, self.proposing, self.advice, self.reviewing,
                      self.recipes, rooms.kept, rooms.pages)  # fmt: skip
        self.table = Actions(parts, style, self)
        self.header = Header(session, self.pictures, self.table)
        self.options = OptionBar(self.canvas, session)
        self.status = Status(session, self.canvas, lambda: self.overlay.run)
        self.welcome = Welcome(self.table, style)

    def _place(self, style: Style) -> None:
        fill_menu_bar(self.menuBar(), self.table, self.commands.recent_menu)
        self.addActions(list(self.table.all()))
        self.setStatusBar(self.status)
        self.side = side_panel([
            Section("classes", self.tr("Classes"), self.classes, style, self.classes.add_button),
            Section("verdict", self.tr("Verdict"), self.verdict, style, self.verdict.add_button),
            Section("proposals", self.tr("Proposals"), self.proposals, style),
            Section("layers", self.tr("Layers"), self.layers, style),
            Section("display", self.tr("Display"), self.display, style),
            Section("history", self.tr("History"), self.history, style),
        ])  # fmt: skip
        self.centre = Centre(self.canvas, self.pictures, self.review)
        self.reviewing.set_centre(self.centre)
        self.workspace = Workspace(self.pictures, self.header, self.options, self.centre, self.side, self.training)
        self.workspace.fill_tools(self.table)
        self.training.review.setDefaultAction(self.table["review"])
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.workspace)
        self.setCentralWidget(self.pages)
        self.messages.float_over(self.pages)
        self.appearance.set_panels(
            {"pictures": self.pictures, "side": self.side},
            [self.canvas, self.pictures.view, self.classes.view, self.training.controls.button],
        )

    def _connect(self, rooms: Rooms, style: Style) -> None:
        session, table = rooms.session, self.table
        self.reviewing.switched.connect(self.workspace.make_room)
        rooms.review.failed.connect(self.messages.problem)
        self.review.verdicts.failed.connect(self.messages.problem)
        self.editor_keys = EditorKeys([self.canvas, self.pictures.sheet.sheet, self.pictures.sheet.table],
                                      table.reserved(), self)  # fmt: skip
        self.drops = Drops(self, self.commands.drop)
        self.welcome.chosen.connect(self.commands.open)
        self.pictures.wants_files.connect(self.commands.add_pictures)
        self.pictures.wants_folder.connect(self.commands.add_folder)
        self.canvas.refused.connect(self.reports.refused)
        self.training.view.said.connect(self.reports.training_said)
        self.training.recovered.connect(self.reports.training_recovered)
        self.training.wants_export.connect(rooms.exporter.start)
        self.overlay.told.connect(self.header.say_model)
        rooms.kept.changed.connect(self.training.refresh)  # its best model can be exported from then on
        self.canvas.tool_changed.connect(lambda: self.canvas.ruler.switch(False))
        session.picture_previewed.connect(lambda _, small, size: self.canvas.show_preview(small, size))
        self.walk.stepped.connect(self.status.say_step)
        self.walk.arrived.connect(self.canvas.proposals.light_in)
        rooms.displays.scale_changed.connect(lambda: self.canvas.ruler.set_scale(rooms.displays.um_per_pixel))
        rooms.shelf.failed.connect(self.messages.problem)
        self.training.view.files.failed.connect(self.messages.problem)
        self.training.view.files.saved.connect(self.reports.curves_saved)
        table.keys_wanted.connect(self._show_keys)
        session.project_opened.connect(self._project_changed)
        session.project_closed.connect(self._project_changed)
        session.folder.changed.connect(self._name_window)
        style.changed.connect(self._restyle)
        for signal in (
            session.project_opened, session.project_closed, session.pictures_listed, session.picture_opened,
            session.picture_failed, session.history_changed, session.note_changed, session.classes_changed,
            self.training.changed, self.pictures.sheet_wanted, self.canvas.tool_changed, rooms.predictions.predicted,
            self.canvas.ruler.switched, self.canvas.display_changed, rooms.pages.changed, rooms.comparison.changed,
            rooms.comparison.switched, self.proposing.changed,
            rooms.guide.changed, rooms.errors.changed, self.overlay.changed, rooms.kept.changed,
            self.layers.look.mode_changed, self.reviewing.switched,
        ):  # fmt: skip
            signal.connect(table.refresh)

    # --- events ----------------------------------------------------------------------------------

    def _project_changed(self) -> None:
        project = self._rooms.session.project
        if project is None:
            self.pages.setCurrentWidget(self.welcome)
            self.welcome.show_recent(self.commands.recent())
            self.welcome.buttons[0].setFocus()
            self.setWindowTitle("Defect Workbench")
        else:
            self.pages.setCurrentWidget(self.workspace)
            self.canvas.setFocus()
            self._name_window()

    def _name_window(self) -> None:
        project = self._rooms.session.project
        if project is not None:
            name = (
                project.file.name if project.writable else self.tr("{name} (read-only)").format(name=project.file.name)
            )
            self.setWindowTitle(f"{name} – Defect Workbench")

    def _restyle(self) -> None:
        theme = self._style.theme
        self.canvas.backdrop, self.canvas.frame = theme.color("canvas"), theme.color("border")
        self.canvas.update()

    def _show_keys(self) -> None:
        page = self.findChild(Keys) or Keys(self.table, self)
        page.show()
        page.raise_()

    # --- saved state -----------------------------------------------------------------------------

    def _restore(self) -> None:
        settings, memory = self._rooms.settings, QSettings()
        self.resize(1280, 800)
        state = memory.value("geometry/window")
        if isinstance(state, QByteArray):
            self.restoreGeometry(state)
        self.workspace.restore(memory)
        self.canvas.options.restore(memory)
        self.canvas.set_diameter(max(1, round(2 * settings.brush_radius)))
        self.layers.set_opacity(settings.overlay_opacity)
        self.training.controls.set_wishes(settings.model, settings.minutes, settings.device)

    def retire(self) -> None:
        """Close without asking: another window replaces this one, or the application ends."""
        self._retired = True
        self.close()

    def closeEvent(self, event) -> None:
        if not self._retired and not self.leaving.free(Way.APPLICATION):
            event.ignore()
            QTimer.singleShot(0, self, lambda: self.leaving.leave(self.close, Way.APPLICATION))
            return
        settings, memory = self._rooms.settings, QSettings()
        memory.setValue("geometry/window", self.saveGeometry())
        self.workspace.remember(memory)
        self.canvas.options.remember(memory)
        settings.brush_radius = self.canvas.diameter / 2
        settings.overlay_opacity = self.canvas.label_style.opacity
        settings.model, settings.minutes, settings.device = self.training.controls.wishes()
        settings.save()
        for part in (self.canvas, self.pictures, self.commands, self.review, self.status):
            part.end()
        super().closeEvent(event)
        self.closed.emit()
