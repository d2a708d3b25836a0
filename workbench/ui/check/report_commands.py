"""Commands for the check, the statistics and the parts of the project, and the results of a line."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog, QWidget

from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.project.source_commands import SourceCommands
from workbench.ui.services import Services
from workbench.ui.widgets.theme import ThemeManager

_SCALE = 8.0  # device pixels per image pixel at the place of a finding


class ReportCommands(QObject):
    """Check, statistics and part dialogs, and the way from a finding to its image."""

    def __init__(
        self,
        window: QWidget,
        services: Services,
        sources: SourceCommands,
        images: ImagesPanel,
        canvas: Canvas,
        style: ThemeManager,
    ) -> None:
        super().__init__(window)
        self._window, self._services, self._sources, self._style = window, services, sources, style
        self._images, self._canvas = images, canvas
        self._place: tuple[str, tuple[int, int]] | None = None  # to show once its image is open
        services.session.current.opened.connect(self._show_place)

    def check(self) -> None:
        """Show the check dialog, and start a check unless there is a result already."""
        from workbench.ui.check.check_dialog import CheckDialog, FindingRepairs

        dialog = self._window.findChild(CheckDialog)
        if dialog is None:
            services = self._services
            repairs = FindingRepairs(services.session, services.label_repair, self._sources, self)
            dialog = CheckDialog(services.session, services.project_check, repairs, self._window)
            dialog.shown.connect(self.show_image)
        job = self._services.project_check
        if job.result is None and not job.running:
            dialog.start()
        _raise(dialog)

    def statistics(self) -> None:
        """Show the statistics dialog; numbers that are missing or outdated are computed."""
        from workbench.ui.check.statistics_dialog import StatisticsDialog  # imported here as it imports pyqtgraph

        dialog = self._window.findChild(StatisticsDialog)
        job = self._services.statistics
        if dialog is None:
            dialog = StatisticsDialog(self._services.session, job, self._style, self._window)
        if (job.result is None or job.outdated) and not job.running:
            dialog.start()
        _raise(dialog)

    def line_results(self) -> None:
        """Show the results of a line over time."""
        from workbench.ui.evaluation.drift_dialog import DriftDialog  # imported here as it imports pyqtgraph

        dialog = self._window.findChild(DriftDialog)
        _raise(dialog or DriftDialog(self._services.preferences, self._style, self._window))

    def part_rule(self) -> None:
        """Show how images of the same part are recognized."""
        from workbench.ui.check.statistics_dialog import PartRuleDialog

        for former in self._window.findChildren(PartRuleDialog):
            former.close()
        dialog = PartRuleDialog(self._services.session, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        _raise(dialog)

    def show_image(self, key: str, place: tuple[int, int] | None) -> None:
        """Open an image and show a place in it, (x, y)."""
        session = self._services.session
        self._place = (key, place) if place is not None else None
        if session.key != key or session.opening != key:
            self._images.open(key)
        else:
            self._show_place(key)

    def _show_place(self, key: str) -> None:
        if self._place is not None and self._place[0] == key:
            (x, y), self._place = self._place[1], None
            view = self._canvas.view
            self._canvas.set_view(view.at_scale(max(view.scale, _SCALE)).centered(x + 0.5, y + 0.5))


def _raise(dialog: QDialog) -> None:
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
