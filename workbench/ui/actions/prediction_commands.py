"""Commands for the display of predictions and for continuous training."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.predictions.prediction_overlay import PredictionOverlay


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
