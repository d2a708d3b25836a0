"""Search field of the image list: completes terms during typing and reports invalid ones."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QStringListModel, Qt
from PySide6.QtWidgets import QCompleter, QLineEdit

from workbench.core.image_list.image_search import SearchError, completions
from workbench.session.session import Session
from workbench.ui.images.image_model import ImageListModel
from workbench.ui.text.formatting import listed

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
_MAX_GROUPS = 500  # groups among the completions


class SearchField(QLineEdit):
    """Line edit of name words and search terms; completes the last term."""

    def __init__(self, session: Session, model: ImageListModel) -> None:
        super().__init__(clearButtonEnabled=True)
        self.setPlaceholderText(self.tr("Name, class:, prob:<0.5"))
        self.setAccessibleName(self.tr("Search by name or terms"))
        self.setToolTip(search_help())
        self._session, self._model = session, model
        self._completions = QStringListModel(self)
        self._completer = _TermCompleter(self._completions, self)
        self.setCompleter(self._completer)
        self.textEdited.connect(self._complete)

    def _complete(self, text: str) -> None:
        project = self._session.project
        if project is None:
            return
        groups = sorted(filter(None, self._model.table.words("group")))[:_MAX_GROUPS] if "group:" in text else []
        self._completions.setStringList(completions(text, project.classes, project.file.verdicts, groups))


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
        "value": QCoreApplication.translate("search", "{term}: unknown value {value}. Available: {known}."),
        "number": QCoreApplication.translate("search", "{term}: {value} is not a number. Examples: 5, <5, >=5, 2..5."),
        "date": QCoreApplication.translate(
            "search", "{term}: {value} is not a date. Examples: 2026-11-21, 2026-11, >2026."
        ),
        "empty": QCoreApplication.translate("search", "{term}: a value is missing after the colon."),
    }[error.kind]
    return pattern.format(term=error.term, value=error.value, known=known)
