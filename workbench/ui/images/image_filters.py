"""Search field, filter and sort order of the image list, and pages shown in place of an empty list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QCompleter, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from workbench.core.image_search import SearchError, completions
from workbench.session.session import Session
from workbench.ui.images.image_model import ImageListModel
from workbench.ui.text.formatting import listed
from workbench.ui.widgets.box_layouts import Gap, add_items, in_column, in_row
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.text_labels import IconLabel
from workbench.ui.widgets.theme import ThemeManager

EXAMPLES = (
    "class:scratch",
    "status:open",
    "verdict:NG",
    "prob:<0.5",
    "group:lot7",
    "regions:>3",
    "date:2026-11",
    "-class:any",
)
_NUMBERS, _PROBABILITIES = ("5", "<5", ">=5", "2..5"), ("0.5", "<0.5", ">=0.5", "0.2..0.5")  # in a message
_MAX_GROUPS = 500  # groups among the completions


class SearchField(QLineEdit):
    """Line edit of name words and search terms; completes the last term."""

    def __init__(self, session: Session, model: ImageListModel, style: ThemeManager) -> None:
        super().__init__(clearButtonEnabled=True)
        self.setPlaceholderText(self.tr("Name, class:, prob:<0.5"))
        self.setAccessibleName(self.tr("Search by name or terms"))
        self.setToolTip(search_help())
        self.addAction(style.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self._session, self._model = session, model
        self.completions = QStringListModel(self)
        self._completer = _TermCompleter(self.completions, self)
        self.setCompleter(self._completer)
        self.textEdited.connect(self._complete)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the search on Esc. The text before would bring back a former search."""
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
        super().keyPressEvent(event)

    def _complete(self, text: str) -> None:
        project = self._session.project
        if project is None:
            return
        groups = sorted(filter(None, self._model.table.words("group")))[:_MAX_GROUPS] if "group:" in text else []
        self.completions.setStringList(completions(text, project.classes, project.file.verdicts, groups))


class _TermCompleter(QCompleter):
    """Completer that replaces the last term only. Matching is done before, so it offers all its entries."""

    def __init__(self, completions: QStringListModel, field: QLineEdit) -> None:
        super().__init__(completions, field)
        self._field = field
        self.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.setFilterMode(Qt.MatchFlag.MatchContains)

    def pathFromIndex(self, index) -> str:
        text = self._field.text()
        quote = text.rfind('"') if text.count('"') % 2 else len(text)
        return text[: text.rfind(" ", 0, quote) + 1] + index.data()

    def splitPath(self, path: str) -> list[str]:
        return [""]


def search_help() -> str:
    """Return a short help text of the search."""
    terms = QCoreApplication.translate(
        "search", "Type part of the name, or terms. An image must match all of them. Examples: {examples}"
    )
    operators = QCoreApplication.translate("search", "Put a minus before a term to negate it. A comma means “or”.")
    return terms.format(examples=listed(EXAMPLES)) + "\n" + operators


def error_text(error: SearchError) -> str:
    """Return the message for an invalid term."""
    known = listed(error.known[:12]) + ("…" if len(error.known) > 12 else "")
    pattern = {
        "term": QCoreApplication.translate("search", "Unknown search term {term}. Available: {known}."),
        "value": QCoreApplication.translate("search", "{term}: unknown value “{value}”. Available: {known}."),
        "number": QCoreApplication.translate("search", "{term}: “{value}” is not a number. Examples: {examples}."),
        "date": QCoreApplication.translate(
            "search", "{term}: “{value}” is not a date. Examples: 2026-11-21, 2026-11, >2026."
        ),
        "empty": QCoreApplication.translate("search", "{term}: a value is missing after the colon."),
    }[error.kind]
    examples = listed(_PROBABILITIES if error.term == "prob" else _NUMBERS)
    return pattern.format(term=error.term, value=error.value, known=known, examples=examples)


