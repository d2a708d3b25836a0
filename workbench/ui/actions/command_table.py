"""Command table: one row for each command, with its text, function, keys, icon, place and conditions.

The modules `<menu>_menu.py` define the rows in the order of the menus.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Signal, SignalInstance

from workbench.session.display_presets import DisplayPresets, ImagePages, ReferenceComparison
from workbench.session.instant_overlay import InstantOverlay
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.session.training.saved_overrides import ContinuousTraining
from workbench.session.workflow_monitor import WorkflowMonitor
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.region_navigator import RegionNavigator
from workbench.ui.check.report_commands import ReportCommands
from workbench.ui.evaluation.evaluation_navigation import EvaluationNavigation
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.label_files.label_files_controller import LabelFilesController
from workbench.ui.label_next.label_next_controller import LabelNextController, SpotBar
from workbench.ui.labels.classes_panel import ClassesPanel
from workbench.ui.labels.display_panel import DisplayPanel
from workbench.ui.labels.history_panel import HistoryPanel
from workbench.ui.labels.verdict_panel import VerdictPanel
from workbench.ui.predictions.layers_panel import LayersPanel
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.project.project_commands import ProjectCommands
from workbench.ui.project.source_commands import SourceCommands
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.training.settings_controller import SettingsController
from workbench.ui.training.training_panel import TrainingPanel
from workbench.ui.view_settings import ViewSettings


@dataclass(frozen=True)
class Condition:
    """Condition of a command, and the reason that is shown while it is not met: a text of "commands", or translated."""

    met: Callable[[CommandContext], object]
    reason: str


Needs = tuple[Condition, ...]


def require(met: Callable[[CommandContext], object], reason: str) -> Needs:
    """Return one condition; conditions are joined by +."""
    return (Condition(met, reason),)


# Conditions that several commands share, in the order in which the user can meet them.
PROJECT = require(
    lambda c: c.session.project is not None, QT_TRANSLATE_NOOP("commands", "Open or create a project first")
)
WRITABLE = PROJECT + require(lambda c: c.session.writable, QT_TRANSLATE_NOOP("commands", "The project is read-only"))
IMAGES = PROJECT + require(lambda c: c.session.keys, QT_TRANSLATE_NOOP("commands", "The project has no images yet"))
_NO_IMAGE = QT_TRANSLATE_NOOP("commands", "Open an image first")
IMAGE = IMAGES + require(lambda c: c.session.image is not None, _NO_IMAGE)
SHOWN = IMAGES + require(lambda c: c.canvas.scene.image is not None, _NO_IMAGE)  # an open image or its preview
CHOSEN = IMAGES + require(lambda c: c.images.chosen(), _NO_IMAGE)  # the current image or selected thumbnails
PAINTABLE = (
    WRITABLE
    + IMAGE
    + require(
        lambda c: c.session.mask is not None,
        QT_TRANSLATE_NOOP("commands", "The label of this image cannot be read"),
    )
)


@dataclass(frozen=True)
class Command:
    """One command: a row of the table.

    run: the function. icon: name of a file in `resources/icons`. keys: default shortcuts, separated by "; ".
    needs: conditions, each with the reason that is shown while the command is off. checked: returns the state; without
    it the command is not checkable. Exactly one command of a `group` is checked. tip: tooltip, if it differs from the
    text; tip_keys: commands whose shortcuts it quotes, by field name. changes_image: changes the current image's label
    or opens another image; such a command has no effect while an editor has the focus. auto_repeat: repeats while its
    key is held. name: returns the text in menus if it depends on the project, "" while the command is hidden.
    """

    id: str
    text: str
    run: Callable[[CommandContext], object]
    icon: str = ""
    keys: str = ""
    needs: Needs = ()
    checked: Callable[[CommandContext], object] | None = None
    group: str = ""
    tip: str = ""
    tip_keys: Mapping[str, str] = field(default_factory=dict)
    changes_image: bool = False
    auto_repeat: bool = True
    name: Callable[[CommandContext], str] | None = None

    def reason(self, context: CommandContext) -> str:
        """Return the reason why the command cannot be run now, "" if it can."""
        unmet = next((condition for condition in self.needs if not condition.met(context)), None)
        return QCoreApplication.translate("commands", unmet.reason) if unmet is not None else ""


@dataclass(frozen=True)
class Separator:
    """Line between two groups of a menu."""


@dataclass(frozen=True)
class RecentProjectsPlace:
    """Place of the submenu of the projects used last."""


@dataclass(frozen=True)
class Submenu:
    """Menu within a menu, or a menu of the bar. name: its id."""

    name: str
    title: str
    entries: list[Entry]

    def commands(self) -> Iterator[Command]:
        """Yield all commands, including those of submenus."""
        for entry in self.entries:
            if isinstance(entry, Submenu):
                yield from entry.commands()
            elif isinstance(entry, Command):
                yield entry


Entry = Command | Separator | RecentProjectsPlace | Submenu
SEPARATOR = Separator()


class MenuTable(QObject):
    """Base class of the tables of the menus; translates their texts."""

    name: str  # id of the menu

    @abstractmethod
    def title(self) -> str: ...

    @abstractmethod
    def entries(self) -> list[Entry]:
        """Return the rows in the order of the menu."""

    def menu(self) -> Submenu:
        return Submenu(self.name, self.title(), self.entries())


class DialogRequests(QObject):
    """Requests of commands for dialogs of the window, see `WindowDialogs`."""

    shortcuts = Signal()
    palette = Signal()
    settings = Signal()
    guide = Signal(str)  # file name of a page, "" for the first
    coach_marks = Signal()


def verdict_name(session: Session, number: int) -> str:
    """Return the name of a verdict by its number from 1; "" if the project has fewer."""
    names = session.project.file.verdicts if session.project is not None else []
    return names[number - 1] if number <= len(names) else ""


@dataclass(kw_only=True)
class CommandContext:
    """Objects that the commands use."""

    session: Session
    requests: DialogRequests
    preferences: Preferences
    canvas: Canvas
    images: ImagesPanel
    classes: ClassesPanel
    verdict: VerdictPanel
    layers: LayersPanel
    training: TrainingPanel
    project: ProjectCommands
    sources: SourceCommands
    reports: ReportCommands
    view_settings: ViewSettings
    overlay: PredictionOverlay
    region_navigator: RegionNavigator
    display: DisplayPanel
    comparison: ReferenceComparison
    display_presets: DisplayPresets
    history: HistoryPanel
    suggestions: SuggestionsController
    label_next: LabelNextController
    label_files: LabelFilesController
    evaluation: EvaluationNavigation
    training_settings: SettingsController
    continuous_training: ContinuousTraining
    pages: ImagePages
    spots: SpotBar
    workflow: WorkflowMonitor
    instant_overlay: InstantOverlay

    def state_signals(self) -> tuple[SignalInstance, ...]:
        """Return the signals after which a command may have to be enabled, disabled, checked or unchecked."""
        session = self.session
        return (
            self.workflow.changed,
            session.project_opened,
            session.project_closed,
            session.image_list.listed,
            session.current.opened,
            session.current.failed,
            session.history_changed,
            session.note_changed,
            session.areas.changed,
            session.classes.changed,
            session.classes.chosen,
            self.canvas.tool_changed,
            self.canvas.clicks.changed,
            self.canvas.region_chosen,
            self.canvas.ruler.switched,
            self.canvas.scene.display_changed,
            self.images.thumbnails_toggled,
            self.training.changed,
            self.overlay.changed,
            self.layers.display.mode_changed,
            self.comparison.changed,
            self.comparison.switched,
            self.suggestions.changed,
            self.label_next.queue.changed,
            self.label_next.errors.changed,
            self.evaluation.switched,
            self.evaluation.reports.changed,
            self.continuous_training.changed,
            self.pages.changed,
            self.spots.finder.changed,
            self.instant_overlay.changed,
        )
