"""Table of commands: text, function, icon and conditions of each, and the reason why a command is disabled. The modules
<menu>_commands.py define the rows.
"""

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
    quotes, by field name. name: returns the text in menus if it depends on the project, "" while the command is hidden.
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
    name: Callable[[], str] | None = None


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
        )


class CommandGroup(QObject):
    """Base class of the modules' parts of the table."""

    @abstractmethod
    def commands(self, context: CommandContext) -> list[Command]:
        """Return the commands, bound to the given objects."""


def paintable(session: Session) -> bool:
    """Return whether the current image can be painted on."""
    return session.mask is not None and session.writable


def verdict_name(session: Session, number: int) -> str:
    """Return the name of a verdict by its number from 1; "" if the project has fewer."""
    names = session.project.file.verdicts if session.project is not None else []
    return names[number - 1] if number <= len(names) else ""


# Commands that change the project: disabled while it is read-only.
WRITERS = frozenset(
    (
        *("add_pictures", "add_folder", "import_labels", "merge_project", "save", "undo", "redo", "copy_previous"),
        *("pick", "explicit", "done_next", "mark_done", "not_done", "remove_image", "use_any", "use_train"),
        *("use_val", "use_test"),
        *("accept_all", "reject_all", "bring_back", "propose_all", "take_model", "keep_label", "scale", "train"),
        *("keep_learning", "learn_on", "recipe", "edit_outline", "adopt_model"),
        *(f"{name}_{n}" for name in ("class", "verdict", "verdict_next") for n in range(1, 10)),
    )
)
# Commands for the current image: disabled while none is open.
OF_IMAGE = frozenset(
    (
        *("history", "copy_previous", "pick", "explicit", "done_next", "not_done", "remove_image", "fit", "actual"),
        *("zoom_in", "zoom_out", "next_region", "previous_region", "ruler", "good_sample", "invert", "stretch"),
        *("reset_display", "use_any", "use_train", "use_val", "use_test", "accept_all", "reject_all", "bring_back"),
        *("predict", "next_page", "previous_page", "show_file", "copy_path", "edit_outline", "spots"),
        *(f"{name}_{n}" for name in ("verdict", "verdict_next") for n in range(1, 10)),
    )
)


class DisabledReasons(QObject):
    """Reasons in the order in which the user can remove them: project, write access, image, state of the command."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session

    def text(self, id: str) -> str:
        """Return the reason why a disabled command cannot be used now."""
        session = self._session
        if session.project is None:
            return self.tr("Open or create a project first")
        if id in WRITERS and not session.writable:
            return self.tr("The project is read-only")
        if id in OF_IMAGE and session.image is None:
            return self.tr("Open an image first") if session.keys else self.tr("The project has no images yet")
        return self.specific().get(id) or self.tr("Not available at the moment")

    def specific(self) -> dict[str, str]:
        """Return the reasons that concern single commands, by command id."""
        no_model, no_curves = self.tr("Train a model first"), self.tr("Start a training or select a run first")
        no_suggestions = self.tr("This image has no suggestions")
        no_flag = self.tr("Open the list of possible label errors first")
        no_images, one_page = self.tr("The project has no images yet"), self.tr("The image file has one page only")
        no_spots = self.tr("No suggested spots are shown")
        no_step = self.tr("Earlier predictions are stored during a training only")
        reasons = {
            "undo": self.tr("There is nothing to undo"),
            "redo": self.tr("There is nothing to redo"),
            "not_done": self.tr("The image is not marked as done"),
            "next_region": self.tr("The image has no regions"),
            "previous_region": self.tr("The image has no regions"),
            "difference": self.tr("Select a reference image first"),
            "accept_all": no_suggestions,
            "reject_all": no_suggestions,
            "bring_back": self.tr("No suggestion of this image was rejected"),
            "spots": self.tr("The image is done, or a trained model can predict it"),
            "next_spot": no_spots,
            "previous_spot": no_spots,
            "propose_all": no_model,
            "label_next": no_model,
            "label_errors": no_model,
            "take_model": no_flag,
            "keep_label": no_flag,
            "next_doubt": no_flag,
            "train": self.tr("Label an image with a defect or set verdicts first"),
            "predict": no_model,
            "export": no_model,
            "export_choices": no_model,
            "review": no_model,
            "compare_evaluations": self.tr("Train two models of the same kind first"),
            "save_evaluation_report": self.tr("Open the evaluation of a model first"),
            "run_recipe": no_model,
            "pause": self.tr("No training is running"),
            "whole_run": no_curves,
            "compare_runs": self.tr("The project has no other run"),
            "save_curves_picture": no_curves,
            "save_curves_table": no_curves,
            "look_back": no_step,
            "look_forward": no_step,
            "own_thresholds": no_model,
            "learn_on": self.tr("No finished training can be continued"),
            "next_page": one_page,
            "previous_page": one_page,
            "click": self.tr("Choose the two ONNX files in Settings > Click model first"),
            "edit_outline": self.tr("Select a region with the region tool first"),
        }
        for id in ("next", "previous", "next_unlabelled", "previous_unlabelled", "next_open", "next_broken"):
            reasons[id] = no_images
        reasons["find"] = reasons["sheet"] = no_images
        for n in range(1, 10):
            reasons[f"class_{n}"] = self.tr("No class has this number")
            reasons[f"verdict_{n}"] = reasons[f"verdict_next_{n}"] = self.tr("No verdict has this number")
        return reasons
