"""Dialog for adding a model that was trained by another program."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox, QWidget

from workbench.core.adoption.network_file import IGNORED, MAX_SIDE, OUTPUTS, AdoptionOptions
from workbench.core.problems import Problem
from workbench.core.runs.run import Run
from workbench.core.text_patterns import split_names
from workbench.session.project_jobs import AdoptionJob
from workbench.session.session import Session
from workbench.ui.text.formatting import run_name, translate_message
from workbench.ui.widgets.dialogs import JobDialog, PathField
from workbench.ui.widgets.text_labels import align_text


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
