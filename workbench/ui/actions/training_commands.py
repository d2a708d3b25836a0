"""Commands for training, continuous training and export, for prediction, and for the display of predictions."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.predictions.prediction_overlay import PredictionOverlay


class TrainingCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        training, overlay = context.training, context.overlay
        return [
            Command("train", self.tr("&Start or stop training"), training.toggle, "train", training.can_train),
            Command(
                "predict",
                self.tr("Predict cu&rrent image"),
                overlay.predict,
                "predict",
                overlay.possible,
                tip=self.tr("Show the prediction of the model in use for this image"),
            ),
            Command(
                "predict_folder",
                self.tr("Predict &folder…"),
                context.project.predict_folder,
                "folder",
                tip=self.tr("Create masks, overlays and tables for many images"),
            ),
            Command(
                "adopt_model",
                self.tr("Add &model from file…"),
                context.project.add_model,
                "import",
                lambda: context.session.writable,
                tip=self.tr("Use a segmentation network in ONNX format that another program has trained"),
            ),
            Command(
                "export",
                self.tr("&Export model"),
                training.export,
                "export",
                training.can_export,
                tip=self.tr("Export a folder that runs without Defect Workbench and gives the same results"),
            ),
            Command(
                "export_choices",
                self.tr("E&xport options…"),
                training.choose_export,
                enabled=training.can_choose_export,
                tip=self.tr("Choose formats, operating point and target latency"),
            ),
        ]


class LiveTrainingCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        panel, reports = context.training, context.evaluation.reports
        files = panel.view.files
        return [
            Command(
                "pause",
                self.tr("&Pause or resume training"),
                panel.toggle_pause,
                "pause",
                panel.can_pause,
                panel.is_paused,
                tip=self.tr("Pause training. The time limit is paused as well."),
            ),
            Command("whole_run", self.tr("Show &whole run"), panel.view.show_whole_run, enabled=panel.has_curves),
            Command(
                "compare_runs",
                self.tr("&Compare with other runs…"),
                panel.header.compare,
                "compare",
                panel.can_compare,
                tip=self.tr("Compare the curves with those of other runs"),
            ),
            Command(
                "compare_evaluations",
                self.tr("Compare runs side by si&de…"),
                reports.compare,
                enabled=reports.can_compare,
                tip=self.tr("Compare the metrics of two runs on the same images, with the images on which they differ"),
            ),
            Command(
                "save_evaluation_report",
                self.tr("Save evaluatio&n report…"),
                reports.save,
                enabled=reports.can_save,
                tip=self.tr("Save metrics, curves and the largest errors of the shown evaluation"),
            ),
            Command(
                "save_curves_picture",
                self.tr("Save curves as &image…"),
                files.save_image,
                enabled=panel.has_curves,
            ),
            Command(
                "save_curves_table",
                self.tr("Save curves as &table…"),
                files.save_table,
                enabled=panel.has_curves,
            ),
        ]


class TrainingSettingsCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        settings = context.training_settings
        return [
            Command(
                "recipe",
                self.tr("&Training settings…"),
                settings.open,
                "tune",
                settings.possible,
                tip=self.tr("View and change the settings of the next training, with the reason for each value"),
            ),
            Command(
                "run_recipe",
                self.tr("Settin&gs of this run…"),
                settings.open_run,
                enabled=settings.has_run,
                tip=self.tr("View the settings of the shown run, with the reason for each value"),
            ),
        ]


class PredictionCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        overlay, continuous = context.overlay, context.continuous_training
        display, style = context.layers.display, context.canvas.scene.prediction_style
        texts = {
            "outline": self.tr("Predictions as &outlines"),
            "filled": self.tr("Predictions as &filled areas"),
            "heat": self.tr("&Probability map"),
            "doubt": self.tr("&Uncertainty map"),
        }
        modes = [
            Command(
                f"look_{mode}",
                text,
                partial(display.set_mode, mode),
                checked=lambda mode=mode: style.mode == mode,
                group="prediction_display",
            )
            for mode, text in texts.items()
        ]
        return [
            *modes,
            Command("next_look", self.tr("&Next prediction display"), display.next_mode, "filled"),
            Command(
                "look_back",
                self.tr("&Earlier training step"),
                partial(_go, overlay, -1),
                enabled=lambda: bool(overlay.steps),
                tip=self.tr("Prediction for this image at an earlier training step"),
            ),
            Command(
                "look_forward",
                self.tr("&Later training step"),
                partial(_go, overlay, 1),
                enabled=lambda: overlay.step is not None,
                tip=self.tr("Prediction for this image at a later training step"),
            ),
            Command(
                "own_thresholds",
                self.tr("Reset &thresholds"),
                overlay.reset_thresholds,
                enabled=lambda: overlay.own_thresholds,
                tip=self.tr("Use the thresholds of the run again"),
            ),
            Command(
                "keep_learning",
                self.tr("&Continuous training"),
                lambda: continuous.switch(not continuous.on),
                enabled=lambda: context.session.writable,
                checked=lambda: continuous.on,
                tip=self.tr("After the time limit, training continues with new labels until you stop it"),
            ),
            Command(
                "learn_on",
                self.tr("C&ontinue training with new labels"),
                continuous.resume,
                enabled=lambda: context.session.writable and continuous.can_resume(),
                tip=self.tr("Continue the shown run with all labels added since it ended"),
            ),
        ]


def _go(overlay: PredictionOverlay, offset: int) -> None:
    steps = [*overlay.steps, None]
    position = steps.index(overlay.step) if overlay.step in steps else len(steps) - 1
    overlay.show_earlier_step(steps[max(0, min(position + offset, len(steps) - 1))])
