"""Commands of the menu *Train*: training, settings, evaluation, prediction, curves and export."""

from __future__ import annotations

from workbench.ui.actions.command_table import (
    IMAGE,
    IMAGES,
    PROJECT,
    SEPARATOR,
    WRITABLE,
    Command,
    Entry,
    MenuTable,
    Submenu,
    require,
)


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
