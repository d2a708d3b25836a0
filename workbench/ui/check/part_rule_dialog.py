"""Dialog about how images of the same part are recognized, with the parts and the data split that follow."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QButtonGroup, QComboBox, QDialog, QLabel, QLineEdit, QPushButton, QRadioButton, QWidget

from workbench.core.check.project_statistics import NAME_PATTERNS, PartPreview, PreviewedPart, preview_parts
from workbench.core.problems import Problem
from workbench.core.project.project import Grouping
from workbench.core.text_patterns import as_text, fill
from workbench.session.session import Session
from workbench.session.tasks import TaskRunner
from workbench.ui.evaluation.part_dialogs import RowTable
from workbench.ui.text import formatting
from workbench.ui.widgets.box_layouts import Gap, in_column, in_row
from workbench.ui.widgets.text_labels import resize_for_text, set_disabled_reason

_DELAY = 250  # ms from a change to its preview
_SIZE = 680, 560  # px
_LISTED, _EXAMPLES = 200, 3  # parts, and images of a part


class PartRuleDialog(QDialog):
    """Non-modal. Each choice is previewed at once; it is stored with the button only."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self.preview = session, None
        self._tasks = TaskRunner(1, self)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY, timeout=self._start_preview)
        self.setWindowTitle(self.tr("How parts are told apart"))
        resize_for_text(self, *_SIZE)
        reason = QLabel(wordWrap=True)
        reason.setText(
            self.tr(
                "Several images can show the same part: from other sides, or taken again. Images of one part are never "
                "divided between training and validation, because a model recognizes a part that it has seen, and its "
                "metrics would be too good."
            )
        )
        self.rules = {
            "auto": QRadioButton(self.tr("&Automatic: neighboring numbers, and images that look the same")),
            "folder": QRadioButton(self.tr("By &folder: all images of a folder show one part")),
            "pattern": QRadioButton(self.tr("By &name: images whose names begin in the same way show one part")),
            "each": QRadioButton(self.tr("&Each image is a part of its own")),
        }
        group = QButtonGroup(self)
        for button in self.rules.values():
            group.addButton(button)
        self.names = QComboBox(accessibleName=self.tr("Part in the name"))
        for text, id in (
            (self.tr("up to the last _ or -"), "last_separator"),
            (self.tr("up to the first _ or -"), "first_separator"),
            (self.tr("up to the last number"), "last_number"),
        ):
            self.names.addItem(text, NAME_PATTERNS[id])
        self.names.addItem(self.tr("regular expression"), "")
        self.pattern = QLineEdit(accessibleName=self.tr("Regular expression"))
        self.summary = QLabel(wordWrap=True, objectName="heading")
        self.split = QLabel(wordWrap=True, objectName="muted")
        self.table = RowTable(self.tr("Parts"))
        self.use = QPushButton(self.tr("Use for the next trainings"), objectName="primary", clicked=self._store)
        close = QPushButton(self.tr("Close"), clicked=self.reject)
        names = in_row(Gap(24), self.names, (self.pattern, 1), spacing=6)
        in_column(
            reason, self.rules["auto"], self.rules["folder"], self.rules["pattern"], names, self.rules["each"], Gap(4),
            self.summary, self.split, (self.table, 1), in_row(1, close, self.use),
            owner=self, margins=(22, 18, 22, 18), spacing=8,
        )  # fmt: skip
        self._show_rule()
        group.buttonToggled.connect(self._changed)
        self.names.currentIndexChanged.connect(self._changed)
        self.pattern.textChanged.connect(self._changed)
        session.project_closed.connect(self.close)
        self._changed()

    @property
    def rule(self) -> Grouping:
        """Chosen rule."""
        name = next(name for name, button in self.rules.items() if button.isChecked())
        pattern = (self.names.currentData() or self.pattern.text()) if name == "pattern" else ""
        return Grouping.model_validate({"rule": name, "pattern": pattern})

    def _show_rule(self) -> None:
        """Choose the rule of the project."""
        project = self._session.project
        rule = project.file.grouping if project is not None else Grouping()
        self.rules[rule.rule].setChecked(True)
        if rule.rule == "pattern":
            self.pattern.setText(rule.pattern)
            found = self.names.findData(rule.pattern)
            self.names.setCurrentIndex(found if found >= 0 else self.names.count() - 1)

    def _changed(self, *_: object) -> None:
        named = self.rules["pattern"].isChecked()
        self.names.setEnabled(named)
        self.pattern.setVisible(named and not self.names.currentData())
        self._show_state(self.tr("Dividing the images into parts…"))
        self._timer.start()

    def _show_state(self, reason: str) -> None:
        project = self._session.project
        if not reason and project is not None:
            unchanged = self.rule == project.file.grouping
            reason = self.tr("This rule is in use") if unchanged else ""
            reason = reason or ("" if project.writable else self.tr("The project is read-only"))
        set_disabled_reason(self.use, reason)

    def _start_preview(self) -> None:
        project, rule = self._session.project, self.rule
        if project is not None:
            self._session.flush()
            self._tasks.cancel()
            self._tasks.submit(lambda _: preview_parts(project, rule), self._show, self._fail)

    def _show(self, preview: PartPreview) -> None:
        self.preview = preview
        pattern = (
            self.tr("{n} labeled {n:image|images} of {parts} {parts:part|parts}")
            if preview.labeled
            else self.tr("{n} {n:image|images} of {parts} {parts:part|parts}")
        )
        counts = {"n": formatting.number(preview.images), "parts": formatting.number(len(preview.parts))}
        self.summary.setText(fill(pattern, **counts))
        self.split.setText(self._split_text(preview.splits) if preview.labeled else self.tr("Nothing is labeled yet."))
        header = [self.tr("Part"), self.tr("Images"), self.tr("Examples"), self.tr("Data split")]
        self.table.show_rows(header, [self._row(part) for part in preview.parts[:_LISTED]])
        self._show_state("")

    def _fail(self, problem: Problem) -> None:
        self.preview = None
        text, advice = formatting.problem_text(problem)
        self.summary.setText(text)
        self.split.setText(advice)
        self.table.show_rows([], [])
        self._show_state(text)

    def _row(self, part: PreviewedPart) -> list[str]:
        names = [as_text(key).rpartition("/")[2] for key in part.keys[:_EXAMPLES]]
        more = ["…"] if len(part.keys) > _EXAMPLES else []
        splits = [name for split, name in self._split_names().items() if part.splits[split]]
        return [as_text(part.name), formatting.number(len(part.keys)), ", ".join(names + more), ", ".join(splits)]

    def _split_names(self) -> dict[str, str]:
        return {"train": self.tr("training"), "val": self.tr("validation"), "test": self.tr("test")}

    def _split_text(self, splits: dict[str, int]) -> str:
        counts = {name: formatting.number(splits.get(name, 0)) for name in self._split_names()}
        text = self.tr("Next training: {train} for training, {val} for validation, {test} for the test")
        return text.format(**counts)

    def _store(self) -> None:
        if self._session.set_project_field("grouping", self.rule):
            self._session.refresh_images()
            self._show_state("")

    def done(self, result: int) -> None:
        self._timer.stop()
        self._tasks.cancel()
        super().done(result)