class SearchErrors(QLabel):
    """Messages for the invalid terms of a search; hidden without any."""

    def __init__(self) -> None:
        super().__init__(objectName="wrong", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.hide()

    def show_errors(self, errors: Sequence[SearchError]) -> None:
        self.setText("\n".join(map(error_text, errors)))
        self.setVisible(bool(errors))


_LEAST_CHARACTERS = 9  # of an entry that are shown


class ImageFilters(QWidget):
    """Widget with filter, sort order, and access to the label queue, which has its own order."""

    changed = Signal()
    queue_requested = Signal()
    thumbnails_requested = Signal()

    def __init__(self, model: ImageListModel, style: ThemeManager) -> None:
        super().__init__()
        self._model, self._style = model, style
        self.filter = QComboBox()
        for entry in model.filters:
            self.filter.addItem(entry.title, entry.name)
        self.sort = QComboBox()
        for entry in model.columns:
            self.sort.addItem(entry.sort_text, entry.sort)
        for box in (self.filter, self.sort):  # a long entry does not widen the list
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(_LEAST_CHARACTERS)
        self.descending = QToolButton(checkable=True)
        self.label_next = QToolButton(icon=style.icon("queue"))
        self.thumbnails = QToolButton(checkable=True, icon=style.icon("grid"))
        for widget, name, tip in (
            (self.filter, self.tr("Image filter"), self.tr("Filter the image list")),
            (self.sort, self.tr("Sort order"), self.tr("Sort order of the image list")),
            (self.descending, self.tr("Descending"), self.tr("Sort in descending order")),
            (
                self.label_next,
                self.tr("Label next"),
                self.tr("Images that would improve the model most, with the reason for each"),
            ),
        ):
            widget.setAccessibleName(name)
            widget.setToolTip(tip)
        self.thumbnails.setAccessibleName(self.tr("Thumbnail view"))
        set_key_tip(self.thumbnails, self.tr("Show all listed images as thumbnails"), "thumbnails")
        row = in_row((self.sort, 1), self.descending, self.label_next, spacing=4)
        first = in_row((self.filter, 1), self.thumbnails, spacing=4)
        in_column(first, row, owner=self, margins=0, spacing=6)
        self.filter.currentIndexChanged.connect(self.changed)
        self.sort.currentIndexChanged.connect(self.changed)
        self.descending.toggled.connect(self._show_order)
        self.descending.toggled.connect(self.changed)
        self.label_next.clicked.connect(self.queue_requested)
        self.thumbnails.clicked.connect(self.thumbnails_requested)
        self._show_order()

    def apply(self) -> None:
        """Set filter and sort order of the model."""
        self._model.filter_name = self.filter.currentData()
        self._model.sort_by, self._model.descending = self.sort.currentData(), self.descending.isChecked()

    def sort_by(self, name: str, *, descending: bool) -> None:
        """Choose a sort order of `ImageListModel.columns`."""
        self.descending.setChecked(descending)
        self.sort.setCurrentIndex(self._model.column_of(name))

    def _show_order(self) -> None:
        icon = "chevron-down" if self.descending.isChecked() else "chevron-up"
        self.descending.setIcon(self._style.icon(icon, "muted"))


class EmptyProjectPage(QWidget):
    """Page of a project without images."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        column = in_column(1, owner=self, margins=(18, 12, 18, 12), spacing=8)
        text = QLabel(self.tr("Drop images or folders here"), alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        text.setObjectName("heading")
        note = QLabel(
            self.tr("Images are copied into the project. The original files are not changed."),
            alignment=Qt.AlignmentFlag.AlignCenter,
            wordWrap=True,
        )
        note.setObjectName("muted")
        self.files = QPushButton(self.tr("Add images…"), objectName="primary")
        self.folder = QPushButton(self.tr("Add folder…"))
        column.addWidget(IconLabel(style.icon("image-add", "muted"), 40), 0, Qt.AlignmentFlag.AlignHCenter)
        add_items(column, text, note, Gap(6), self.files, self.folder, 2)

    def sizeHint(self) -> QSize:
        return QSize(200, 300)


class NoMatchPage(QWidget):
    """Page shown if the filters hide all images."""

    def __init__(self) -> None:
        super().__init__()
        text = QLabel(self.tr("No matching images"), alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        text.setObjectName("heading")
        self.clear = QPushButton(self.tr("Show all images"))
        self.help = QLabel(search_help(), wordWrap=True, objectName="muted", alignment=Qt.AlignmentFlag.AlignCenter)
        column = in_column(1, text, owner=self, margins=(18, 12, 18, 12), spacing=10)
        column.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignCenter)
        add_items(column, self.help, 2)


class EmptyQueuePage(QWidget):
    """Page shown while the active queue is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.text = QLabel(self.tr("No images left in this list"), objectName="heading", wordWrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.all = QPushButton(self.tr("Show all images"))
        column = in_column(1, self.text, owner=self, margins=(18, 12, 18, 12), spacing=10)
        column.addWidget(self.all, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(2)
