"""Commands of the training panel for pausing and for the curves."""

from __future__ import annotations

from workbench.ui.rows import Parts, Row, Rows


class LiveRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        panel = parts.training
        files = panel.view.files
        return [
            Row("pause", self.tr("&Pause or go on"), panel.toggle_pause, "Ctrl+Shift+T", "pause", panel.can_pause,
                on=panel.is_paused, tip=self.tr("Let the training stand still for a while; its time does, too")),
            Row("whole_run", self.tr("Show the &whole run"), panel.view.show_whole, when=panel.has_curves),
            Row("compare_runs", self.tr("&Compare with other runs…"), panel.compare, "Ctrl+Shift+U", "compare",
                panel.can_compare, tip=self.tr("Put the curves of other runs beside this one")),
            Row("save_curves_picture", self.tr("Save the curves as a &picture…"), files.save_picture,
                when=panel.has_curves),
            Row("save_curves_table", self.tr("Save the curves as a &table…"), files.save_table, when=panel.has_curves),
        ]  # fmt: skip
