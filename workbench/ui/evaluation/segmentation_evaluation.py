"""Evaluation of a UNet: metrics and sliders on the left, cards of errors on the right, curve and table below."""

from __future__ import annotations

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.session.evaluation_result import EvaluatedImages
from workbench.session.run_evaluation import RunEvaluation
from workbench.ui.evaluation.defect_cards import SAID, TRUTH, CardGalleryView, alarm_cards, image_cards, missed_cards
from workbench.ui.evaluation.evaluation_notices import EvaluationNotices
from workbench.ui.evaluation.evaluation_placeholder import EvaluationPlaceholder
from workbench.ui.evaluation.evaluation_tables import ClassTable, ImageTableView
from workbench.ui.evaluation.headline_figures import HeadlineFigures
from workbench.ui.evaluation.operating_point_panel import OperatingPointPanel
from workbench.ui.evaluation.precision_recall_plot import PrecisionRecallPlot
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

TABS = ("missed", "false", "pictures", "table")


class SegmentationEvaluation(QWidget):
    """Evaluation page of a UNet run. `chosen` carries an image key and the region to show."""

    chosen = Signal(str, object)  # key, Rect

    def __init__(self, room: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self._room, self._style = room, style
        self.waiting = EvaluationPlaceholder(room)
        self.notices = EvaluationNotices(room, style)
        self.scope = QComboBox()
        self.scope.setAccessibleName(self.tr("Classes"))
        self.scope.setToolTip(self.tr("Classes included in the metrics and affected by the sliders"))
        self.summary, self.points = HeadlineFigures(), OperatingPointPanel()
        self.curve, self.classes, self.table = PrecisionRecallPlot(style), ClassTable(), ImageTableView()
        self.gallery = CardGalleryView(room, style)
        self._build()
        room.changed.connect(self._changed)
        room.evaluated.connect(self._judged)
        room.swept.connect(self._draw_curve)
        self.scope.activated.connect(self._scope_changed)
        self.points.moved.connect(room.set_point)
        self.points.cost_moved.connect(self._cheapest)
        self.points.store_wanted.connect(room.store)
        self.points.restore_wanted.connect(room.restore)
        self.curve.chosen.connect(self._curve_pressed)
        self.gallery.chosen.connect(self.chosen)
        self.table.chosen.connect(self.chosen)
        self._changed()

    def _build(self) -> None:
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._pages = QStackedWidget()
        outer.addWidget(self.notices)
        outer.addWidget(self._pages, 1)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._left())
        row.addWidget(self._right(), 1)
        self._pages.addWidget(self.waiting)
        self._pages.addWidget(body)
        self._body = body

    def _left(self) -> QWidget:
        inside = QWidget(objectName="panel")
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(11)
        column.addWidget(self.scope)
        column.addWidget(self.summary)
        column.addWidget(QFrame(objectName="line"))
        column.addWidget(self.points)
        column.addStretch(1)
        area = QScrollArea(objectName="side", widgetResizable=True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        area.setFixedWidth(312)
        return area

    def _right(self) -> QWidget:
        self._splitter = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        top = QWidget()
        column = QVBoxLayout(top)
        column.setContentsMargins(10, 10, 4, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 12, 0)
        row.setSpacing(6)
        self._tabs = QButtonGroup(self)
        self.tabs: dict[str, QPushButton] = {}
        for name in TABS:
            button = QPushButton(checkable=True, objectName="tab")
            self._tabs.addButton(button)
            self.tabs[name] = button
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(_legend(TRUTH.name(), self.tr("labelled")))
        row.addWidget(_legend(SAID.name(), self.tr("predicted")))
        column.addLayout(row)
        self._shown = QStackedWidget()
        self.nothing = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True, objectName="muted")
        for widget in (self.gallery, self.table, self.nothing):
            self._shown.addWidget(widget)
        column.addWidget(self._shown, 1)
        self._splitter.addWidget(top)
        under = QWidget(objectName="panel")
        row = QHBoxLayout(under)
        row.setContentsMargins(10, 8, 10, 8)
        row.setSpacing(14)
        row.addWidget(self.curve, 2)
        row.addWidget(self.classes, 3)
        self._splitter.addWidget(under)
        self._splitter.setStretchFactor(0, 3)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([420, 230])
        tab = QSettings().value("review/tab", "missed")
        self.tabs[tab if tab in TABS else "missed"].setChecked(True)
        self._tabs.buttonClicked.connect(self._tab_changed)
        self._count(0, 0, 0)
        return self._splitter

    # --- commands ---------------------------------------------------------------------------------

    @property
    def class_id(self) -> int | None:
        """Id of the class that metrics and sliders are restricted to; None: all classes."""
        return self.scope.currentData()

    def _numbers(self) -> list[int]:
        settings = self._room.settings
        ids = [entry.id for entry in settings.classes] if settings is not None else []
        return [at for at, id in enumerate(ids) if self.class_id in (None, id)]

    def _cheapest(self, ratio: float) -> None:
        self._room.cheapest(ratio, self._numbers()[0] if self.class_id is not None else None)
        self._show_point()
        if self._room.reviewed is not None:
            self.points.show_figures(self._room.reviewed.figures)

    def _curve_pressed(self, threshold: float) -> None:
        point = self._room.point
        if point is not None:
            for at in self._numbers():
                point = point.at(at, threshold=threshold)
            self._room.set_point(point)
            self._show_point()

    def _scope_changed(self) -> None:
        self._show_point()
        if self._room.reviewed is not None:
            self._judged(self._room.reviewed)

    def _tab_changed(self) -> None:
        QSettings().setValue("review/tab", self.tab)
        self._show_cards()

    @property
    def tab(self) -> str:
        return next(name for name, button in self.tabs.items() if button.isChecked())

    # --- events -----------------------------------------------------------------------------------

    def _changed(self) -> None:
        room = self._room
        ready = room.stage == "ready"
        self._pages.setCurrentWidget(self._body if ready else self.waiting)
        if room.stage in ("looking", "none"):
            self._list_classes()
            self.summary.wait()
            self.gallery.forget()
            self.points.show_figures(None)
            self.curve.wait(self.tr("Trying all thresholds…"))
        if ready:
            self._show_point()

    def _list_classes(self) -> None:
        former = self.class_id
        self.scope.clear()
        classes = self._room.classes
        self.scope.addItem(self.tr("All classes"), None)
        for id, (name, _) in classes.items():
            self.scope.addItem(name, id)
        self.scope.setCurrentIndex(max(0, self.scope.findData(former)))
        self.scope.setVisible(len(classes) > 1)

    def _show_point(self) -> None:
        room = self._room
        if room.point is not None and room.settings is not None:
            self.points.show_point(room.point, self._numbers(), room.um_per_pixel)
            self.points.show_use(
                room.chosen, can_store=room.can_store(), can_restore=room.can_restore(), busy=room.busy
            )

    def _judged(self, reviewed: EvaluatedImages) -> None:
        figures = reviewed.figures
        self.summary.show_figures(figures, self.class_id)
        self.points.show_figures(figures)
        self.classes.show_figures(figures, self._room.classes, self._room.um_per_pixel)
        self.notices.show_alerts(figures.alerts)
        self._show_point()
        self._draw_curve()
        self._show_cards()

    def _show_cards(self) -> None:
        room, reviewed = self._room, self._room.reviewed
        if reviewed is None:
            return

        def near(peak: float) -> str:
            return self.tr("highest score on it {score}").format(score=formatting.number(peak, 2))

        def sure(peak: float) -> str:
            return self.tr("score {score}").format(score=formatting.number(peak, 2))

        missed = missed_cards(room, reviewed, self.class_id, near)
        false = alarm_cards(room, reviewed, self.class_id, sure)
        self._count(len(missed), len(false), len(reviewed.judgements))
        if self.tab == "table":
            self.table.show_reviewed(room, reviewed)
            self._shown.setCurrentWidget(self.table)
            return
        cards = {"missed": missed, "false": false}.get(self.tab)
        if cards is None:
            cards = image_cards(room, reviewed, self._wrongs)
        self.gallery.show_cards(cards)
        self.nothing.setText(
            self.tr("No defect is missed at this operating point.")
            if self.tab == "missed"
            else self.tr("There is no false alarm at this operating point.")
        )
        self._shown.setCurrentWidget(self.gallery if cards else self.nothing)

    def _count(self, missed: int, false: int, images: int) -> None:
        for name, text, count in (
            ("missed", self.tr("Missed  {n}"), missed),
            ("false", self.tr("False alarms  {n}"), false),
            ("pictures", self.tr("Pictures  {n}"), images),
            ("table", self.tr("Table"), 0),
        ):
            self.tabs[name].setText(text.format(n=formatting.number(count)))

    def _wrongs(self, missed: int, false: int) -> str:
        parts = []
        if missed:
            parts.append(self.tr("{n} missed").format(n=missed))
        if false:
            parts.append(self.tr("{n} false alarms").format(n=false) if false > 1 else self.tr("1 false alarm"))
        return formatting.listed(parts) or self.tr("nothing wrong")

    def _draw_curve(self) -> None:
        room = self._room
        if room.sweep is None or room.reviewed is None or room.point is None:
            return
        numbers = self._numbers()
        number = numbers[0] if self.class_id is not None else None
        curve = room.sweep.curve(room.point, number)
        now = room.sweep.where(room.point, number) if number is not None else room.reviewed.place
        self.curve.show_curve(curve, now)

    def end(self) -> None:
        """Release the crops when the window closes."""
        self.gallery.forget()


def _legend(color: str, text: str) -> QLabel:
    label = QLabel(f'<span style="color:{color}">■</span>&nbsp;{text}', objectName="muted")
    label.setContentsMargins(6, 0, 0, 0)
    return label
