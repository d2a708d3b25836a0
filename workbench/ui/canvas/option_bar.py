"""Option bar above the canvas: options of the current tool and a short usage note."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QRegularExpression, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLabel, QSlider, QToolButton, QWidget

from workbench.core.geometry.selection import Measures, measures
from workbench.session.click_segmentation import ClickSegmentation
from workbench.session.session import Session
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.tools.image_context import LINES, MAX_DIAMETER, RANGES
from workbench.ui.canvas.tools.region_tool import RegionTool, SelectedRegion
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.text import formatting
from workbench.ui.text.formatting import problem_text
from workbench.ui.widgets.box_layouts import in_row
from workbench.ui.widgets.text_labels import FittedNote, align_text


class ClickModelStatus(QLabel):
    """Line with the state of the files: none, being checked, refused with the reason, or the kind of the model."""

    def __init__(self, clicks: ClickSegmentation, parent: QWidget | None = None) -> None:
        super().__init__(parent, objectName="muted", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._clicks = clicks
        clicks.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        clicks = self._clicks
        if not clicks.own_files:
            text = self.tr("The built-in network is used unless both files are chosen.")
        elif clicks.working == "loading":
            text = self.tr("Checking the files…")
        elif clicks.problem is not None:
            text = problem_text(clicks.problem)[0]
        elif clicks.interface_name:
            text = self.tr("The files can be used: {name}.").format(name=clicks.interface_name)
        else:
            text = self.tr("The files are loaded at the first click.")
        self.setText(text)


class ClickModelField(QWidget):
    """Field of the option bar: button that opens the settings of the files, and what is being computed."""

    files_requested = Signal()

    def __init__(self, clicks: ClickSegmentation) -> None:
        super().__init__()
        self._clicks = clicks
        self.button = QToolButton(text=self.tr("Model…"), toolTip=self.tr("Choose the ONNX files of the click model"))
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.files_requested)
        self.state = QLabel(objectName="muted", textFormat=Qt.TextFormat.PlainText)
        in_row(self.button, self.state, owner=self, margins=0, spacing=7)
        clicks.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        clicks = self._clicks
        if clicks.working and not clicks.own_files:
            text = self.tr("Computing…") if clicks.working == "segmenting" else ""
        elif clicks.working in ("loading", "encoding"):
            text = self.tr("Preparing the image…") if clicks.working == "encoding" else self.tr("Checking the files…")
        elif clicks.working:
            text = self.tr("Computing…")
        elif clicks.problem is not None:
            text = self.tr("Cannot be used")
        else:
            text = clicks.interface_name if clicks.own_files else self.tr("Built-in network")
        self.state.setText(text)
        self.state.setToolTip(problem_text(clicks.problem)[0] if clicks.problem is not None else "")


_HEIGHT = 36  # px, at least
_APART = 8  # px, between the text of a check box and the label of the next field, beside the usual spacing
_ARROWS = 28  # px, arrows and frame of a number field
_TICKS = 200  # steps of a slider on a logarithmic scale
_MEASURED = 4 << 20  # pixels: the center line of a larger region is not computed


class OptionBar(QWidget):
    """Option bar of a canvas. All fields are created once; those of the current tool are shown."""

    def __init__(self, canvas: Canvas, session: Session) -> None:
        super().__init__()
        self.setObjectName("options")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._canvas, self._session = canvas, session
        self.fields: dict[str, list[QWidget]] = {}
        self.spins: dict[str, QDoubleSpinBox] = {}
        self.sliders: dict[str, QSlider] = {}
        self.checks: dict[str, QCheckBox] = {}
        self._row = in_row(owner=self, margins=(10, 0, 10, 0), spacing=7)
        # Fits the fields once all have a new style. A single shot would keep a widget that is deleted meanwhile.
        self._fit_timer = QTimer(self, singleShot=True, interval=0, timeout=self._fit)
        self._make()
        self._fit()
        self.note = FittedNote()
        self._row.addWidget(self.note, 1)
        canvas.tool_changed.connect(self.refresh)
        canvas.brush_changed.connect(self._show_diameter)
        canvas.options.changed.connect(self.refresh)
        canvas.region_chosen.connect(self._show_region)
        canvas.measured.connect(self._show_measurement)
        for signal in (session.note_changed, session.current.opened, session.project_closed):
            signal.connect(self.refresh)
        self.refresh()

    def _fit(self) -> None:
        """Fit the fields, and the height, equal for all tools, to the size of the texts."""
        for spin in self.spins.values():
            width = spin.fontMetrics().horizontalAdvance(f"000{spin.suffix()}") + _ARROWS
            spin.setFixedWidth(max(spin.minimumWidth(), width))
        heights = [spin.sizeHint().height() + 2 for spin in self.spins.values()]
        self.setFixedHeight(max([_HEIGHT, *heights]))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_timer.start()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.height())  # a tool with many fields must not move the canvas

    # --- fields ----------------------------------------------------------------------------------

    def _make(self) -> None:
        self._number("size", self.tr("Size"), (1, MAX_DIAMETER), self.tr(" px"), self._resize)
        self._check("explicit", self.tr("Train on painted areas only"), self._set_explicit)
        self._toggle(
            "encircle", self.tr("Fill closed strokes"), self.tr("Fill the area of a stroke that ends at its start")
        )
        self._toggle("pressure", self.tr("Pen pressure"), self.tr("Adjust the stroke width to the pen pressure"))
        auto = self.tr("Determine the value from the image at each click")
        self._value("tolerance", self.tr("Tolerance"), "", "tolerance_auto", auto)
        self._value("band", self.tr("Value range"), "", "band_auto", auto)
        self._value("smoothing", self.tr("Smooth"), self.tr(" px"))
        self.fields["smoothing"][0].setContentsMargins(_APART, 0, 0, 0)
        self._toggle("fill_inside", self.tr("Fill holes"), self.tr("Include enclosed areas"))
        self._choice(
            "line",
            {
                "auto": self.tr("Dark or bright (automatic)"),
                "dark": self.tr("Dark line"),
                "bright": self.tr("Bright line"),
            },
        )
        self._value("widest", self.tr("Max. width"), self.tr(" px"))
        self._value("step", self.tr("Step"), self.tr(" px"))
        self._put("region", RegionButtons(self._canvas))
        self._toggle(
            "click_visible",
            self.tr("Visible area only"),
            self.tr("Small defects of a large image: zoom in before the click"),
        )
        self._make_zone()
        self._toggle(
            "folder_only",
            self.tr("Only this folder"),
            self.tr("The area is that of the images in the folder of this image; otherwise of all images without one"),
        )
        self.click_model = ClickModelField(self._canvas.clicks)
        self._put("click_model", self.click_model)

    def _put(self, field: str, *widgets: QWidget) -> None:
        for widget in widgets:
            self._row.addWidget(widget)
            self.fields.setdefault(field, []).append(widget)

    def _number(self, name: str, text: str, limits: tuple[float, float], suffix: str, change) -> None:
        """Add a label, a logarithmic slider and a number field."""
        slider = QSlider(Qt.Orientation.Horizontal, self, maximum=_TICKS, minimumWidth=30, maximumWidth=76)
        spin = QDoubleSpinBox(minimum=limits[0], maximum=limits[1], decimals=0 if name in ("size", "widest") else 1)
        spin.setSuffix(suffix)
        align_text(spin)
        spin.setMinimumWidth(98 if name == "widest" else 78)
        spin.setKeyboardTracking(False)
        for widget in (slider, spin):
            widget.setAccessibleName(text)
        low, high = max(limits[0], 0.25), limits[1]

        def slide(tick: int) -> None:
            change(low * (high / low) ** (tick / _TICKS) if tick else limits[0])

        slider.valueChanged.connect(slide)
        spin.valueChanged.connect(change)
        self.spins[name], self.sliders[name] = spin, slider
        label = QLabel(text)
        label.setBuddy(spin)
        if name == "step":  # few values, and the buttons beside it need the space of a slider
            slider.hide()
            self._put(name, label, spin)
        else:
            self._put(name, label, slider, spin)

    def _value(self, name: str, text: str, suffix: str, auto: str = "", tip: str = "") -> None:
        _, low, high = RANGES[name]
        self._number(name, text, (low, high), suffix, partial(self._set_value, name, auto))
        if auto:
            self._toggle(auto, self.tr("Auto"), tip, field=name)

    def _check(self, name: str, text: str, change, tip: str = "", field: str = "") -> None:
        check = QCheckBox(text, toolTip=tip, toggled=change)
        self.checks[name] = check
        self._put(field or name, check)

    def _toggle(self, name: str, text: str, tip: str, field: str = "") -> None:
        self._check(name, text, partial(self._canvas.options.switch, name), tip, field)

    def _choice(self, name: str, texts: dict[str, str]) -> None:
        self.line = QComboBox(accessibleName=self.tr("Line type"))
        for line in LINES:
            self.line.addItem(texts[line], line)
        self.line.activated.connect(lambda _: self._canvas.options.set_line(self.line.currentData()))
        self._put(name, self.line)

    def _make_zone(self) -> None:
        self.zone = QComboBox(editable=True, accessibleName=self.tr("Zone"), minimumContentsLength=14)
        self.zone.setToolTip(
            self.tr("Name of a zone that the polygon only marks, for the sentences of a verdict rule; empty: the area")
        )
        edit = self.zone.lineEdit()
        edit.setPlaceholderText(self.tr("Inspected area"))
        edit.setValidator(QRegularExpressionValidator(QRegularExpression("[^,:=]{0,40}"), self.zone))
        self.zone.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.zone.activated.connect(self._set_zone)
        edit.editingFinished.connect(self._set_zone)
        label = QLabel(self.tr("Zone"))
        label.setBuddy(self.zone)
        self._put("zone", label, self.zone)
        self._session.areas.changed.connect(self.refresh)

    # --- user input ------------------------------------------------------------------------------

    def _resize(self, size: float) -> None:
        if round(size) != self._canvas.diameter:
            self._canvas.set_diameter(round(size))

    def _set_value(self, name: str, auto: str, value: float) -> None:
        options = self._canvas.options
        if auto:
            options.switch(auto, False)  # a manual value turns automatic mode off
        options.set(name, round(value, 1))

    def _set_zone(self, *_: object) -> None:
        self._canvas.options.set_zone(self.zone.currentText().strip())

    def _set_explicit(self, on: bool) -> None:
        self._session.editor.set_explicit_background(on)
        self.refresh()

    # --- updates ---------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        options, tool = self._canvas.options, self._canvas.current
        fields = TOOLS[self._canvas.tool].options
        for name, widgets in self.fields.items():
            for widget in widgets:
                widget.setVisible(name in fields and (name != "pressure" or options.pen))
        for name in RANGES:
            self._show_value(name, options[name])
        self._show_value("size", self._canvas.diameter)
        for name, check in self.checks.items():
            with QSignalBlocker(check):
                check.setChecked(self._explicit() if name == "explicit" else options.on(name))
        self.checks["explicit"].setEnabled(self._session.mask is not None and self._session.writable)
        self.line.setCurrentIndex(self.line.findData(options.line))
        self._show_zone(options.zone)
        if not isinstance(tool, RegionTool) or tool.region is None:
            self._show_region(None)

    def _show_zone(self, name: str) -> None:
        zones = dict.fromkeys(zone for area in self._session.areas.areas for zone in area.zones)
        with QSignalBlocker(self.zone):
            self.zone.clear()
            self.zone.addItems(["", *zones])
            self.zone.setEditText(name)

    def _show_diameter(self, diameter: int) -> None:
        self._show_value("size", diameter)

    def _show_value(self, name: str, value: float) -> None:
        spin, slider = self.spins[name], self.sliders[name]
        with QSignalBlocker(spin), QSignalBlocker(slider):
            spin.setValue(value)
            low = max(spin.minimum(), 0.25)
            slider.setValue(round(_TICKS * math.log(max(value, low) / low) / math.log(spin.maximum() / low)))

    def _explicit(self) -> bool:
        return self._session.note is not None and self._session.note.explicit_background

    def _show_region(self, region: SelectedRegion | None) -> None:
        for button in self.fields["region"]:
            button.setEnabled(region is not None)
        if region is None:
            spec = TOOLS[self._canvas.tool]
            self.note.show_text(spec.translated(spec.hint))
        else:
            self._measure(region)

    def _measure(self, region: SelectedRegion) -> None:
        """Show the size of a region at once; compute its length and width in a thread."""
        area = self.tr("{n} px").format(n=formatting.number(np.count_nonzero(region.selection.inside)))
        self.note.show_text(area)
        if region.selection.inside.size <= _MEASURED:
            self._canvas.tasks.preview(lambda: measures(region.selection), partial(self._show_measures, region, area))

    def _show_measures(self, region: SelectedRegion, area: str, measured: Measures) -> None:
        tool, project = self._canvas.current, self._session.project
        if project is not None and isinstance(tool, RegionTool) and tool.region is region:
            scale = project.file.um_per_pixel
            long, wide = (formatting.length(value, scale) for value in (measured.feret, measured.max_width))
            self.note.show_text(self.tr("{area}   {long} × {wide}").format(area=area, long=long, wide=wide))

    def _show_measurement(self, name: str, value: float) -> None:
        if name == "width":
            scale = self._session.project.file.um_per_pixel if self._session.project else None
            self.note.show_text(self.tr("Traced, {width} wide").format(width=formatting.length(value, scale)))


class RegionButtons(QWidget):
    """Commands for the selected region."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__()
        self._canvas = canvas
        row = in_row(owner=self, margins=0, spacing=2)
        for name, text, tip in (
            ("edit_outline", self.tr("Outline"), self.tr("Edit outline")),
            ("grow", self.tr("Grow"), ""),
            ("shrink", self.tr("Shrink"), ""),
            ("smooth", self.tr("Smooth"), ""),
            ("fill_holes", self.tr("Fill holes"), ""),
            ("delete", self.tr("Delete"), ""),
        ):
            button = QToolButton(text=text, toolTip=tip, focusPolicy=Qt.FocusPolicy.TabFocus)
            button.clicked.connect(partial(self._act, name))
            row.addWidget(button)

    def _act(self, action: str) -> None:
        tool = self._canvas.current
        if isinstance(tool, RegionTool):
            getattr(tool, action)()
        self._canvas.setFocus()
