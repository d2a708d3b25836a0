"""Language of the user interface."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from functools import cache

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLibraryInfo, QLocale, QTranslator

from workbench.core import messages, resources
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE, matching_language


def translate_message(text: str) -> str:
    """Return a message in the language of the user interface; any other text unchanged."""
    return messages.render(text, QCoreApplication.translate)


# Texts of Qt, with their context, that the translations of the application replace.
QT_TEXTS = (
    QT_TRANSLATE_NOOP("QKeySequenceEdit", "Press shortcut"),
    QT_TRANSLATE_NOOP("QLineEdit", "&Undo"),
    QT_TRANSLATE_NOOP("QWidgetTextControl", "&Undo"),
    QT_TRANSLATE_NOOP("QAbstractSpinBox", "&Step up"),
    QT_TRANSLATE_NOOP("QAbstractSpinBox", "Step &down"),
    QT_TRANSLATE_NOOP("QShortcut", "Left"),
    QT_TRANSLATE_NOOP("QShortcut", "Right"),
    QT_TRANSLATE_NOOP("QShortcut", "Up"),
    QT_TRANSLATE_NOOP("QShortcut", "Down"),
)


def chosen(request: str) -> str:
    """Return the language for a request of "system" or one of LANGUAGES."""
    return request if request in LANGUAGES else matching_language(QLocale.system().name())


def install(app: QCoreApplication, request: str) -> list[QTranslator]:
    """Install the translators of Qt and of the application.

    Return them, so that they can be removed for another language.
    """
    language = chosen(request)
    QLocale.setDefault(QLocale(language))
    installed = []
    for file, folder in (
        (f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)),
        (f"workbench_{language}", str(resources.path("i18n"))),
    ):
        translator = QTranslator(app)
        if language != SOURCE_LANGUAGE and translator.load(file, folder):
            app.installTranslator(translator)
            installed.append(translator)
    return installed


@cache
def _command_texts(language: str) -> tuple[tuple[str, str], ...]:
    """Return (English text, translation) of the commands, menus and tools."""
    try:
        root = ElementTree.parse(resources.path(f"i18n/workbench_{language}.ts")).getroot()
    except (OSError, ElementTree.ParseError):
        return ()  # the search then finds the window's language only
    return tuple(
        (message.findtext("source", ""), message.findtext("translation", ""))
        for context in root.iter("context")
        if context.findtext("name", "").endswith("Menu") or context.findtext("name") == "tools"
        for message in context.iter("message")
    )


def counterparts() -> list[dict[str, str]]:
    """Return, for each other language, a table from command texts of the window's language to that language."""
    current = matching_language(QLocale().name())
    to_source = {} if current == SOURCE_LANGUAGE else {text: source for source, text in _command_texts(current)}
    tables: list[dict[str, str]] = []
    for language in LANGUAGES:
        if language == current:
            continue
        texts = dict(_command_texts(language)) if language != SOURCE_LANGUAGE else {}
        if to_source:
            tables.append({text: texts.get(source, source) for text, source in to_source.items()})
        else:
            tables.append(texts)
    return tables
