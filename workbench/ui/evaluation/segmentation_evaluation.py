"""Evaluation of a UNet: OK and NG, classes and sliders on the left, errors on the right, table and curve below."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from workbench.core.evaluation.split_evaluation import EvaluatedImages
from workbench.inference.inspection_area import common_zones
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.evaluation.confusion_table import EvaluationSide, HeadlineMetrics, ImageConfusionPanel, split_text
from workbench.ui.evaluation.defect_browser import DefectBrowser
from workbench.ui.evaluation.evaluation_notices import EvaluationNotices, EvaluationPlaceholder
from workbench.ui.evaluation.evaluation_tables import ClassTable
from workbench.ui.evaluation.image_verdict_panel import ImageVerdictPanel
from workbench.ui.evaluation.operating_point_panel import OperatingPointPanel
from workbench.ui.widgets.text_labels import CollapsibleSection
from workbench.ui.widgets.theme import ThemeManager

_TABLE, _CURVE = 144, 230  # px, height of the table of classes alone, and with the curve beside it


class SegmentationEvaluation(QWidget):
    """Evaluation page of a UNet run. `region_chosen` carries an image key and the region to show."""

    region_chosen = Signal(str, object)  # key, Rect

    def __init__(self, evaluation: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._evaluation, self._style = evaluation, style
        self.placeholder = EvaluationPlaceholder(evaluation)
        self.notices = EvaluationNotices(evaluation, style)
        self.scope = QComboBox()
        self.scope.setAccessibleName(self.tr("Classes"))
        self.scope.setToolTip(self.tr("Classes included in the metrics and affected by the sliders"))
        self.split = QLabel(objectName="heading")
        self.images = ImageConfusionPanel()
        self.summary = HeadlineMetrics("recall", "recall_right_class", "false_alarms")
        self.masks = HeadlineMetrics("dice")
        self.points, self.classes = OperatingPointPanel(), ClassTable()
        self.verdict = ImageVerdictPanel(style)
        self.browser = DefectBrowser(evaluation, style)
        self.details = self._details()
        self._build()
        evaluation.changed.connect(self._stage_changed)
        evaluation.evaluated.connect(self._evaluated)
        evaluation.sweep_finished.connect(self._draw_curve)
        self.scope.activated.connect(self._scope_changed)
        self.points.moved.connect(evaluation.set_point)
        self.points.cost_moved.connect(self._find_lowest_cost)
        self.points.store_requested.connect(evaluation.store)
        self.points.restore_requested.connect(evaluation.restore)
        self.verdict.choice_changed.connect(evaluation.verdicts.set_choice)
        self.verdict.border_changed.connect(self._set_border)
        evaluation.verdicts.changed.connect(self._verdicts_changed)
        self.browser.region_chosen.connect(self.region_chosen)
        self.images.cell_chosen.connect(self.browser.show_cell)
        self.points.cost.valueChanged.connect(lambda _: self.images.show_cost(self.points.ratio))
        self.images.show_cost(self.points.ratio)
        self.details.heading.toggled.connect(self._details_toggled)
        self._stage_changed()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._pages = QStackedWidget()
        column.addWidget(self.notices)
        column.addWidget(self._pages, 1)
        self._results = QWidget()
        row = QHBoxLayout(self._results)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._side())
        row.addWidget(self._main(), 1)
        self._pages.addWidget(self.placeholder)
        self._pages.addWidget(self._results)

    def _side(self) -> QWidget:
        lines = [QFrame(objectName="line") for _ in range(4)]
        items = (
            self.split,
            self.images,
            lines[0],
            self.scope,
            self.summary,
            lines[1],
            self.points,
            lines[2],
            self.verdict,
            lines[3],
        )
        return EvaluationSide(*items, self.details)

    def _details(self) -> CollapsibleSection:
        """Metrics of the masks and curves. While they are shown, so are the columns of the table and its curve."""
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.masks)
        column.addWidget(self.verdict.curves)
        return CollapsibleSection("evaluation", self.tr("Details"), body, self._style, expanded=False)

    def _main(self) -> QWidget:
        splitter = self._splitter = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        splitter.addWidget(self.browser)
        below = QWidget(objectName="panel")
        self._below = QHBoxLayout(below)
        self._below.setContentsMargins(10, 8, 10, 8)
        self._below.setSpacing(14)
        self._below.addWidget(self.classes, 3)
        splitter.addWidget(below)
        splitter.setStretchFactor(0, 1)
        splitter.setSizes([420, _TABLE])  # all other height is that of the gallery
        return splitter

    @cached_property
    def curve(self):
        """Precision-recall plot, created for the first run: pyqtgraph takes long to import."""
        from workbench.ui.evaluation.evaluation_plots import PrecisionRecallPlot

        plot = PrecisionRecallPlot(self._style)
        plot.threshold_chosen.connect(self._set_threshold)
        plot.setVisible(self.details.heading.isChecked())
        self._below.insertWidget(0, plot, 2)
        self.setTabOrder(self.browser.table, plot)
        self.setTabOrder(plot, self.classes)
        return plot

    def end(self) -> None:
        """Release the crops when the window closes."""
        self.browser.gallery.clear()

    # --- user actions -----------------------------------------------------------------------------

    @property
    def class_id(self) -> int | None:
        """Id of the class that metrics and sliders are restricted to; None: all classes."""
        return self.scope.currentData()

    @property
    def _class_indices(self) -> list[int]:
        """Indices, in the model's order, of the classes that the sliders change."""
        settings = self._evaluation.settings
        ids = [entry.id for entry in settings.classes] if settings is not None else []
        return [index for index, id in enumerate(ids) if self.class_id in (None, id)]

    def _find_lowest_cost(self, ratio: float) -> None:
        self._evaluation.cheapest(ratio, self._class_indices[0] if self.class_id is not None else None)
        self._show_point()
        if self._evaluation.result is not None:
            self.points.show_figures(self._evaluation.result.figures)

    def _set_threshold(self, threshold: float) -> None:
        point = self._evaluation.point
        if point is not None:
            for index in self._class_indices:
                point = point.at(index, threshold=threshold)
            self._evaluation.set_point(point)
            self._show_point()

    def _set_border(self, width: int) -> None:
        point = self._evaluation.point
        if point is not None:
            self._evaluation.set_point(replace(point, verdict_border=width))

    def _scope_changed(self) -> None:
        self._show_point()
        if self._evaluation.result is not None:
            self._evaluated(self._evaluation.result)

    # --- updates ----------------------------------------------------------------------------------

    def _stage_changed(self) -> None:
        evaluation = self._evaluation
        ready = evaluation.stage == "ready"
        self._pages.setCurrentWidget(self._results if ready else self.placeholder)
        if evaluation.stage in ("running", "none"):
            self._list_classes()
            for panel in (self.images, self.summary, self.masks):
                panel.clear()
            self.browser.gallery.clear()
            self.points.show_figures(None)
            self.verdict.show_choice(evaluation.verdicts.choice)
            self.verdict.show_result(None)
        if evaluation.stage == "running" and self.details.heading.isChecked():
            self.curve.show_waiting(self.tr("Evaluating thresholds…"))
        if ready:
            self._show_point()

    def _list_classes(self) -> None:
        previous = self.class_id
        self.scope.clear()
        classes = self._evaluation.classes
        self.scope.addItem(self.tr("All classes"), None)
        for id, (name, _) in classes.items():
            self.scope.addItem(name, id)
        self.scope.setCurrentIndex(max(0, self.scope.findData(previous)))
        self.scope.setVisible(len(classes) > 1)
        settings = self._evaluation.settings
        zones = () if settings is None else common_zones(settings.areas)
        self.verdict.show_classes(classes, self._evaluation.um_per_pixel, zones)

    def _show_point(self) -> None:
        evaluation = self._evaluation
        if evaluation.point is not None and evaluation.settings is not None:
            self.points.show_point(evaluation.point, self._class_indices, evaluation.um_per_pixel)
            self.points.show_use(evaluation, writable=evaluation.session.writable)
            self.verdict.show_border(evaluation.point.verdict_border)

    def _evaluated(self, result: EvaluatedImages) -> None:
        figures = result.figures
        self.split.setText(split_text(self._evaluation.split, len(result.evaluations)))
        for summary in (self.summary, self.masks):
            summary.show_figures(figures, self.class_id)
        self.points.show_figures(figures)
        self._show_classes()
        self.notices.show_alerts(figures.alerts)
        self._show_point()
        self._draw_curve()
        self.browser.show_class(self.class_id)

    def _verdicts_changed(self) -> None:
        verdicts = self._evaluation.verdicts
        if verdicts.choice != self.verdict.choice:
            self.verdict.show_choice(verdicts.choice)
        if self._evaluation.stage == "ready":
            self.verdict.show_result(verdicts.result)
            self._show_point()
            self._show_images()

    def _show_images(self) -> None:
        """Show the confusion once the verdicts of the shown result are known."""
        from workbench.core.evaluation.split_evaluation import image_confusion

        result, verdicts = self._evaluation.result, self._evaluation.verdicts
        if result is None or verdicts.result is None:
            return
        rule = verdicts.result.rule
        confusion = image_confusion(result, rule)
        self.images.show_confusion(confusion, ruled=rule is not None)
        self.browser.show_confusion(confusion)

    def _show_classes(self) -> None:
        evaluation, details = self._evaluation, self.details.heading.isChecked()
        if evaluation.result is not None:
            figures = evaluation.result.figures
            self.classes.show_figures(figures, evaluation.classes, evaluation.um_per_pixel, masks=details)

    def _details_toggled(self, shown: bool) -> None:
        self._show_classes()
        self.curve.setVisible(shown)
        height = _CURVE if shown else _TABLE
        self._splitter.setSizes([self._splitter.height() - height, height])
        self._draw_curve()

    def _draw_curve(self) -> None:
        evaluation = self._evaluation
        if not self.details.heading.isChecked():
            return
        if evaluation.sweep is None or evaluation.result is None or evaluation.point is None:
            return
        indices = self._class_indices
        index = indices[0] if self.class_id is not None else None
        curve = evaluation.sweep.curve(evaluation.point, index)
        current = evaluation.result.place if index is None else evaluation.sweep.where(evaluation.point, index)
        threshold = sorted(evaluation.point.thresholds[index] for index in indices)[len(indices) // 2]
        self.curve.show_curve(curve, current, threshold)
