"""Commands for training, prediction and export."""

from __future__ import annotations

from workbench.ui.rows import Parts, Row, Rows


class TrainingRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        training, overlay = parts.training, parts.overlay
        return [
            Row("train", self.tr("&Train or stop"), training.toggle, "Ctrl+T", "train", training.can_train),
            Row("predict", self.tr("&Predict this picture"), overlay.predict, "Ctrl+R", "predict", overlay.possible,
                tip=self.tr("Show what the newest model sees on this picture")),
            Row("predict_folder", self.tr("Predict a &folder…"), parts.commands.predict_folder, icon="folder",
                tip=self.tr("Masks, overlays and tables for many pictures")),
            Row("export", self.tr("&Export for the line"), training.export, "Ctrl+E", "export", training.can_export,
                tip=self.tr("Make a folder that gives the same results without the workbench")),
            Row("export_choices", self.tr("Export with &choices…"), training.choose_export, "Ctrl+Shift+E",
                when=training.can_choose_export,
                tip=self.tr("Choose formats, where a defect begins, and how quick it must be")),
        ]  # fmt: skip
