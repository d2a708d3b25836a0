"""Main window: creates the panels, lays them out and connects them.

Dialogs that concern the window as a whole: command palette, shortcuts, settings, guide.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QWidget

from workbench.ui.actions.command_table import CommandContext, DialogRequests
from workbench.ui.actions.menus import RUN_MENU, TOOL_STRIP, Actions, ImageMenus, enable_submenus, fill_menu_bar
from workbench.ui.actions.shortcut_changes import ShortcutChanges, ShortcutsDialog
from workbench.ui.canvas.canvas_items import PageIndicator
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.option_bar import OptionBar
from workbench.ui.canvas.region_navigator import RegionNavigator
from workbench.ui.check.report_commands import ReportCommands
from workbench.ui.evaluation.evaluation_navigation import CentralStack, EvaluationNavigation
from workbench.ui.evaluation.evaluation_page import EvaluationPage
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.label_files.label_files_controller import LabelFilesController
from workbench.ui.label_next.label_next_controller import LabelNextController, add_spots
from workbench.ui.labels.classes_panel import ClassesPanel
from workbench.ui.labels.display_panel import DisplayPanel
from workbench.ui.labels.history_panel import HistoryPanel
from workbench.ui.labels.verdict_panel import VerdictPanel
from workbench.ui.predictions.layers_panel import LayersPanel
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.project.leave_guard import LeaveGuard, LeaveScope
from workbench.ui.project.project_commands import ProjectCommands
from workbench.ui.project.source_commands import SourceCommands
from workbench.ui.services import Services
from workbench.ui.shell.canvas_header import CanvasHeader
from workbench.ui.shell.model_in_use import ExportQuestion, ModelChip, ModelOffer
from workbench.ui.shell.notifications import Notifications
from workbench.ui.shell.stage_bar import add_stage_bar
from workbench.ui.shell.status_bar import StatusBar
from workbench.ui.shell.taskbar_progress import TaskbarProgress
from workbench.ui.shell.tool_strip import ToolColumn
from workbench.ui.shell.welcome import Welcome
from workbench.ui.shell.workspace import MissingFolder, SidePanel, WindowState, Workspace
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.suggestions.suggestions_panel import SuggestionsPanel
from workbench.ui.training.settings_controller import SettingsController
from workbench.ui.training.train_controls import ContinuousSwitch
from workbench.ui.training.training_panel import TrainingPanel
from workbench.ui.view_settings import ViewSettings
from workbench.ui.widgets.file_drop import FileDropFilter
from workbench.ui.widgets.keyboard import EditorKeys, update_key_tips
from workbench.ui.widgets.message_bar import MessageBar
from workbench.ui.widgets.text_labels import CollapsibleSection
from workbench.ui.widgets.theme import ThemeManager

if TYPE_CHECKING:
    from workbench.ui.actions.command_palette import CommandPalette
    from workbench.ui.dialogs.preferences_dialog import PreferencesDialog
    from workbench.ui.help.coach_marks import CoachMarks


class WindowDialogs(QObject):
    """Owner of the dialogs, which open at their commands; each one exists once. Texts follow changed shortcuts."""

    def __init__(
        self,
        window: QMainWindow,
        actions: Actions,
        context: CommandContext,
        style: ThemeManager,
        editor_keys: EditorKeys,
        explained: tuple[QWidget, QWidget],
    ) -> None:
        super().__init__(window)
        self._explained = explained  # next step and Done
        self._window, self._actions, self._context, self._editor_keys = window, actions, context, editor_keys
        self._style = style
        self.shortcut_changes = ShortcutChanges(actions, context.preferences, self)
        self.shortcut_changes.changed.connect(self._shortcuts_changed)
        requests = context.requests
        requests.palette.connect(lambda: self.palette.open())
        requests.shortcuts.connect(self.show_shortcuts)
        requests.settings.connect(self.show_settings)
        requests.guide.connect(self.show_guide)
        requests.coach_marks.connect(self.show_coach_marks)

    @cached_property
    def palette(self) -> CommandPalette:
        """Command palette, created when it is first opened."""
        from workbench.ui.actions.command_palette import CommandPalette

        return CommandPalette(self._actions, self._style, self._window)

    @cached_property
    def coach_marks(self) -> CoachMarks:
        """Explanations of the controls, created when they are first shown."""
        from workbench.ui.help.coach_marks import CoachMarks, first_marks

        marks = CoachMarks(self._window, first_marks(self._context, *self._explained), self._context.canvas)
        marks.ended.connect(self._introduced)
        return marks

    def introduce(self) -> None:
        """Show the explanations in the first project that the user creates, once its first image is open."""
        if not self._context.preferences.introduced:
            once = Qt.ConnectionType.SingleShotConnection
            self._context.session.current.opened.connect(self.show_coach_marks, once)

    def show_coach_marks(self, *_: object) -> None:
        """Explain the controls, one after another."""
        self.coach_marks.start()

    def _introduced(self) -> None:
        self._context.preferences.introduced = True
        self._context.preferences.save()

    def show_shortcuts(self) -> None:
        """Show the list of shortcuts."""
        dialog = self._window.findChild(ShortcutsDialog)
        if dialog is None:
            dialog = ShortcutsDialog(self._actions, self._window)
            dialog.change_requested.connect(partial(self.show_settings, "keyboard"))
        dialog.show()
        dialog.raise_()

    def show_settings(self, page: str = "") -> PreferencesDialog:
        """Show the settings, at a page of `PAGES` if given."""
        from workbench.ui.dialogs.preferences_dialog import PreferencesDialog

        dialog = self._window.findChild(PreferencesDialog)
        if dialog is None:
            dialog = PreferencesDialog(self._context, self._actions, self.shortcut_changes, self._window)
        if page:
            dialog.open_page(page)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog

    def show_guide(self, page: str = "") -> None:
        """Show the guide, at a page if given."""
        from workbench.ui.help.guide_window import show_guide

        show_guide(self._window, self._style, page)

    @property
    def settings_page(self) -> str:
        """Page of the settings if they are shown, else ""."""
        from workbench.ui.dialogs.preferences_dialog import PreferencesDialog

        dialog = self._window.findChild(PreferencesDialog)
        return dialog.page if dialog is not None and dialog.isVisible() else ""

    def _shortcuts_changed(self) -> None:
        from workbench.ui.help.guide_window import GuideWindow

        self._editor_keys.set_reserved(self._actions.reserved())
        update_key_tips(self._window)
        guide, shortcuts = self._window.findChild(GuideWindow), self._window.findChild(ShortcutsDialog)
        if guide is not None:
            guide.reload()
        if shortcuts is not None:
            shortcuts.close()  # it is created anew when it is opened


class Window(QMainWindow):
    """Main window of one session."""

    closed = Signal()

    def __init__(self, services: Services, style: ThemeManager) -> None:
        super().__init__()
        self._services, self.theme_manager = services, style
        self._retired = False
        self.setWindowIcon(style.app_icon())
        self.setMinimumHeight(600)  # the width is that of the panels
        self._create_panels(services, style)
        self._create_commands(services, style)
        self._lay_out(style)
        self._connect(services, style)
        self._state = WindowState(
            window=self,
            workspace=self.workspace,
            canvas=self.canvas,
            layers=self.layers,
            controls=self.training.controls,
            preferences=services.preferences,
        )
        self._state.restore()
        self._restyle()
        self._show_project()

    def _create_panels(self, services: Services, style: ThemeManager) -> None:
        session = services.session
        self.messages = MessageBar(style)
        self.canvas = Canvas(session, services.clicks)
        view, scene = self.canvas.view_state, self.canvas.scene
        self.region_navigator = RegionNavigator(view, scene, self.canvas)
        self.canvas.add_item(
            PageIndicator(services.image_pages, self.canvas.content, view, scene, self.canvas.renderer, self.canvas)
        )
        self.spots = add_spots(services.spots, self.region_navigator, self.canvas)
        self.images = ImagesPanel(session, style, services.label_queue)
        self.label_next = LabelNextController(
            session, services.label_queue, services.label_issues, self.images, self.canvas, self.messages
        )
        self.classes = ClassesPanel(session, style)
        self.verdict = VerdictPanel(session, style)
        self.history = HistoryPanel(session, style)
        self.overlay = PredictionOverlay(
            session,
            services.training,
            services.predictions,
            services.run_thresholds,
            services.run_list,
            services.instant_overlay,
            self.canvas,
            self.images.model,
        )
        self.layers = LayersPanel(self.canvas.scene, services.reference_comparison, self.overlay)
        self.display = DisplayPanel(self.canvas.scene, services.display_presets)
        self.training = TrainingPanel(
            session,
            services.training,
            services.export_job,
            services.run_monitor,
            services.run_list,
            services.saved_overrides,
            style,
        )
        self.training.controls.add_line(ContinuousSwitch(services.continuous_training))
        self.suggestions_controller = SuggestionsController(
            services, self.canvas, self.layers, self.overlay, self.messages
        )
        self.suggestions_panel = SuggestionsPanel(session, self.suggestions_controller, style)
        self.evaluation = EvaluationPage(services, style)
        verdict, suggestions, layers, display, history = sections = [
            CollapsibleSection("verdict", self.tr("Verdict"), self.verdict, style, self.verdict.add_button),
            CollapsibleSection("suggestions", self.tr("Suggestions"), self.suggestions_panel, style),
            CollapsibleSection("layers", self.tr("Layers"), self.layers, style),
            CollapsibleSection("display", self.tr("Display"), self.display, style),
            CollapsibleSection("history", self.tr("History"), self.history, style),
        ]
        opened = session.project_opened, session.classes.changed
        verdict.wait_for(lambda: session.project is not None and session.project.file.verdicts, *opened)
        suggestions.wait_for(self.suggestions_controller.any, self.suggestions_controller.changed)
        layers.wait_for(lambda: self.overlay.maps is not None, self.overlay.changed)
        for section in (display, history):
            section.wait_for(lambda: False)  # the user unfolds them
        classes = CollapsibleSection("classes", self.tr("Classes"), self.classes, style, self.classes.add_button)
        self.side = SidePanel([classes, *sections])
        self.center = CentralStack(self.canvas, self.images, self.evaluation)
        self.evaluation_navigation = EvaluationNavigation(
            session,
            services.evaluation,
            self.evaluation,
            self.overlay,
            self.center,
            self.canvas,
            self.training,
            self.images.view,
        )
        self.training_settings = SettingsController(
            session, services.saved_overrides, services.run_list, self.training, style
        )

    def _create_commands(self, services: Services, style: ThemeManager) -> None:
        session = services.session
        self.leave_guard = LeaveGuard(self, services, self.messages)
        self.label_files = LabelFilesController(self, session, style, self.messages)
        self.project_commands = ProjectCommands(self, services, self.messages, self.leave_guard, self.label_files)
        self.source_commands = SourceCommands(self, services, self.messages)
        self.report_commands = ReportCommands(self, services, self.source_commands, self.images, self.canvas, style)
        self.view_settings = ViewSettings(
            self,
            services.preferences,
            style,
            {"images": self.images, "side": self.side},
            [self.canvas, self.images.view, self.classes.view, self.training.controls.button],
        )
        self.notifications = Notifications(services, self.messages, self.project_commands)
        self.model_offer = ModelOffer(session, services.training, services.adoption, services.run_list, self.messages)
        self.export_question = ExportQuestion(services.export_job, services.run_list, services.workflow, self)
        self.missing_folder = MissingFolder(self, session, self.messages)
        self.taskbar = TaskbarProgress(services.training, self)
        self._context = CommandContext(
            session=session,
            requests=DialogRequests(self),
            preferences=services.preferences,
            canvas=self.canvas,
            images=self.images,
            classes=self.classes,
            verdict=self.verdict,
            layers=self.layers,
            training=self.training,
            project=self.project_commands,
            sources=self.source_commands,
            reports=self.report_commands,
            view_settings=self.view_settings,
            overlay=self.overlay,
            region_navigator=self.region_navigator,
            display=self.display,
            comparison=services.reference_comparison,
            display_presets=services.display_presets,
            history=self.history,
            suggestions=self.suggestions_controller,
            label_next=self.label_next,
            label_files=self.label_files,
            evaluation=self.evaluation_navigation,
            training_settings=self.training_settings,
            continuous_training=services.continuous_training,
            pages=services.image_pages,
            spots=self.spots,
            workflow=services.workflow,
            instant_overlay=services.instant_overlay,
        )
        self.table = Actions(self._context, style, self)
        self.image_menus = ImageMenus(self._context, self.table, self)
        self.training.runs.addActions([self.table[id] for id in RUN_MENU])

    def _enable_submenus(self) -> None:
        enable_submenus(self.menuBar())

    def _lay_out(self, style: ThemeManager) -> None:
        session = self._services.session
        self.header = CanvasHeader(session, self.images, self.table, style)
        self.options = OptionBar(self.canvas, session)
        self.status = StatusBar(session, self.canvas, lambda: self.overlay.run)
        self.welcome = Welcome(self.table, style, self.project_commands.recent)
        fill_menu_bar(
            self.menuBar(), self.table.menus, self.table, self.project_commands.recent.menu, self._enable_submenus
        )
        self.chip = ModelChip(session, self._services.run_list, self._services.workflow, style)
        pages = self.training, self.evaluation, self.evaluation_navigation, self.chip
        self.stage_bar = add_stage_bar(self.menuBar(), self._services.workflow, self.table, style, *pages)
        self.addActions([*self.table.all(), self.table.disabled_keys])
        self.setStatusBar(self.status)
        self.tools = ToolColumn(TOOL_STRIP, self.table, self.view_settings)
        self.workspace = Workspace(
            self.images, self.header, self.options, self.tools, self.center, self.side, self.training
        )
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.workspace)
        self.setCentralWidget(self.pages)
        self.messages.float_over(self.pages, self.center.contents)
        self.editor_keys = EditorKeys(
            [self.canvas, self.images.thumbnail_view.list_view, self.images.thumbnail_view.table_view],
            self.table.reserved(),
            self,
        )
        self.editor_keys.leave_after_click(self.training.controls.button, self.training.controls.export)
        for clicked in (self.stage_bar.next.clicked, self.images.view.clicked, self.classes.view.clicked):
            clicked.connect(self.editor_keys.give_keyboard)
        explained = self.stage_bar.next, self.header.done
        self.dialogs = WindowDialogs(self, self.table, self._context, style, self.editor_keys, explained)
        self.options.click_model.files_requested.connect(lambda: self.dialogs.show_settings("click_model"))
        self.file_drop = FileDropFilter(self, self.project_commands.drop, self.project_commands.refuse_drop)
        self.file_drop.dragged.connect(self.welcome.show_drag)

    def _connect(self, services: Services, style: ThemeManager) -> None:
        session, canvas, training, messages = services.session, self.canvas, self.training, self.notifications
        session.project_opened.connect(self._show_project)
        session.project_closed.connect(self._show_project)
        session.folder.changed.connect(self._update_title)
        style.changed.connect(self._restyle)
        services.display_presets.scale_changed.connect(self._update_scale)
        services.image_pages.turned.connect(canvas.content.show_page)
        services.predictions.predicted.connect(self.table.refresh)
        services.run_list.listed.connect(self.table.refresh)
        services.continuous_training.changed.connect(training.refresh)  # its best model can be exported from then on
        self.project_commands.created.connect(self.dialogs.introduce)
        self.source_commands.unpacked.connect(self.project_commands.open)
        self.project_commands.unpack_requested.connect(self.source_commands.unpack)
        self.images.files_requested.connect(self.project_commands.add_images)
        self.images.folder_requested.connect(self.project_commands.add_folder)
        self.overlay.text_changed.connect(self.header.show_model_text)
        self.evaluation_navigation.switched.connect(self.workspace.show_center_only)
        self.evaluation.reports.export_requested.connect(self.export_question.export)
        self.model_offer.comparison_requested.connect(self.evaluation.reports.compare)
        self.evaluation.part_rule_requested.connect(self.table["part_rule"].trigger)
        self.images.thumbnails_toggled.connect(self.workspace.show_thumbnails)
        separation = self.images.thumbnail_view.separation
        separation.paint_requested.connect(self.table["paint_defective"].trigger)
        separation.stopped.connect(messages.image_not_shown)
        separation.left_out.connect(messages.painted_left_out)
        self.images.stopped.connect(partial(messages.explain_stop, self.images.show_all))
        self.region_navigator.stepped.connect(self.status.show_step)
        self.region_navigator.arrived.connect(canvas.suggestions.highlight_at_pointer)
        self.region_navigator.arrived.connect(canvas.arrive)
        canvas.tool_changed.connect(lambda: canvas.ruler.switch(False))
        canvas.refused.connect(messages.refused)
        self.table.refused.connect(messages.command_refused)
        self.editor_keys.repeated_key.held_back.connect(messages.key_held_back)
        training.export_requested.connect(self.export_question.request)
        self.stage_bar.explained.connect(messages.explain_step)
        training.view.messaged.connect(messages.show_training_message)
        training.recovered.connect(messages.training_recovered)
        training.view.files.saved.connect(messages.curves_saved)
        for part in (services.evaluation, services.run_list, training.view.files, self.evaluation):
            part.failed.connect(self.messages.problem)

    # --- events ----------------------------------------------------------------------------------

    def _show_project(self) -> None:
        """Show the open project, or the welcome page."""
        if self._services.session.project is None:
            self.pages.setCurrentWidget(self.welcome)
            self.welcome.show_recent()
            self.welcome.buttons["new_project"].setFocus()
            self.setWindowTitle("Defect Workbench")
        else:
            self.pages.setCurrentWidget(self.workspace)
            self.canvas.setFocus()
            self._update_title()

    def _update_title(self) -> None:
        project = self._services.session.project
        if project is not None:
            name = project.file.name
            if not project.writable:
                name = self.tr("{name} (read-only)").format(name=name)
            self.setWindowTitle(f"{name} – Defect Workbench")

    def _update_scale(self) -> None:
        self.canvas.ruler.set_scale(self._services.display_presets.um_per_pixel)

    def _restyle(self) -> None:
        color, scene = self.theme_manager.theme.color, self.canvas.scene
        scene.backdrop, scene.frame = color("canvas"), color("border")
        self.canvas.update()

    # --- end --------------------------------------------------------------------------------------

    def retire(self) -> None:
        """Close without asking: another window replaces this one, or the application ends."""
        self._retired = True
        self.close()

    def keyPressEvent(self, event) -> None:
        """Close the newest message on Esc that no other part of the window uses."""
        if not (event.key() == Qt.Key.Key_Escape and self.messages.dismiss()):
            super().keyPressEvent(event)

    def closeEvent(self, event) -> None:
        if not self._retired and not self.leave_guard.free(LeaveScope.APPLICATION):
            event.ignore()
            QTimer.singleShot(0, self, lambda: self.leave_guard.leave(self.close, LeaveScope.APPLICATION))
            return
        self._state.save()
        parts = (self.canvas, self.images, self.project_commands, self.label_files, self.evaluation, self.status)
        for part in (*parts, self.model_offer):
            part.end()
        super().closeEvent(event)
        self.closed.emit()
