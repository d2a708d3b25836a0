"""Dialogs of models: export, and addition of a model that was trained by another program.

Export: formats, operating point, target latency, language of the model card.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from workbench.core.adoption.network_file import IGNORED, MAX_SIDE, OUTPUTS, AdoptionOptions
from workbench.core.messages import join, stored_text
from workbench.core.problems import Problem
from workbench.core.resources import LANGUAGES
from workbench.core.runs.export_options import (
    LAYOUTS,
    LINE_FORMAT,
    LINE_SIDES,
    ExportOptions,
    comparison_limits,
    load_layouts,
    shape_fits,
)
from workbench.core.runs.run import Run
from workbench.core.text_patterns import split_names
from workbench.inference.engines.registry import KINDS, cannot_make
from workbench.session.project_jobs import AdoptionJob
from workbench.session.session import Session
from workbench.session.training.trainer_thread import language_of_window
from workbench.ui.text import formatting, settings_texts
from workbench.ui.text.formatting import run_name, translate_message
from workbench.ui.widgets.box_layouts import Gap, in_column, in_row
from workbench.ui.widgets.dialogs import JobDialog, PathField
from workbench.ui.widgets.text_labels import ContentScrollArea, align_text, line_height, set_width_for_text, text_scale


class ExportOptionsDialog(QDialog):
    """Dialog for the options of an export.

    Formats that cannot be created on this computer are disabled with the reason.
    """

    chosen = Signal(object)  # ExportOptions

    def __init__(self, model: str, options: ExportOptions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export model"))
        self.formats: dict[str, QCheckBox] = {}
        load_layouts()
        content = QWidget()
        self.not_compared = QLabel(wordWrap=True)
        exact = [*(name for name, kind in KINDS.items() if not kind.reduced), LINE_FORMAT]
        reduced = self.tr("Reduced precision: smaller, often faster, slightly different results")
        note = self.tr(
            "The loss of quality is measured on labeled images. Formats that lose too much are not exported."
        )
        in_column(
            QLabel(self.tr("Full precision: same results as the trained model"), objectName="heading"),
            self._rows(exact, options),
            self._line_row(options),
            Gap(4),
            QLabel(self.tr("Folders for other programs"), objectName="heading"),
            self._rows(list(LAYOUTS), options),
            self.not_compared,
            Gap(4),
            QLabel(reduced, objectName="heading"),
            self._rows([name for name, kind in KINDS.items() if kind.reduced], options),
            QLabel(note, objectName="muted", wordWrap=True),
            QFrame(objectName="line"),
            self._add_fields(model, options),
            1,
            owner=content,
            margins=(0, 0, 6, 0),
            spacing=8,
        )
        in_column(ContentScrollArea(content), self._buttons(), owner=self, margins=(22, 16, 14, 14))
        self.point.currentIndexChanged.connect(self._check)
        self.size.currentIndexChanged.connect(self._check)
        for side in (self.line_width, self.line_height):
            side.valueChanged.connect(self._check)
        self._check()
        self.resize(self.sizeHint())  # Qt opens dialogs no higher than two thirds of the screen

    def options(self) -> ExportOptions:
        names = tuple(name for name, box in self.formats.items() if box.isChecked())
        point = self.point.currentData()
        if point == "own":
            point = f"{self.probability.value():g}"
        target = self.target.value()
        language = self.language.currentData()
        return ExportOptions(
            formats=names,
            point=point,
            target_ms=target if target > 0 else None,
            language="" if language == language_of_window() else language,
            shape=self._shape() if LINE_FORMAT in names else None,
        )

    def _shape(self) -> tuple[int, int] | None:
        """Return height and width of the self-contained model, or None for the usual image size."""
        return (self.line_height.value(), self.line_width.value()) if self.size.currentData() == "own" else None

    def accept(self) -> None:
        super().accept()
        self.chosen.emit(self.options())

    def _rows(self, names: list[str], options: ExportOptions) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(2, 0, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(5)
        grid.setColumnMinimumWidth(0, round(160 * text_scale()))
        grid.setColumnStretch(1, 1)
        for row, name in enumerate(names):
            box = QCheckBox(settings_texts.format_name(name))
            reason = cannot_make(name) if name in KINDS else ""
            box.setEnabled(not reason)
            box.setChecked(name in options.formats and not reason)
            box.toggled.connect(self._check)
            # The install command appears in the tooltip only: most users cannot install packages here.
            short = settings_texts.unavailable_text(name, reason)
            text = QLabel(short or settings_texts.format_purpose(name), objectName="muted", toolTip=reason)
            text.setEnabled(not reason)
            self.formats[name] = box
            grid.addWidget(box, row, 0)
            grid.addWidget(text, row, 1)
        return grid

    def _line_row(self, options: ExportOptions) -> QHBoxLayout:
        """Return the fields of the image size of the self-contained model."""
        self.size = QComboBox()
        self.size.addItem(self.tr("Typical image size"), "usual")
        self.size.addItem(self.tr("Custom size"), "own")
        self.size.setCurrentIndex(0 if options.shape is None else 1)
        height, width = options.shape or (512, 512)
        sides = [QSpinBox(minimum=LINE_SIDES[0], maximum=LINE_SIDES[1], value=value) for value in (width, height)]
        self.line_width, self.line_height = sides
        self.line_width.setAccessibleName(self.tr("Image width in pixels"))
        self.line_height.setAccessibleName(self.tr("Image height in pixels"))
        self._sides = QWidget()
        for field in sides:
            align_text(field)
        in_row(self.line_width, QLabel("×"), self.line_height, owner=self._sides, margins=0)
        self._size_label = _label(self.tr("Image &size (width × height)"), self.size)
        return in_row(self._size_label, self.size, self._sides, 1, margins=(26, 0, 0, 0), spacing=8)

    def _add_fields(self, model: str, options: ExportOptions) -> QGridLayout:
        self.point = QComboBox()
        for name, text in (
            ("balanced", self.tr("Current operating point")),
            ("more", self.tr("Fewer missed defects")),
            ("fewer", self.tr("Fewer false alarms")),
            ("own", self.tr("Custom probability")),
        ):
            self.point.addItem(text, name)
        self.probability = QDoubleSpinBox(minimum=0.01, maximum=1.0, singleStep=0.05, decimals=2)
        self.probability.setAccessibleName(self.tr("Minimum probability of a defect"))
        index = self.point.findData(options.point)
        self.point.setCurrentIndex(index if index >= 0 else self.point.findData("own"))
        self.probability.setValue(0.5 if index >= 0 else float(options.point))
        self.target = QDoubleSpinBox(minimum=0, maximum=100_000, decimals=0, singleStep=5)
        self.target.setSpecialValueText(self.tr("No target"))
        self.target.setSuffix(self.tr(" ms"))
        self.target.setValue(options.target_ms or 0)
        self.language = QComboBox()
        for name, text in LANGUAGES.items():
            self.language.addItem(text, name)
        self.language.setCurrentIndex(self.language.findData(options.language or language_of_window()))
        for field in (self.probability, self.target):
            align_text(field)
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(8)
        grid.setColumnMinimumWidth(0, round(160 * text_scale()))
        grid.setColumnStretch(2, 1)
        if model == "unet":
            grid.addWidget(_label(self.tr("&Detection threshold"), self.point), 0, 0)
            grid.addLayout(in_row(self.point, self.probability, spacing=8), 0, 1)
        else:
            self.point.setParent(self)
            self.point.hide()
            self.point.setCurrentIndex(0)
            self.probability.setParent(self)
        grid.addWidget(_label(self.tr("Max. &time per image"), self.target), 1, 0)
        grid.addWidget(self.target, 1, 1)
        note = self.tr("Measured on this computer with an image of typical size")
        grid.addWidget(QLabel(note, objectName="muted"), 2, 1, 1, 2)
        grid.addWidget(_label(self.tr("&Language of the model card"), self.language), 3, 0)
        grid.addWidget(self.language, 3, 1)
        return grid

    def _buttons(self) -> QHBoxLayout:
        self.hint = QLabel(objectName="muted")
        cancel = QPushButton(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.export = QPushButton(self.tr("Export"), objectName="primary")
        self.export.setDefault(True)
        self.export.clicked.connect(self.accept)
        return in_row((self.hint, 1), cancel, self.export)

    def _check(self, *_: object) -> None:
        names = [name for name, box in self.formats.items() if box.isChecked()]
        limits = comparison_limits(names)
        self.not_compared.setText(translate_message(join("list.sentences", limits)))
        self.not_compared.setVisible(bool(limits))
        chosen = bool(names)
        line, shape = self.formats[LINE_FORMAT].isChecked(), self._shape()
        for widget in (self._size_label, self.size, self._sides):
            widget.setEnabled(line)
        self._sides.setVisible(self.size.currentData() == "own")
        fits = shape is None or not line or shape_fits(shape)
        self.export.setEnabled(chosen and fits)
        hint = self.tr("The image size is too large.") if not fits else ""
        self.hint.setText(hint if chosen else self.tr("Select at least one format."))
        self.probability.setVisible(self.point.currentData() == "own")


def _label(text: str, field: QWidget) -> QLabel:
    label = QLabel(text)
    label.setBuddy(field)
    return label


class ExportReport(QDialog):
    """Dialog that shows the result of an export: `result` as emitted by `ExportJob.finished`, and a warning if any."""

    def __init__(
        self, result: dict[str, Any], show_folder: Callable[[Path], None], parent: QWidget | None, warning: str = ""
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export report"))
        set_width_for_text(self, 640)
        path = Path(str(result.get("path", "")))
        where = QLabel(str(path), objectName="muted", wordWrap=True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        stored = (formatting.translate_message(stored_text(result, name)) for name in ("not_compared", "note"))
        notes = filter(None, (warning, *stored))
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.accept)
        folder = QPushButton(self.tr("Open folder"), objectName="primary")
        folder.setDefault(True)
        folder.clicked.connect(lambda: show_folder(path))
        items = [where, self._table(result), *(QLabel(text, wordWrap=True) for text in notes), in_row(1, close, folder)]
        in_column(*items, owner=self, margins=(22, 20, 22, 18), spacing=14)

    def _table(self, result: dict[str, Any]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(3, 1)
        heads = [self.tr("Format"), self.tr("Agreement with training"), self.tr("Time per image")]
        if any(entry.get("held_out") for entry in (result.get("parity") or {}).values()):
            heads.append(self.tr("On labeled images"))  # where only formats of reduced precision are measured
        for column, text in enumerate(heads):
            grid.addWidget(QLabel(text, objectName="muted"), 0, column)
        grid.addWidget(QFrame(objectName="line"), 1, 0, 1, 4)
        exported, latency = result.get("formats") or [], result.get("latency") or {}
        row = 2
        parity = {name: entry for name, entry in (result.get("parity") or {}).items() if isinstance(entry, dict)}
        for name in sorted(parity, key=lambda name: name not in exported):
            entry = parity[name]
            title = QLabel(settings_texts.format_name(name), objectName="heading")
            grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            if name in exported:
                agreement = settings_texts.agreement_text(entry)
                if entry.get("max_abs") is not None:
                    deviation = f"{float(format(entry['max_abs'], '.2g')):.8f}".rstrip("0").rstrip(".")
                    agreement += "\n" + self.tr("probability ± {deviation}").format(deviation=deviation)
                time = settings_texts.milliseconds(latency.get(name))
                metrics = "\n".join(settings_texts.cost_text(entry.get("held_out") or {}))
                title.setMinimumHeight(round(line_height(agreement.partition("\n")[0], self.font())))
                for column, text in enumerate((agreement, time, metrics), start=1):
                    grid.addWidget(QLabel(text), row, column, Qt.AlignmentFlag.AlignTop)
            else:
                title.setEnabled(False)
                reason = self.tr("Not exported: {why}").format(
                    why=formatting.translate_message(stored_text(entry, "why"))
                )
                grid.addWidget(QLabel(reason, objectName="muted", wordWrap=True), row, 1, 1, 3)
            row += 1
        return grid


# --- model of another program ---------------------------------------------------------------------


class AdoptionDialog(JobDialog):
    """Dialog for an ONNX file with its options, which are those of the command `adopt`."""

    def __init__(self, session: Session, job: AdoptionJob, parent: QWidget | None = None) -> None:
        super().__init__(job, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Add model from file"))
        self.action = self.tr("Add model")
        self._add_fields([info.name for info in session.project.classes] if session.project is not None else [])
        self.show_status(
            self.tr(
                "Adds a segmentation network in ONNX format as a run. It predicts, makes suggestions, is evaluated on "
                "the labeled images and can be exported. It cannot be trained further."
            )
        )
        job.adopted.connect(self._show_end)
        self.refresh()

    def _add_fields(self, classes: list[str]) -> None:
        usual = AdoptionOptions(())
        self.file = PathField(self.tr("ONNX file"), "open", kinds=self.tr("ONNX networks (*.onnx)"))
        self.output = QComboBox()
        for kind, text in zip(OUTPUTS, self._output_texts(), strict=True):
            self.output.addItem(text, kind)
        self.classes = QLineEdit(", ".join(classes))
        self.classes.setToolTip(
            self.tr(
                "In the order of the output, without the background. “{mark}” for a class that is not used."
            ).format(mark=IGNORED)
        )
        self.output_name = QLineEdit(placeholderText=self.tr("Only if the network has several outputs"))
        self.mean, self.std = QLineEdit("0"), QLineEdit("1")
        for line in (self.mean, self.std):
            line.setToolTip(self.tr("One number, or one for each channel: 0.485, 0.456, 0.406"))
        self.white = QComboBox()
        for value, text in ((1.0, self.tr("0 to 1")), (255.0, self.tr("0 to 255"))):
            self.white.addItem(text, value)
        self.layout_kind = QComboBox()
        for layout, text in (
            ("auto", self.tr("As declared by the network")),
            ("nchw", self.tr("Channels first (NCHW)")),
            ("nhwc", self.tr("Channels last (NHWC)")),
        ):
            self.layout_kind.addItem(text, layout)
        self.tile_size, self.stride = QSpinBox(), QSpinBox()
        for box, value in ((self.tile_size, usual.size), (self.stride, usual.stride)):
            box.setRange(1, MAX_SIDE)
            box.setValue(value)
            box.setSuffix(self.tr(" px"))
            align_text(box)
        self.tile_size.setToolTip(
            self.tr("Images are predicted in tiles of this size, if the network has no fixed size")
        )
        self.stride.setToolTip(self.tr("The sides of a tile are multiples of this number"))
        self.bgr = QCheckBox(self.tr("Channels in the order &blue, green, red"))
        self.add_field(self.tr("&File"), self.file)
        self.add_field(self.tr("&Output"), self.output)
        self.add_field(self.tr("&Classes"), self.classes)
        self.add_field(self.tr("Output &name"), self.output_name)
        self.add_field(self.tr("Pixel &values"), self.white)
        self.add_field(self.tr("&Mean"), self.mean)
        self.add_field(self.tr("Standard &deviation"), self.std)
        self.add_field(self.tr("&Layout"), self.layout_kind)
        self.add_field(self.tr("Tile &size"), self.tile_size)
        self.add_field(self.tr("M&ultiple of"), self.stride)
        self.add_options(self.bgr)

    def _output_texts(self) -> list[str]:
        """Return the texts of `OUTPUTS`, in that order."""
        return [
            self.tr("Probabilities of background and classes (softmax)"),
            self.tr("Background and classes before the softmax (logits)"),
            self.tr("Independent probabilities of the classes (sigmoid)"),
            self.tr("Classes before the sigmoid (logits)"),
            self.tr("Probability of one class"),
            self.tr("Number of the class at each pixel"),
        ]

    def begin(self) -> None:
        path = self.file.path
        assert path is not None
        self.show_status(self.tr("Checking the network…"))
        self.job.start(
            path,
            AdoptionOptions(
                classes=tuple(split_names(self.classes.text())),
                mean=_numbers(self.mean.text()) or (),
                std=_numbers(self.std.text()) or (),
                white=self.white.currentData(),
                bgr=self.bgr.isChecked(),
                layout=self.layout_kind.currentData(),
                output=self.output.currentData(),
                output_name=self.output_name.text().strip(),
                size=self.tile_size.value(),
                stride=self.stride.value(),
            ),
        )

    def complete(self) -> bool:
        numbers = _numbers(self.mean.text()), _numbers(self.std.text())
        return self.file.path is not None and bool(split_names(self.classes.text())) and None not in numbers

    def progress_text(self, done: str, total: str) -> str:
        return self.tr("Checking the network…")

    def _show_end(self, run: Run | None) -> None:
        if run is None:
            self.show_status(self.tr("Canceled. No model was added."))
            return
        try:
            note = translate_message(run.dataset().held_out_note)
        except Problem:  # written a moment ago, and gone
            note = ""
        added = self.tr("Added as {name}.").format(name=run_name(run))
        self.show_status(f"{added} {note}".strip())


def _numbers(text: str) -> tuple[float, ...] | None:
    """Return the numbers of a list, None if it holds anything else."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return None
