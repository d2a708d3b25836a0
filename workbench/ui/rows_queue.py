"""Commands of the label queue and of label errors."""

from __future__ import annotations

from functools import partial

from workbench.ui.rows import Parts, Row, Rows


class QueueRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        advice = parts.advice
        guide, errors = advice.guide, advice.errors
        return [
            Row("label_next", self.tr("&What to label next"), partial(advice.toggle, "next"), "Ctrl+L", "queue",
                partial(guide.possible, "next"), on=lambda: guide.mode == "next",
                tip=self.tr("Pictures from which the model would learn most, each with the reason")),
            Row("label_errors", self.tr("Possible label &errors"), partial(advice.toggle, "errors"), "Ctrl+Shift+L",
                "doubt", partial(guide.possible, "errors"), on=lambda: guide.mode == "errors",
                tip=self.tr("Labels that a confident model contradicts, worst first")),
            Row("take_model", self.tr("The &model is right"), advice.take_model, "Y", when=advice.can_answer,
                tip=self.tr("Correct the doubted label as the model says")),
            Row("keep_label", self.tr("The label is ri&ght"), advice.keep_label, "K", when=advice.can_answer,
                tip=self.tr("Keep the doubted label, and do not ask again")),
            Row("next_doubt", self.tr("Ne&xt doubted place"), partial(errors.step, 1), "J",
                when=lambda: len(errors.slips) > 1),
        ]  # fmt: skip
