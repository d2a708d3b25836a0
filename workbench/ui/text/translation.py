"""Language of the user interface."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from workbench.core import resources
from workbench.core.resources import LANGUAGES


def chosen(request: str) -> str:
    """Return the language for a wish of "system" or one of LANGUAGES."""
    if request in LANGUAGES:
        return request
    return "zh_CN" if QLocale.system().language() == QLocale.Language.Chinese else "en"


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
        if language != "en" and translator.load(file, folder):
            app.installTranslator(translator)
            installed.append(translator)
    return installed
