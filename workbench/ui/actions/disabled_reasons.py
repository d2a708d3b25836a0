"""Reason why a command is disabled, for the command palette."""

from __future__ import annotations

from PySide6.QtCore import QObject

from workbench.session.session import Session

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
