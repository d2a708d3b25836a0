"""Commands of the menus *Label* (tools, classes, suggestions, spots) and *Train* (training, evaluation, export)."""

from __future__ import annotations

from functools import partial

from workbench.core.project.project import ClassInfo
from workbench.session.session import Session
from workbench.ui.actions.command_table import (
    IMAGE,
    IMAGES,
    PAINTABLE,
    PROJECT,
    SEPARATOR,
    WRITABLE,
    Command,
    CommandContext,
    Entry,
    MenuTable,
    Submenu,
    require,
    verdict_name,
)
from workbench.ui.canvas.tools.tool_registry import TOOLS, ToolSpec


class TrainMenu(MenuTable):
    name = "train"

    def title(self) -> str:
        return self.tr("&Train")

    def entries(self) -> list[Entry]:
        return [
            *self._training(),
            SEPARATOR,
            *self._evaluation(),
            SEPARATOR,
            *self._prediction(),
            SEPARATOR,
            self._curves(),
            SEPARATOR,
            *self._export(),
        ]

    def _training(self) -> list[Command]:
        return [
            Command(
                "train",
                self.tr("&Start or stop training"),
                lambda c: c.training.toggle(),
                icon="train",
                keys="Ctrl+T",
                needs=WRITABLE
                + require(
                    lambda c: c.training.can_train(), self.tr("Label an image with a defect or set verdicts first")
                ),
            ),
            Command(
                "pause",
                self.tr("&Pause or resume training"),
                lambda c: c.training.toggle_pause(),
                icon="pause",
                keys="Ctrl+Shift+T",
                needs=WRITABLE + require(lambda c: c.training.can_pause(), self.tr("No training is running")),
                checked=lambda c: c.training.is_paused(),
                tip=self.tr("Pause training. The time limit is paused as well."),
            ),
            Command(
                "continuous_training",
                self.tr("&Continuous training"),
                lambda c: c.continuous_training.switch(not c.continuous_training.on),
                keys="Ctrl+Shift+K",
                needs=WRITABLE,
                checked=lambda c: c.continuous_training.on,
                tip=self.tr("After the time limit, training continues with new labels until you stop it"),
            ),
            Command(
                "continue_training",
                self.tr("C&ontinue training with new labels"),
                lambda c: c.continuous_training.resume(),
                needs=WRITABLE
                + require(
                    lambda c: c.continuous_training.can_resume(), self.tr("No finished training can be continued")
                ),
                tip=self.tr("Continue the shown run with all labels added since it ended"),
            ),
            Command(
                "stay_awake",
                self.tr("Keep the computer a&wake"),
                lambda c: c.view_settings.toggle_stay_awake(),
                checked=lambda c: c.view_settings.stays_awake(),
            ),
            SEPARATOR,
            Command(
                "training_settings",
                self.tr("&Training settings…"),
                lambda c: c.training_settings.open(),
                icon="tune",
                keys="Ctrl+Alt+T",
                needs=PROJECT,
                tip=self.tr("View and change the settings of the next training, with the reason for each value"),
            ),
            Command(
                "run_settings",
                self.tr("Settin&gs of this run…"),
                lambda c: c.training_settings.open_run(),
                needs=PROJECT + require(lambda c: c.training_settings.has_run(), self.tr("Train a model first")),
                tip=self.tr("View the settings of the shown run, with the reason for each value"),
            ),
        ]

    def _evaluation(self) -> list[Command]:
        return [
            Command(
                "evaluation",
                self.tr("E&valuation"),
                lambda c: c.evaluation.toggle(),
                icon="evaluation",
                keys="Ctrl+Shift+R",
                needs=PROJECT,
                checked=lambda c: c.evaluation.is_on(),
                tip=self.tr(
                    "Missed defects and false alarms on validation and test images; choose the detection threshold here"
                ),
            ),
            Command(
                "compare_evaluations",
                self.tr("Compare runs side by si&de…"),
                lambda c: c.evaluation.reports.compare(),
                needs=PROJECT
                + require(
                    lambda c: c.evaluation.reports.can_compare(), self.tr("Train two models of the same kind first")
                ),
                tip=self.tr("Compare the metrics of two runs on the same images, with the images on which they differ"),
            ),
            Command(
                "save_evaluation_report",
                self.tr("Save evaluatio&n report…"),
                lambda c: c.evaluation.reports.save(),
                needs=PROJECT
                + require(lambda c: c.evaluation.reports.can_save(), self.tr("Open the evaluation of a model first")),
                tip=self.tr("Save metrics, curves and the largest errors of the shown evaluation"),
            ),
            Command(
                "plan_parts",
                self.tr("&How many parts do I need…"),
                lambda c: c.evaluation.reports.plan_parts(),
                needs=PROJECT
                + require(lambda c: c.evaluation.reports.can_plan(), self.tr("Open the evaluation of a model first")),
                tip=self.tr("How many parts are needed to prove a bound on missed parts and false alarms"),
            ),
            Command(
                "study_gauge",
                self.tr("Gauge stud&y…"),
                lambda c: c.evaluation.reports.study(),
                needs=PROJECT + require(lambda c: c.evaluation.reports.can_study(), self.tr("Train a model first")),
                tip=self.tr("Compare the model with itself on repeated images of parts, and with inspectors"),
            ),
        ]

    def _prediction(self) -> list[Command]:
        return [
            Command(
                "predict",
                self.tr("Predict cu&rrent image"),
                lambda c: c.overlay.predict(),
                icon="predict",
                keys="Ctrl+R",
                needs=IMAGE + require(lambda c: c.overlay.possible(), self.tr("Train a model first")),
                tip=self.tr("Show the prediction of the model in use for this image"),
            ),
            Command(
                "predict_folder",
                self.tr("Predict &folder…"),
                lambda c: c.project.predict_folder(),
                icon="folder",
                tip=self.tr("Create masks, overlays and tables for many images"),
            ),
            Command(
                "suggest_all",
                self.tr("Generate suggestions for &all images"),
                lambda c: c.suggestions.suggest_for_all(),
                needs=WRITABLE
                + IMAGES
                + require(lambda c: c.suggestions.can_suggest_all(), self.tr("Train a model first")),
                tip=self.tr("Run the model in use on every image and save its predictions as suggestions"),
            ),
        ]

    def _curves(self) -> Submenu:
        curves = PROJECT + require(lambda c: c.training.has_curves(), self.tr("Start a training or select a run first"))
        return Submenu(
            "curves",
            self.tr("C&urves"),
            [
                Command(
                    "whole_run", self.tr("Show &whole run"), lambda c: c.training.view.show_whole_run(), needs=curves
                ),
                Command(
                    "compare_runs",
                    self.tr("&Compare with other runs…"),
                    lambda c: c.training.header.compare(),
                    icon="compare",
                    keys="Ctrl+Shift+U",
                    needs=PROJECT
                    + require(lambda c: c.training.can_compare(), self.tr("The project has no other run")),
                    tip=self.tr("Compare the curves with those of other runs"),
                ),
                SEPARATOR,
                Command(
                    "save_curves_image",
                    self.tr("Save curves as &image…"),
                    lambda c: c.training.view.files.save_image(),
                    needs=curves,
                ),
                Command(
                    "save_curves_table",
                    self.tr("Save curves as &table…"),
                    lambda c: c.training.view.files.save_table(),
                    needs=curves,
                ),
            ],
        )

    def _export(self) -> list[Command]:
        no_model = self.tr("Train a model first")
        return [
            Command(
                "adopt_model",
                self.tr("Add &model from file…"),
                lambda c: c.project.add_model(),
                icon="import",
                needs=WRITABLE,
                tip=self.tr("Use a segmentation network in ONNX format that another program has trained"),
            ),
            Command(
                "export",
                self.tr("&Export model"),
                lambda c: c.training.export(),
                icon="export",
                keys="Ctrl+E",
                needs=WRITABLE + require(lambda c: c.training.can_export(), no_model),
                tip=self.tr("Export a folder that runs without Defect Workbench and gives the same results"),
            ),
            Command(
                "export_options",
                self.tr("E&xport options…"),
                lambda c: c.training.choose_export(),
                keys="Ctrl+Shift+E",
                needs=PROJECT + require(lambda c: c.training.can_choose_export(), no_model),
                tip=self.tr("Choose formats, operating point and target latency"),
            ),
        ]


