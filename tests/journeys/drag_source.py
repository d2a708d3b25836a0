"""Program that offers a folder by drag and drop: SOURCE FOLDER X Y. It prints how the other program took the folder."""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QDrag
from PySide6.QtWidgets import QApplication, QLabel

_SECONDS = 5


class Folder(QLabel):
    """Small window that is dragged as a folder, as a file manager does it."""

    def mousePressEvent(self, event) -> None:
        data, drag = QMimeData(), QDrag(self)
        data.setUrls([QUrl.fromLocalFile(self.text())])
        drag.setMimeData(data)
        action = drag.exec(Qt.DropAction.CopyAction | Qt.DropAction.MoveAction, Qt.DropAction.MoveAction)
        print(action.name, flush=True)
        QTimer.singleShot(_SECONDS * 1000, QApplication.quit)  # the other program asks for the names after the drop


def main() -> None:
    app = QApplication(sys.argv[:1])
    folder = Folder(sys.argv[1], windowFlags=Qt.WindowType.X11BypassWindowManagerHint)
    folder.setGeometry(int(sys.argv[2]), int(sys.argv[3]), 120, 60)
    folder.show()
    print("shown", flush=True)
    app.exec()


if __name__ == "__main__":
    main()
