"""The search of pictures: offers terms while they are typed, and says which it cannot understand."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QStringListModel, Qt
from PySide6.QtWidgets import QCompleter, QLineEdit

from workbench.core.picture_search import Wrong, completions
from workbench.session.session import Session
from workbench.ui.panels.picture_list import PictureList
from workbench.ui.words import listed

EXAMPLES = ("class:scratch", "status:open", "verdict:NG", "score:<0.5", "group:lot7", "regions:>3", "date:2026-11",
            "-class:any")  # fmt: skip
_GROUPS = 500  # offered at most


class SearchField(QLineEdit):
    """Words of the name and terms; completes the term at the end."""

    def __init__(self, session: Session, model: PictureList) -> None:
        super().__init__(clearButtonEnabled=True)
        self.setPlaceholderText(self.tr("Search: name, class:, score:<0.5 …"))
        self.setAccessibleName(self.tr("Search by name or by terms"))
        self.setToolTip(search_help())
        self._session, self._model = session, model
        self._offers = QStringListModel(self)
        self._completer = _LastTerm(self._offers, self)
        self.setCompleter(self._completer)
        self.textEdited.connect(self._offer)

    def _offer(self, text: str) -> None:
        project = self._session.project
        if project is None:
            return
        groups = sorted(filter(None, self._model.table.words("group")))[:_GROUPS] if "group:" in text else []
        self._offers.setStringList(completions(text, project.classes, project.file.verdicts, groups))


class _LastTerm(QCompleter):
    """Puts what is chosen in place of the last term only. What fits is decided before: it offers all it has."""

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
    """How to search, in a few lines."""
    says = QCoreApplication.translate(
        "search", "Type a part of the name, or terms; all of them must hold. Examples: {examples}"
    )
    more = QCoreApplication.translate("search", "A minus before a term turns it round; a comma means or.")
    return says.format(examples=listed(EXAMPLES)) + "\n" + more


def wrong_words(wrong: Wrong) -> str:
    """What is wrong with a term, in one line."""
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
