"""Commands for training, prediction and export."""

from __future__ import annotations

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class TrainingCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        training, overlay = parts.training, parts.overlay
        return [
            Command("train", self.tr("&Train or stop"), training.toggle, "Ctrl+T", "train", training.can_train),
            Command(
                "predict",
                self.tr("&Predict current image"),
                overlay.predict,
                "Ctrl+R",
                "predict",
                overlay.possible,
                tip=self.tr("Show what the newest model sees on this picture"),
            ),
            Command(
                "predict_folder",
                self.tr("Predict a &folder…"),
                parts.commands.predict_folder,
                icon="folder",
                tip=self.tr("Masks, overlays and tables for many pictures"),
            ),
            Command(
                "export",
                self.tr("&Export model"),
                training.export,
                "Ctrl+E",
                "export",
                training.can_export,
                tip=self.tr("Make a folder that gives the same results without the workbench"),
            ),
            Command(
                "export_choices",
                self.tr("E&xport options…"),
                training.choose_export,
                "Ctrl+Shift+E",
                when=training.can_choose_export,
                tip=self.tr("Choose formats, where a defect begins, and how quick it must be"),
            ),
        ]


class LiveTrainingCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        panel = parts.training
        files = panel.view.files
        return [
            Command(
                "pause",
                self.tr("&Pause or go on"),
                panel.toggle_pause,
                "Ctrl+Shift+T",
                "pause",
                panel.can_pause,
                on=panel.is_paused,
                tip=self.tr("Pause training. The time limit is paused as well."),
            ),
            Command("whole_run", self.tr("Show the &whole run"), panel.view.show_whole, when=panel.has_curves),
            Command(
                "compare_runs",
                self.tr("&Compare with other runs…"),
                panel.compare,
                "Ctrl+Shift+U",
                "compare",
                panel.can_compare,
                tip=self.tr("Put the curves of other runs beside this one"),
            ),
            Command(
                "save_curves_picture",
                self.tr("Save the curves as a &picture…"),
                files.save_image,
                when=panel.has_curves,
            ),
            Command(
                "save_curves_table", self.tr("Save the curves as a &table…"), files.save_table, when=panel.has_curves
            ),
        ]


class TrainingSettingsCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        settings = parts.settings
        return [
            Command(
                "recipe",
                self.tr("&Training settings…"),
                settings.open,
                "Ctrl+Alt+T",
                "tune",
                settings.possible,
                tip=self.tr("What is decided about it and why; every value can be chosen by hand"),
            ),
            Command(
                "run_recipe",
                self.tr("Settings of &this run…"),
                settings.open_run,
                when=settings.has_run,
                tip=self.tr("How this run was made, and why"),
            ),
        ]
