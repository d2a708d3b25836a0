"""Table of commands: text, function, icon and conditions of each. The modules <menu>_commands.py define the rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, SignalInstance

from workbench.session.display_presets import DisplayPresets, ReferenceComparison
from workbench.session.image_pages import ImagePages
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.session.training.continuous_training import ContinuousTraining
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.interactions.region_navigator import RegionNavigator
from workbench.ui.check.report_commands import ReportCommands
from workbench.ui.evaluation.evaluation_navigation import EvaluationNavigation
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.label_files.label_files_controller import LabelFilesController
from workbench.ui.label_next.label_next_controller import LabelNextController
from workbench.ui.label_next.spot_markers import SpotBar
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
class Command:
    """One command. Its shortcuts are listed in `ui.shortcuts.SHORTCUTS` under its id.

    enabled, checked: return the state; without `checked` the command is not checkable. Exactly one command of a `group`
    is checked. changes_image: changes the current image's label or opens another image; such a command has no effect
    while an editor has the focus. auto_repeat: repeats while its key is held. tip_keys: commands whose shortcuts `tip`
    quotes, by field name.
    """

    id: str
    text: str
    callback: Callable[[], object]
    icon: str = ""
    enabled: Callable[[], bool] | None = None
    checked: Callable[[], bool] | None = None
    group: str = ""
    tip: str = ""
    tip_keys: Mapping[str, str] = field(default_factory=dict)
    changes_image: bool = False
    auto_repeat: bool = True


@dataclass(kw_only=True)
class CommandContext:
    """Objects that the commands use."""

    session: Session
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

    def state_signals(self) -> tuple[SignalInstance, ...]:
        """Return the signals after which a command may have to be enabled, disabled, checked or unchecked."""
        session = self.session
        return (
            session.project_opened,
            session.project_closed,
            session.images_listed,
            session.image_opened,
            session.image_failed,
            session.history_changed,
            session.note_changed,
            session.classes_changed,
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
        )


class CommandGroup(QObject):
    """Base class of the modules' parts of the table."""

    @abstractmethod
    def commands(self, context: CommandContext) -> list[Command]:
        """Return the commands, bound to the given objects."""


def paintable(session: Session) -> bool:
    """Return whether the current image can be painted on."""
    return session.mask is not None and session.writable
