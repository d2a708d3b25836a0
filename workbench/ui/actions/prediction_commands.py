"""Commands for the display of predictions and for continuous training."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.predictions.prediction_overlay import PredictionOverlay


class PredictionCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        look, overlay, kept, style = parts.layers.look, parts.overlay, parts.kept, parts.canvas.scene.prediction_style
        texts = {
            "outline": self.tr("Predictions as &outlines"),
            "filled": self.tr("Predictions as &filled areas"),
            "heat": self.tr("&Probability map"),
            "doubt": self.tr("&Uncertainty map"),
        }
        rows = [
            Command(
                f"look_{mode}",
                text,
                partial(look.set_mode, mode),
                group="look",
                on=lambda mode=mode: style.mode == mode,
            )
            for mode, text in texts.items()
        ]
        return [
            *rows,
            Command("next_look", self.tr("&Next way of drawing predictions"), look.next_mode, "Shift+C", "filled"),
            Command(
                "look_back",
                self.tr("&Earlier in the training"),
                partial(_go, overlay, -1),
                ",",
                when=lambda: bool(overlay.steps),
                tip=self.tr("Prediction for this image at an earlier training step"),
            ),
            Command(
                "look_forward",
                self.tr("&Later in the training"),
                partial(_go, overlay, 1),
                ".",
                when=lambda: overlay.step is not None,
            ),
            Command(
                "own_thresholds",
                self.tr("The run's own &thresholds"),
                overlay.reset_thresholds,
                when=lambda: overlay.own_thresholds,
            ),
            Command(
                "keep_learning",
                self.tr("&Keep learning"),
                lambda: kept.switch(not kept.on),
                "Ctrl+Shift+K",
                when=lambda: parts.session.writable,
                on=lambda: kept.on,
                tip=self.tr("When its time is up the run goes on with what is labelled, until it is stopped"),
            ),
            Command(
                "learn_on",
                self.tr("C&ontinue training with new labels"),
                kept.resume,
                when=lambda: parts.session.writable and kept.can_resume(),
                tip=self.tr("Open the shown run again: it goes on with all that was labelled since"),
            ),
        ]


def _go(overlay: PredictionOverlay, by: int) -> None:
    steps = [*overlay.steps, None]
    at = steps.index(overlay.step) if overlay.step in steps else len(steps) - 1
    overlay.look_back(steps[max(0, min(at + by, len(steps) - 1))])
