"""Language of the user interface."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from workbench.core import resources
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE, matching_language


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
