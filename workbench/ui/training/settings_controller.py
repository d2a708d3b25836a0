"""Access to the training settings: dialogs for the next training and for a run, and the changed settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.training.saved_overrides import SavedOverrides
from workbench.session.training.shown_runs import RunList
from workbench.ui.text import formatting
from workbench.ui.training.training_panel import TrainingPanel
from workbench.ui.widgets.theme import ThemeManager

if TYPE_CHECKING:
    from workbench.ui.training.settings_dialog import TrainingSettingsDialog

_MAX_RUNS = 30  # runs offered as initial weights, newest first


class SettingsController(QObject):
    """Commands for the training settings, from the training panel and from the menu."""

    def __init__(
        self, session: Session, overrides: SavedOverrides, runs: RunList, panel: TrainingPanel, style: ThemeManager
    ) -> None:
        super().__init__(panel)
        self._session, self._overrides, self._runs, self._panel, self._style = session, overrides, runs, panel, style
        panel.controls.settings_clicked.connect(self.open)
        panel.controls.changed.connect(self._show_count)
        overrides.changed.connect(self._show_count)
        self._show_count()

    def has_run(self) -> bool:
        return self._shown() is not None

    def _shown(self) -> Run | None:
        """Return the shown run, None for a model from a file, which has no training settings."""
        run = self._panel.run
        return None if run is None or run.adopted else run

    def open(self) -> None:
        """Show the settings planned for the next training, to be edited."""
        self._show()

    def open_run(self) -> None:
        """Show the settings of the shown run."""
        self._show().show_page(True)

    def _show(self) -> TrainingSettingsDialog:
        from workbench.ui.training.settings_dialog import TrainingSettingsDialog

        model, minutes, device = self._panel.controls.values()
        dialog = TrainingSettingsDialog(
            self._overrides,
            model,
            {"minutes": minutes, "device": device},
            self._style,
            runs=self._start_runs(model),
            shown=self._shown(),
            parent=self._panel.window(),
        )
        dialog.chosen.connect(lambda choices: self._overrides.save(model, choices))
        dialog.open()
        return dialog

    def _start_runs(self, model: str) -> list[tuple[str, str]]:
        """Return names and titles of the trained runs with the same model."""
        lines = [line for line in self._runs.usable(model) if not line.run.complete]
        return [(line.run.name, formatting.run_name(line.run)) for line in lines[:_MAX_RUNS]]

    def _show_count(self) -> None:
        self._panel.controls.show_overrides(len(self._overrides.of(self._panel.controls.model)))
