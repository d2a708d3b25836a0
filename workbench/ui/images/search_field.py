"""Search field of images: completes terms during typing and reports invalid ones."""

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
    "score:<0.5",
    "group:lot7",
    "regions:>3",
    "date:2026-11",
    "-class:any",
)
_GROUPS = 500  # most groups offered


class SearchField(QLineEdit):
    """Line edit of name words and search terms; completes the last term."""

    def __init__(self, session: Session, model: ImageListModel) -> None:
        super().__init__(clearButtonEnabled=True)
        self.setPlaceholderText(self.tr("Search: name, class:, score:<0.5 …"))
        self.setAccessibleName(self.tr("Search by name or by terms"))
        self.setToolTip(search_help())
        self._session, self._model = session, model
        self._offers = QStringListModel(self)
        self._completer = _TermCompleter(self._offers, self)
        self.setCompleter(self._completer)
        self.textEdited.connect(self._offer)

    def _offer(self, text: str) -> None:
        project = self._session.project
        if project is None:
            return
        groups = sorted(filter(None, self._model.table.words("group")))[:_GROUPS] if "group:" in text else []
        self._offers.setStringList(completions(text, project.classes, project.file.verdicts, groups))


class _TermCompleter(QCompleter):
    """Completer that replaces the last term only. Matching is done before, so it offers all its entries."""

    def __init__(self, offers: QStringListModel, field: QLineEdit) -> None:
        super().__init__(offers, field)
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
    says = QCoreApplication.translate(
        "search", "Type a part of the name, or terms; all of them must hold. Examples: {examples}"
    )
    more = QCoreApplication.translate("search", "A minus before a term turns it round; a comma means or.")
    return says.format(examples=listed(EXAMPLES)) + "\n" + more


def wrong_words(wrong: SearchError) -> str:
    """Return the error of a term in one line."""
    known = listed(wrong.known[:12]) + ("…" if len(wrong.known) > 12 else "")
    pattern = {
        "term": QCoreApplication.translate("search", "There is no term {term}: – there are {known}."),
        "value": QCoreApplication.translate("search", "{term}: nothing is called {value} – there is {known}."),
        "number": QCoreApplication.translate(
            "search", "{term}: {value} is no number – write such as 5, <5, >=5 or 2..5."
        ),
        "date": QCoreApplication.translate(
            "search", "{term}: {value} is no date – write such as 2026-11-21, 2026-11 or >2026."
        ),
        "empty": QCoreApplication.translate("search", "{term}: needs a value after the colon."),
    }[wrong.kind]
    return pattern.format(term=wrong.term, value=wrong.value, known=known)
