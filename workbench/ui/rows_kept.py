"""Commands for the display of predictions and for continuous training."""

from __future__ import annotations

from functools import partial

from workbench.ui.overlay import Overlay
from workbench.ui.rows import Parts, Row, Rows


class KeptRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        look, overlay, kept, style = parts.layers.look, parts.overlay, parts.kept, parts.canvas.prediction_style
        texts = {
            "outline": self.tr("Predictions as &outlines"), "filled": self.tr("Predictions as &filled areas"),
            "heat": self.tr("&Scores at every pixel"), "doubt": self.tr("Where the model is in &doubt"),
        }  # fmt: skip
        rows = [
            Row(f"look_{mode}", text, partial(look.set_mode, mode), group="look",
                on=lambda mode=mode: style.mode == mode)
            for mode, text in texts.items()
        ]  # fmt: skip
        return [
            *rows,
            Row("next_look", self.tr("&Next way of drawing predictions"), look.next_mode, "Shift+C", "filled"),
            Row("look_back", self.tr("&Earlier in the training"), partial(_go, overlay, -1), ",",
                when=lambda: bool(overlay.steps),
                tip=self.tr("What the model saw in this picture earlier, as it learned")),
            Row("look_forward", self.tr("&Later in the training"), partial(_go, overlay, 1), ".",
                when=lambda: overlay.step is not None),
            Row("own_thresholds", self.tr("The run's own &thresholds"), overlay.reset_thresholds,
                when=lambda: overlay.own_thresholds),
            Row("keep_learning", self.tr("&Keep learning"), lambda: kept.switch(not kept.on), "Ctrl+Shift+K",
                when=lambda: parts.session.writable, on=lambda: kept.on,
                tip=self.tr("When its time is up the run goes on with what is labelled, until it is stopped")),
            Row("learn_on", self.tr("Learn &on from the newest labels"), kept.go_on,
                when=lambda: parts.session.writable and kept.can_go_on(),
                tip=self.tr("Open the shown run again: it goes on with all that was labelled since")),
        ]  # fmt: skip


def _go(overlay: Overlay, by: int) -> None:
    steps = [*overlay.steps, None]
    at = steps.index(overlay.step) if overlay.step in steps else len(steps) - 1
    overlay.look_back(steps[max(0, min(at + by, len(steps) - 1))])
