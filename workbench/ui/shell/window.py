"""Main window: creates the panels and connects them."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings, QSize, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget

from workbench.ui.actions.actions import Actions
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.actions.menus import fill_menu_bar
from workbench.ui.actions.shortcuts_dialog import ShortcutsDialog
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.interactions.region_navigator import RegionNavigator
from workbench.ui.canvas.items.page_indicator import PageIndicator
from workbench.ui.canvas.option_bar import OptionBar
from workbench.ui.evaluation.central_stack import CentralStack
from workbench.ui.evaluation.evaluation_navigation import EvaluationNavigation
from workbench.ui.evaluation.evaluation_page import EvaluationPage
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.label_next.label_next_controller import LabelNextController
from workbench.ui.labels.classes_panel import ClassesPanel
from workbench.ui.labels.display_panel import DisplayPanel
from workbench.ui.labels.history_panel import HistoryPanel
from workbench.ui.labels.verdict_panel import VerdictPanel
from workbench.ui.predictions.layers_panel import LayersPanel
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.project.leave_guard import LeaveGuard, Way
from workbench.ui.project.project_commands import ProjectCommands
from workbench.ui.services import Services
from workbench.ui.shell.canvas_header import CanvasHeader
from workbench.ui.shell.missing_folder import MissingFolder
from workbench.ui.shell.notifications import Notifications
from workbench.ui.shell.status_bar import StatusBar
from workbench.ui.shell.welcome import Welcome
from workbench.ui.shell.workspace import Workspace, side_panel
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.suggestions.suggestions_panel import SuggestionsPanel
from workbench.ui.training.continuous_switch import ContinuousSwitch
from workbench.ui.training.settings_controller import SettingsController
from workbench.ui.training.training_panel import TrainingPanel
from workbench.ui.view_settings import ViewSettings
from workbench.ui.widgets.collapsible_section import CollapsibleSection
from workbench.ui.widgets.editor_keys import EditorKeys
from workbench.ui.widgets.file_drop import FileDropFilter
from workbench.ui.widgets.message_bar import MessageBar
from workbench.ui.widgets.theme import ThemeManager


class Window(QMainWindow):
    """Main window of one session."""

    closed = Signal()

    def __init__(self, rooms: Services, style: ThemeManager) -> None:
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

    def _make(self, rooms: Services, style: ThemeManager) -> None:
        session = rooms.session
        self.messages = MessageBar(style)
        self.canvas = Canvas(session)
        view, scene = self.canvas.view_state, self.canvas.scene
        self.walk = RegionNavigator(view, scene, self.canvas)
        self.canvas.add_item(
            PageIndicator(rooms.pages, self.canvas.content, view, scene, self.canvas.renderer, self.canvas)
        )
        rooms.pages.turned.connect(self.canvas.content.show_page)
        self.images = ImagesPanel(session, style, rooms.guide)
        self.advice = LabelNextController(session, rooms.guide, rooms.errors, self.images, self.canvas, self.messages)
        self.classes = ClassesPanel(session, style)
        self.verdict = VerdictPanel(session, style)
        self.history = HistoryPanel(session, style)
        self.overlay = PredictionOverlay(
            session, rooms.training, rooms.predictions, rooms.thresholds, rooms.shelf, self.canvas, self.images.model
        )
        self.layers = LayersPanel(self.canvas.scene, rooms.comparison, self.overlay)
        self.display = DisplayPanel(self.canvas.scene, rooms.displays)
        self.training = TrainingPanel(session, rooms.training, rooms.exporter, rooms.story, rooms.shelf, style)
        self.training.controls.add_line(ContinuousSwitch(rooms.kept))
        self.proposing = SuggestionsController(rooms, self.canvas, self.layers, self.overlay, self.messages)
        self.suggestions = SuggestionsPanel(session, self.proposing, style)
        self.review = EvaluationPage(session, rooms.review, rooms.shelf, style)
        self.reviewing = EvaluationNavigation(
            session, rooms.review, self.review, self.overlay, self.canvas, self.training, self.images.view
        )
        self.settings = SettingsController(session, rooms.choices, rooms.shelf, self.training, style)
        self.leaving = LeaveGuard(self, rooms, self.messages)
        self.commands = ProjectCommands(self, session, rooms.settings, rooms.shelf, self.messages, self.leaving)
        self.appearance = ViewSettings(self, rooms.settings, style)
        self.reports = Notifications(rooms, self.messages, self.commands)
        self.missing_folder = MissingFolder(self, session, self.messages)
        parts = CommandContext(
            session,
            self.canvas,
            self.images,
            self.verdict,
            self.layers,
            self.training,
            self.commands,
            self.appearance,
            self.overlay,
            self.walk,
            self.display,
            rooms.comparison,
            rooms.displays,
            self.history,
            self.proposing,
            self.advice,
            self.reviewing,
            self.settings,
            rooms.kept,
            rooms.pages,
        )
        self.table = Actions(parts, style, self)
        self.header = CanvasHeader(session, self.images, self.table)
        self.options = OptionBar(self.canvas, session)
        self.status = StatusBar(session, self.canvas, lambda: self.overlay.run)
        self.welcome = Welcome(self.table, style)

    def _place(self, style: ThemeManager) -> None:
        fill_menu_bar(self.menuBar(), self.table, self.commands.recent_menu)
        self.addActions(list(self.table.all()))
        self.setStatusBar(self.status)
        self.side = side_panel(
            [
                CollapsibleSection("classes", self.tr("Classes"), self.classes, style, self.classes.add_button),
                CollapsibleSection("verdict", self.tr("Verdict"), self.verdict, style, self.verdict.add_button),
                CollapsibleSection("proposals", self.tr("Proposals"), self.suggestions, style),
                CollapsibleSection("layers", self.tr("Layers"), self.layers, style),
                CollapsibleSection("display", self.tr("Display"), self.display, style),
                CollapsibleSection("history", self.tr("History"), self.history, style),
            ]
        )
        self.center = CentralStack(self.canvas, self.images, self.review)
        self.reviewing.set_center(self.center)
        self.workspace = Workspace(self.images, self.header, self.options, self.center, self.side, self.training)
        self.workspace.fill_tools(self.table)
        self.training.review.setDefaultAction(self.table["review"])
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.workspace)
        self.setCentralWidget(self.pages)
        self.messages.float_over(self.pages)
        self.appearance.set_panels(
            {"pictures": self.images, "side": self.side},
            [self.canvas, self.images.view, self.classes.view, self.training.controls.button],
        )

    def _connect(self, rooms: Services, style: ThemeManager) -> None:
        session, table = rooms.session, self.table
        self.reviewing.switched.connect(self.workspace.make_room)
        rooms.review.failed.connect(self.messages.problem)
        self.review.verdicts.failed.connect(self.messages.problem)
        self.editor_keys = EditorKeys(
            [self.canvas, self.images.sheet.sheet, self.images.sheet.table], table.reserved(), self
        )
        self.drops = FileDropFilter(self, self.commands.drop)
        self.welcome.chosen.connect(self.commands.open)
        self.images.wants_files.connect(self.commands.add_images)
        self.images.wants_folder.connect(self.commands.add_folder)
        self.canvas.refused.connect(self.reports.refused)
        self.training.view.said.connect(self.reports.show_training_message)
        self.training.recovered.connect(self.reports.training_recovered)
        self.training.wants_export.connect(rooms.exporter.start)
        self.overlay.text_changed.connect(self.header.show_model_text)
        rooms.kept.changed.connect(self.training.refresh)  # its best model can be exported from then on
        self.canvas.tool_changed.connect(lambda: self.canvas.ruler.switch(False))
        session.image_previewed.connect(lambda _, small, size: self.canvas.scene.show_preview(small, size))
        self.walk.stepped.connect(self.status.show_step)
        self.walk.arrived.connect(self.canvas.suggestions.highlight_at_pointer)
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
            session.project_opened,
            session.project_closed,
            session.images_listed,
            session.image_opened,
            session.image_failed,
            session.history_changed,
            session.note_changed,
            session.classes_changed,
            self.training.changed,
            self.images.sheet_wanted,
            self.canvas.tool_changed,
            rooms.predictions.predicted,
            self.canvas.ruler.switched,
            self.canvas.scene.display_changed,
            rooms.pages.changed,
            rooms.comparison.changed,
            rooms.comparison.switched,
            self.proposing.changed,
            rooms.guide.changed,
            rooms.errors.changed,
            self.overlay.changed,
            rooms.kept.changed,
            rooms.shelf.listed,
            self.layers.look.mode_changed,
            self.reviewing.switched,
        ):
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
        self.canvas.scene.backdrop, self.canvas.scene.frame = theme.color("canvas"), theme.color("border")
        self.canvas.update()

    def _show_keys(self) -> None:
        page = self.findChild(ShortcutsDialog) or ShortcutsDialog(self.table, self)
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
        self.training.controls.set_values(settings.model, settings.minutes, settings.device)

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
        self.canvas.options.save(memory)
        settings.brush_radius = self.canvas.diameter / 2
        settings.overlay_opacity = self.canvas.scene.label_style.opacity
        settings.model, settings.minutes, settings.device = self.training.controls.values()
        settings.save()
        for part in (self.canvas, self.images, self.commands, self.review, self.status):
            part.end()
        super().closeEvent(event)
        self.closed.emit()
