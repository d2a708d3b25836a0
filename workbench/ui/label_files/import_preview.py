"""Preview of an import: format, numbers, mapping of classes, images with their labels, options and skipped files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

from workbench.core.project.import_plan import ImportPlan, PlannedClass, PlannedVerdict
from workbench.core.project.project import PALETTE, Project, matching_class
from workbench.core.text_patterns import fill
from workbench.ui.label_files.import_options import ImportOptionsRow
from workbench.ui.label_files.mapping_table import MappingTable
from workbench.ui.label_files.path_choices import MissingImages
from workbench.ui.label_files.preview_strip import PreviewStrip
from workbench.ui.label_files.skipped_list import SkippedList
from workbench.ui.text.formatting import number
from workbench.ui.widgets.theme import ThemeManager


class ImportPreview(QWidget):
    """Preview of the labels that were read, in which the user chooses what is imported."""

    def __init__(self, style: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan: ImportPlan | None = None
        self._project: Project | None = None
        self.summary = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.mapping = MappingTable()
        self.previews = PreviewStrip(style)
        self.options = ImportOptionsRow()
        self.skipped = SkippedList()
        self.missing = MissingImages()
        splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        splitter.addWidget(self.mapping)
        splitter.addWidget(self.previews)
        splitter.setSizes([560, 340])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self.options.format_row)
        column.addWidget(self.summary)
        column.addWidget(splitter, 1)
        column.addWidget(self.options)
        column.addWidget(self.missing)
        column.addWidget(self.skipped)
        self.mapping.changed.connect(self._show_previews)

    def show_plan(self, plan: ImportPlan, project: Project, path: Path) -> None:
        """Show what an import would do. path: first of the chosen files."""
        self._plan, self._project = plan, project
        self.options.show_plan(plan)
        self.summary.setText(_summary(plan))
        classes = [info.name for info in project.classes]
        self.mapping.show_entries(plan.classes, plan.verdicts, classes, project.file.verdicts)
        self.skipped.show_entries(plan.skipped, plan.report.notes, plan.report.image_notes)
        self.missing.show_count(plan.missing, path)
        self._show_previews()

    def clear(self, *, keep_labels: bool) -> None:
        """Remove the numbers; also the classes and images, unless `keep_labels`."""
        self.summary.clear()
        if not keep_labels:
            self._plan = None
            self.mapping.setRowCount(0)
            self.previews.show_previews([], lambda name: None)

    def choices(self) -> dict[str, Any]:
        """Return the fields of an ImportRequest that the user has chosen here."""
        targets = self.mapping.targets
        return {"classes": targets(PlannedClass), "verdicts": targets(PlannedVerdict), **self.options.choices()}

    def _show_previews(self) -> None:
        if self._plan is None or self._project is None:
            return
        classes, targets = self._project.classes, self.mapping.targets(PlannedClass)
        order = list(targets)

        def color(name: str) -> str | None:
            target = targets.get(name)
            if target is None:
                return None
            known = matching_class(target, classes, exact=True)
            return known.color if known is not None else PALETTE[(len(classes) + order.index(name)) % len(PALETTE)]

        self.previews.show_previews(self._plan.previews, color)


def _summary(plan: ImportPlan) -> str:
    translate = QCoreApplication.translate
    images = translate("ImportDialog", "{images} {images:image|images}: {matched} in the project, {new} new")
    parts = [
        fill(images, images=number(plan.images), matched=number(plan.matched), new=number(plan.new)),
        fill(translate("ImportDialog", "{n} {n:image|images} with labels"), n=number(plan.labels)),
    ]
    if plan.boxes:
        parts.append(fill(translate("ImportDialog", "{n} bounding {n:box|boxes}"), n=number(plan.boxes)))
    return "  ·  ".join(parts)