class LabelMenu(MenuTable):
    name = "label"

    def title(self) -> str:
        return self.tr("&Label")

    def entries(self) -> list[Entry]:
        return [
            Submenu("brushes", self.tr("&Brushes"), _tools("brushes")),
            Submenu("outlines", self.tr("&Outlines"), _tools("outlines")),
            Submenu("assisted", self.tr("&Assisted"), _tools("assisted")),
            Submenu("regions", self.tr("&Regions"), [*_tools("regions"), SEPARATOR, self._edit_outline()]),
            SEPARATOR,
            *self._options(),
            SEPARATOR,
            Submenu("classes", self.tr("Select &class"), [self._class(n) for n in range(1, 10)]),
            Command(
                "add_class",
                self.tr("A&dd class"),
                lambda c: c.classes.add(),
                needs=WRITABLE,
                tip=self.tr("Add a class: a type of defects to paint"),
            ),
            self._suggestions(),
            SEPARATOR,
            *self._spots(),
        ]

    def _options(self) -> list[Command]:
        return [
            Command(
                "smaller", self.tr("&Smaller brush"), lambda c: c.canvas.change_diameter(-1), icon="smaller", keys="["
            ),
            Command("bigger", self.tr("&Larger brush"), lambda c: c.canvas.change_diameter(1), icon="bigger", keys="]"),
            SEPARATOR,
            Command(
                "pick",
                self.tr("&Pick class under pointer"),
                lambda c: c.canvas.pick(),
                icon="pick",
                keys="I",
                needs=PAINTABLE,
            ),
            Command(
                "keep",
                self.tr("&Keep other classes"),
                lambda c: c.session.editor.set_keep_other(not c.session.editor.keep_other),
                icon="keep",
                keys="X",
                checked=lambda c: c.session.editor.keep_other,
                tip=self.tr("Keep other classes: paint over background only"),
            ),
            Command(
                "explicit",
                self.tr("Treat unpainted areas as &unlabeled"),
                lambda c: c.session.editor.set_explicit_background(not _is_explicit(c)),
                needs=PAINTABLE,
                checked=_is_explicit,
                tip=self.tr("Train on the painted areas of this image only"),
            ),
        ]

    def _edit_outline(self) -> Command:
        return Command(
            "edit_outline",
            self.tr("Edit &outline"),
            lambda c: c.canvas.edit_outline(),
            icon="polygon",
            keys="Shift+O",
            needs=PAINTABLE
            + require(lambda c: c.canvas.region is not None, self.tr("Select a region with the region tool first")),
            tip=self.tr("Show the corners of the selected region and move them"),
        )

    def _class(self, n: int) -> Command:
        return Command(
            f"class_{n}",
            self.tr("Class {n}").format(n=n),
            partial(_choose_class, n),
            keys=str(n),
            needs=PROJECT
            + require(lambda c: _class(c.session, n) or _sets_verdict(c, n), self.tr("No class has this number")),
            checked=partial(_is_current, n),
            name=lambda c: _name_of_key(c.session, n),
        )

    def _suggestions(self) -> Submenu:
        any = require(lambda c: c.suggestions.any(), self.tr("This image has no suggestions"))
        return Submenu(
            "suggestions",
            self.tr("Su&ggestions"),
            [
                Command(
                    "suggestions",
                    self.tr("Review &suggestions"),
                    lambda c: c.canvas.choose_tool("suggestions"),
                    icon="suggestions",
                    keys="Shift+V",
                    checked=lambda c: c.canvas.tool == "suggestions",
                    group="tool",
                    tip=self.tr("Suggestions: click a suggestion or drag a box to accept; hold Ctrl to reject"),
                ),
                SEPARATOR,
                Command(
                    "accept_all",
                    self.tr("&Accept all suggestions"),
                    lambda c: c.suggestions.accept_all(),
                    icon="accept-all",
                    keys="Ctrl+Shift+A",
                    needs=WRITABLE + IMAGE + any,
                    tip=self.tr("Accept all suggestions in this image as one undo step"),
                    changes_image=True,
                ),
                Command(
                    "reject_all",
                    self.tr("Re&ject all suggestions"),
                    lambda c: c.suggestions.reject_all(),
                    needs=WRITABLE + IMAGE + any,
                    tip=self.tr("This model will not suggest these regions again. Can be undone."),
                ),
                Command(
                    "restore_rejected",
                    self.tr("&Restore rejected suggestions"),
                    lambda c: c.suggestions.suggestions.restore_rejected(),
                    needs=WRITABLE
                    + IMAGE
                    + require(
                        lambda c: c.suggestions.suggestions.rejected,
                        self.tr("No suggestion of this image was rejected"),
                    ),
                    tip=self.tr("Show the rejected suggestions of this image again"),
                ),
                SEPARATOR,
                Command(
                    "show_suggestions",
                    self.tr("Show suggesti&ons"),
                    lambda c: c.suggestions.switch(),
                    icon="suggestions",
                    keys="Shift+P",
                    checked=lambda c: c.suggestions.visible,
                    tip=self.tr(
                        "Show suggestions together with labels. {labels} and {suggestions} change the balance."
                    ),
                    tip_keys={"labels": "toward_labels", "suggestions": "toward_suggestions"},
                ),
                Command(
                    "toward_labels",
                    self.tr("Emphasize &labels"),
                    lambda c: c.suggestions.toward(-1),
                    keys="Alt+Left",
                    tip=self.tr("Switch from suggestions only to both, then to labels only"),
                ),
                Command(
                    "toward_suggestions",
                    self.tr("Emphasize s&uggestions"),
                    lambda c: c.suggestions.toward(1),
                    keys="Alt+Right",
                    tip=self.tr("Switch from labels only to both, then to suggestions only"),
                ),
            ],
        )

    def _spots(self) -> list[Command]:
        shown = PROJECT + require(lambda c: c.spots.finder.spots, self.tr("No suggested spots are shown"))
        return [
            Command(
                "spots",
                self.tr("Suggest &where to look"),
                lambda c: c.spots.finder.switch(not c.spots.finder.on),
                icon="search",
                keys="Shift+S",
                needs=IMAGE
                + require(
                    lambda c: c.spots.finder.on or c.spots.finder.possible(),
                    self.tr("The image is done, or a trained model can predict it"),
                ),
                checked=lambda c: c.spots.finder.on,
                tip=self.tr("Circle the spots that differ most from the rest of the image. No model is needed."),
            ),
            Command("next_spot", self.tr("&Next spot"), lambda c: c.spots.go(1), keys="Shift+J", needs=shown),
            Command("previous_spot", self.tr("Pre&vious spot"), lambda c: c.spots.go(-1), needs=shown),
        ]


