"""Evaluation of a UNet: metrics, classes and sliders on the left, errors on the right, curve and table below."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.core.evaluation.split_evaluation import EvaluatedImages
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.evaluation.defect_browser import DefectBrowser
from workbench.ui.evaluation.evaluation_notices import EvaluationNotices, EvaluationPlaceholder
from workbench.ui.evaluation.evaluation_tables import ClassTable
from workbench.ui.evaluation.headline_metrics import HeadlineMetrics
from workbench.ui.evaluation.image_verdict_panel import ImageVerdictPanel
from workbench.ui.evaluation.operating_point_panel import OperatingPointPanel
from workbench.ui.widgets.text_labels import text_scale
from workbench.ui.widgets.theme import ThemeManager

_SIDE_WIDTH, _MAX_SIDE_WIDTH = 312, 400  # px


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
        self.summary, self.points, self.classes = HeadlineMetrics(), OperatingPointPanel(), ClassTable()
        self.verdict = ImageVerdictPanel(style)
        self.browser = DefectBrowser(evaluation, style)
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
        body = QWidget(objectName="panel")
        column = QVBoxLayout(body)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(11)
        column.addWidget(self.scope)
        column.addWidget(self.summary)
        column.addWidget(QFrame(objectName="line"))
        column.addWidget(self.points)
        column.addWidget(QFrame(objectName="line"))
        column.addWidget(self.verdict)
        column.addStretch(1)
        area = QScrollArea(objectName="side", widgetResizable=True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName(self.tr("Metrics and operating point"))
        area.setWidget(body)
        area.setFixedWidth(min(round(_SIDE_WIDTH * text_scale()), _MAX_SIDE_WIDTH))
        return area

    def _main(self) -> QWidget:
        splitter = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        splitter.addWidget(self.browser)
        below = QWidget(objectName="panel")
        self._below = QHBoxLayout(below)
        self._below.setContentsMargins(10, 8, 10, 8)
        self._below.setSpacing(14)
        self._below.addWidget(self.classes, 3)
        splitter.addWidget(below)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([420, 230])
        return splitter

    @cached_property
    def curve(self):
        """Precision-recall plot, created for the first run: pyqtgraph takes long to import."""
        from workbench.ui.evaluation.evaluation_plots import PrecisionRecallPlot

        plot = PrecisionRecallPlot(self._style)
        plot.threshold_chosen.connect(self._set_threshold)
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
            self.summary.clear()
            self.browser.gallery.clear()
            self.points.show_figures(None)
            self.verdict.show_choice(evaluation.verdicts.choice)
            self.verdict.show_result(None)
        if evaluation.stage == "running":
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
        self.verdict.show_classes(classes, self._evaluation.um_per_pixel)

    def _show_point(self) -> None:
        evaluation = self._evaluation
        if evaluation.point is not None and evaluation.settings is not None:
            self.points.show_point(evaluation.point, self._class_indices, evaluation.um_per_pixel)
            self.points.show_use(evaluation, writable=evaluation.session.writable)
            self.verdict.show_border(evaluation.point.verdict_border)

    def _evaluated(self, result: EvaluatedImages) -> None:
        figures = result.figures
        self.summary.show_figures(figures, self.class_id)
        self.points.show_figures(figures)
        self.classes.show_figures(figures, self._evaluation.classes, self._evaluation.um_per_pixel)
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

    def _draw_curve(self) -> None:
        evaluation = self._evaluation
        if evaluation.sweep is None or evaluation.result is None or evaluation.point is None:
            return
        indices = self._class_indices
        index = indices[0] if self.class_id is not None else None
        curve = evaluation.sweep.curve(evaluation.point, index)
        current = evaluation.result.place if index is None else evaluation.sweep.where(evaluation.point, index)
        threshold = sorted(evaluation.point.thresholds[index] for index in indices)[len(indices) // 2]
        self.curve.show_curve(curve, current, threshold)
