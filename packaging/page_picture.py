"""Take a picture of a web page, in a process of its own, with PySide6-Addons installed.

    python packaging/page_picture.py ADDRESS FILE WIDTHxHEIGHT LANGUAGE [SCRIPT] [dark]

SCRIPT is JavaScript that is run in the page; the picture is taken when its value is true.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")
scheme = 0 if sys.argv[-1] == "dark" else 1
os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = f"--disable-gpu --blink-settings=preferredColorScheme={scheme}"

from PySide6.QtCore import QTimer, QUrl  # noqa: E402
from PySide6.QtWebEngineWidgets import QWebEngineView  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402


def main(address: str, file: str, size: str, language: str, script: str = "true", _: str = "light") -> int:
    app = QApplication(sys.argv[:1])
    view = QWebEngineView()
    view.page().profile().setHttpAcceptLanguage(language.replace("_", "-"))
    view.resize(*map(int, size.split("x")))

    def look(ready: object) -> None:
        if ready:
            QTimer.singleShot(1000, lambda: app.exit(int(not view.grab().save(file))))
        else:
            QTimer.singleShot(300, lambda: view.page().runJavaScript(script, look))

    view.loadFinished.connect(lambda _: look(None))
    view.setUrl(QUrl.fromUserInput(address))
    view.show()
    QTimer.singleShot(60_000, lambda: app.exit(2))
    return app.exec()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
