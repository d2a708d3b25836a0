"""Makes resources/screenshot.png: the window on the sample project with a trained model.

`python packaging/screenshot.py SAMPLE [OUT]` where SAMPLE is a project made by `workbench demo`. Works without a
screen (QT_QPA_PLATFORM=offscreen) and under Xvfb.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from workbench.core.runs.run import find_run
from workbench.session.preferences import Preferences
from workbench.ui.shell.application import Application

OUT = Path(__file__).resolve().parents[1] / "resources" / "screenshot.png"


def main(sample: Path, out: Path = OUT, theme: str = "dark", language: str = "en") -> int:
    app = QApplication(sys.argv[:1])
    application = Application(app, Preferences(theme=theme, language=language))
    window, session = application.window, application.rooms.session
    window.resize(1440, 900)
    application.show()
    session.open_project(sample)
    run = find_run(sample, "best", "unet")
    held_out = [item for item in run.dataset().of("val", "test") if item.classes and item.width <= 1500]
    picture = max(held_out, key=lambda item: sum(item.pixels) / (item.width * item.height)).key

    def prepare() -> None:
        window.training.make_curves()
        application.rooms.training.follow(run)
        session.open_image(picture)

    def shoot() -> None:
        window.grab().save(str(out))
        application.end()
        app.quit()

    QTimer.singleShot(1500, prepare)
    QTimer.singleShot(7000, shoot)
    return app.exec()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(Path, sys.argv[2:3]), *sys.argv[3:]))
