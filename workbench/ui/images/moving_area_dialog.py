"""Dialog: whether an inspection area moves with the part, and its limits, tried on the open image."""

from __future__ import annotations

import math

from PySide6.QtWidgets import QCheckBox, QDialog, QDoubleSpinBox, QFormLayout, QLabel, QPushButton, QWidget

from workbench.core.text_patterns import fill
from workbench.inference.part_position import MOST_ANGLE, MOST_SHIFT, PartReference, Placement
from workbench.session.session import Session
from workbench.ui.text.formatting import number, problem_text, sentences, translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import set_width_for_text


class MovingAreaDialog(QDialog):
    """Limits of the movement of the area of the open image. It states where the part is there, or why it is not found.

    The open image becomes the reference image, unless the area has one.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._key = session, session.key or ""
        area = session.areas.of(self._key)
        assert area is not None
        self._side, self._reference = max(area.width, area.height), area.reference
        self.setWindowTitle(self.tr("Inspection area moves with the part"))
        set_width_for_text(self, 480)
        self.moves = QCheckBox(self.tr("The area moves with the part"), checked=True)
        self.shift = QDoubleSpinBox(maximum=100 * MOST_SHIFT, decimals=1, suffix="%", keyboardTracking=False)
        self.angle = QDoubleSpinBox(maximum=MOST_ANGLE, decimals=1, suffix="°", keyboardTracking=False)
        self.shift.setValue(100 * (PartReference.most_shift if area.reference is None else area.reference.most_shift))
        self.angle.setValue(PartReference.most_angle if area.reference is None else area.reference.most_angle)
        self.shift.setToolTip(self.tr("Of the longer side of the image"))
        self.angle.setToolTip(self.tr("0: the part does not rotate"))
        self.pixels = QLabel(objectName="muted")
        self.status = QLabel(wordWrap=True)
        self.status.setMinimumHeight(3 * self.status.fontMetrics().lineSpacing())  # of the longest reason
        form = QFormLayout()
        rows = (self.tr("Greatest &movement"), self.shift, self.pixels), (self.tr("Greatest &rotation"), self.angle)
        for text, box, *unit in rows:
            label = QLabel(text)
            label.setBuddy(box)
            label.setMinimumHeight(box.sizeHint().height())  # centers it vertically beside its field
            form.addRow(label, in_row(box, *unit, 1))
        hint = self.tr("Where the part is not found within these limits, the verdict is unsure, with the reason.")
        self.use_button = QPushButton(self.tr("Use it"), objectName="primary", default=True, clicked=self._use)
        cancel = QPushButton(self.tr("Cancel"), autoDefault=False, clicked=self.reject)
        in_column(
            self.moves,
            form,
            self.status,
            QLabel(hint, objectName="muted", wordWrap=True),
            in_row(1, cancel, self.use_button, spacing=8),
            owner=self,
            margins=(22, 18, 22, 16),
            spacing=12,
        )
        self.moves.toggled.connect(self._changed)
        self.shift.valueChanged.connect(self._changed)
        self.angle.valueChanged.connect(self._changed)
        session.areas.changed.connect(self.accept)
        session.areas.left_out.connect(self.accept)  # a message then asks whether it is used
        session.areas.problem_met.connect(self._failed)
        session.project_closed.connect(self.reject)
        self._changed()

    @property
    def limits(self) -> tuple[float, float] | None:
        """Greatest movement as a share of the longer side, and rotation in degrees; None: the area does not move."""
        return (round(self.shift.value() / 100, 4), self.angle.value()) if self.moves.isChecked() else None

    def _changed(self, *_: object) -> None:
        """Try the limits on the open image."""
        for box in (self.shift, self.angle):
            box.setEnabled(self.moves.isChecked())
        self.pixels.setText(fill(self.tr("{n} px"), n=number(round(self.shift.value() / 100 * self._side))))
        image = self._session.image
        if self.limits is None or image is None:
            self.status.setText(self.tr("The area has the same place in all images."))
            return
        self.status.setText(self.tr("Looking for the part in this image…"))
        self._session.areas.find(self._key, image, self._show, limits=self.limits, on_failed=self._failed)

    def _show(self, found: Placement | None) -> None:
        if found is None or self.limits is None:
            return
        if found.why:
            text = self.tr("In this image the part is not found: {why}.").format(why=translate_message(found.why))
        elif self._reference is None:
            text = self.tr("This image becomes the reference image.")
        else:
            shift, angle = number(round(math.hypot(found.dx, found.dy))), number(abs(found.angle), 1)
            text = self.tr("In this image the part has moved by {n} px and is rotated by {angle}°.")
            text = text.format(n=shift, angle=angle)
        self.status.setText(text)

    def _failed(self, problem: Exception) -> None:
        self.use_button.setEnabled(True)
        self.status.setText(sentences(*problem_text(problem)))

    def _use(self) -> None:
        self.use_button.setEnabled(False)  # labeled images are searched for the part
        self._session.areas.follow(self._key, self.limits, self._failed)
