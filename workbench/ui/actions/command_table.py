"""Table of commands: text, action, icon and conditions of each. The rows are defined in the modules rows_<topic>.py."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from workbench.session.display_presets import DisplayPresets
from workbench.session.image_pages import ImagePages
from workbench.session.reference_comparison import ReferenceComparison
from workbench.session.session import Session
from workbench.session.training.continuous_training import ContinuousTraining
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.interactions.region_navigator import RegionNavigator
from workbench.ui.evaluation.evaluation_navigation import EvaluationNavigation
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.label_next.label_next_controller import LabelNextController
from workbench.ui.labels.display_panel import DisplayPanel
from workbench.ui.labels.history_panel import HistoryPanel
from workbench.ui.labels.verdict_panel import VerdictPanel
from workbench.ui.predictions.layers_panel import LayersPanel
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.project.project_commands import ProjectCommands
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.training.settings_controller import SettingsController
from workbench.ui.training.training_panel import TrainingPanel
from workbench.ui.view_settings import ViewSettings


@dataclass(frozen=True)
class Command:
    """One command. `keys`: shortcuts separated by "; ". `when`: whether it is enabled. `on`: whether it is checked."""

    id: str
    text: str
    call: Callable[[], object]
    keys: str = ""
    icon: str = ""
    when: Callable[[], bool] | None = None
    on: Callable[[], bool] | None = None
    group: str = ""  # exactly one command of a group is checked
    tip: str = ""
    touches_image: bool = False  # changes the open label or opens another image; no effect while an editor has focus
    repeats: bool = True  # auto-repeats while its key is held


@dataclass
class CommandContext:
    """Objects that the commands use."""

    session: Session
    canvas: Canvas
    images: ImagesPanel
    verdict: VerdictPanel
    layers: LayersPanel
    training: TrainingPanel
    commands: ProjectCommands
    appearance: ViewSettings
    overlay: PredictionOverlay
    walk: RegionNavigator
    display: DisplayPanel
    comparison: ReferenceComparison
    displays: DisplayPresets
    history: HistoryPanel
    proposing: SuggestionsController
    advice: LabelNextController
    review: EvaluationNavigation
    settings: SettingsController
    kept: ContinuousTraining
    pages: ImagePages


class CommandGroup(QObject):
    """Base class of the modules' parts of the table."""

    @abstractmethod
    def all(self, parts: CommandContext) -> list[Command]:
        """Return the rows for the given objects."""


def paintable(session: Session) -> bool:
    """Return whether the open image may be painted on."""
    return session.mask is not None and session.writable