def _tools(menu: str) -> list[Command]:
    """Return the commands of the tools of a submenu."""
    return [_tool(spec) for spec in TOOLS.values() if spec.menu == menu]


def _tool(spec: ToolSpec) -> Command:
    name = spec.name
    return Command(
        name,
        spec.translated(spec.title),
        lambda c: c.canvas.choose_tool(name),
        icon=name,
        keys=spec.keys,
        checked=lambda c: c.canvas.tool == name,
        group="tool",
        tip=spec.translated(spec.tip),
    )


def _is_explicit(c: CommandContext) -> bool:
    return c.session.note is not None and c.session.note.explicit_background


def _class(session: Session, number: int) -> ClassInfo | None:
    classes = session.project.classes if session.project else []
    return next((info for info in classes if info.key == str(number)), None)


def _sets_verdict(c: CommandContext, number: int) -> bool:
    """Return whether a number key sets a verdict. It does so only in projects without classes."""
    project = c.session.project
    return project is not None and not project.classes and c.images.can_set_verdict(number - 1)


def _is_current(number: int, c: CommandContext) -> bool:
    """Return whether a number key selected the current class, or the verdict in projects without classes."""
    session, info = c.session, _class(c.session, number)
    if info is not None:
        return session.editor.class_id == info.id
    name = _name_of_key(session, number)
    return bool(name) and session.note is not None and session.note.verdict == name


def _name_of_key(session: Session, number: int) -> str:
    """Return the class that a number key selects, or the verdict in projects without classes; "" for neither."""
    info = _class(session, number)
    if info is not None:
        return info.name
    return verdict_name(session, number) if session.project is not None and not session.project.classes else ""


def _choose_class(number: int, c: CommandContext) -> None:
    info = _class(c.session, number)
    if _sets_verdict(c, number):
        c.images.set_verdict(number - 1)
    if info is not None:
        c.session.classes.choose(info.id)
