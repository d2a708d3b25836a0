"""Welcome page: create or open a project, import labels, or try the sample project."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QPainter, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from workbench.ui.actions.menus import Actions
from workbench.ui.project.project_commands import RecentProject, RecentProjects
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import ElidedLabel, IconLabel
from workbench.ui.widgets.theme import ThemeManager

_WIDTH = 800  # px, of the card at text of 100 %
_MAX_RECENT = 6
_ICON = 22  # px
_ROUNDING = 7.5  # px, of the middle of the border of the drop area


class ChoiceButton(QPushButton):
    """Button with an icon, a title and a line of explanation."""

    def __init__(self, title: str, text: str, icon: IconLabel, *, name: str = "choice") -> None:
        super().__init__(objectName=name)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        self.icon_label = icon
        self.title, self.text_label = QLabel(title, objectName="heading"), ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.text_label.setObjectName("muted")
        self.text_label.set_text(text)
        texts = in_column(self.title, self.text_label, spacing=1)
        in_row(self.icon_label, (texts, 1), owner=self, margins=(12, 7, 12, 7), spacing=12)
        for label in (self.icon_label, self.title, self.text_label):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        return self.layout().sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self.layout().minimumSize()


class DropArea(QFrame):
    """Frame with a dashed border, which is solid while a drag is over the window.

    The border is drawn here: dashes of a style sheet have different widths on the sides and in the corners at scale 2.
    """

    def __init__(self, style: ThemeManager) -> None:
        super().__init__(objectName="drop")
        self._style = style

    def paintEvent(self, event) -> None:
        super().paintEvent(event)
        if self.property("dragged"):
            return
        pen = QPen(self._style.theme.color("muted"), 1, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([3, 3])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _ROUNDING, _ROUNDING)
        painter.end()


class RecentRow(QWidget):
    """Button that opens a recent project. For a project that is not found, further ones locate or remove it."""

    def __init__(self, project: RecentProject, style: ThemeManager) -> None:
        super().__init__()
        name, place = project.path.name, _shortened(project.path.parent)
        text = place if project.found else self.tr("Not found: {folder}").format(folder=place)
        icon = style.icon("open", "muted") if project.found else style.icon("warning", "warning")
        self.button = ChoiceButton(name, text, IconLabel(icon, 18), name="recent")
        self.button.setToolTip(str(project.path))
        self.remove = QAction(self.tr("Remove from list"), self)
        self.button.addAction(self.remove)
        self.button.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.locate: QPushButton | None = None
        self.stops: list[QWidget] = [self.button]
        row = in_row((self.button, 1), owner=self, margins=0, spacing=0)
        if project.found:
            return
        self.button.title.setObjectName("muted")
        self.locate = QPushButton(self.tr("Locate…"), objectName="link")
        self.locate.setToolTip(self.tr("Choose the folder to which the project was moved"))
        self.locate.setAccessibleName(self.tr("Locate project {name}").format(name=name))
        remove = QPushButton(self.tr("Remove"), objectName="link")
        remove.setToolTip(self.tr("Remove the project from this list. Its folder is not changed."))
        remove.setAccessibleName(self.tr("Remove {name} from the list").format(name=name))
        remove.clicked.connect(self.remove.trigger)
        for button in (self.locate, remove):
            row.addWidget(button)
            self.stops.append(button)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.button.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of the button, whose texts get their fonts later than the layout measures them."""
        return QSize(super().minimumSizeHint().width(), self.button.sizeHint().height())


class Welcome(QScrollArea):
    """Page shown while no project is open."""

    def __init__(self, actions: Actions, style: ThemeManager, recent: RecentProjects) -> None:
        super().__init__(widgetResizable=True, frameShape=QFrame.Shape.NoFrame, objectName="welcome")
        self.setAccessibleName(self.tr("Welcome"))
        self._style, self._actions, self._projects = style, actions, recent
        self._fitting = QTimer(self, singleShot=True, interval=0, timeout=self._fit)
        body = QWidget(objectName="welcomeBody")
        outer = in_column(2, owner=body, margins=16)
        card = QFrame(objectName="card")
        self._card = card
        outer.addWidget(card, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(3)
        self.setWidget(body)
        column = QVBoxLayout(card)
        column.setContentsMargins(32, 26, 32, 24)
        column.setSpacing(16)
        column.addLayout(self._make_header())
        sides = QGridLayout()
        sides.setHorizontalSpacing(28)
        sides.setVerticalSpacing(6)
        sides.setColumnStretch(0, 1)
        sides.setColumnStretch(1, 1)
        sides.addWidget(QLabel(self.tr("Start"), objectName="heading"), 0, 0)
        self._side_title = QLabel(objectName="heading")
        sides.addWidget(self._side_title, 0, 1)
        sides.addLayout(self._make_choices(), 1, 0)
        sides.addLayout(self._make_side(), 1, 1)
        column.addLayout(sides)
        self.drop_area = self._make_drop_area()
        column.addWidget(self.drop_area)
        column.addLayout(self._make_links())
        recent.changed.connect(self.show_recent)
        self.show_recent()

    def _make_header(self) -> QHBoxLayout:
        title = QLabel("Defect Workbench", objectName="title")
        subtitle = QLabel(self.tr("Label defects, train a model, export it"), objectName="subtitle")
        texts = in_column(1, title, subtitle, 1, spacing=2)
        return in_row(IconLabel(self._style.app_icon(), 56), (texts, 1), spacing=18)

    def _make_choices(self) -> QVBoxLayout:
        column = in_column(spacing=6)
        self.buttons: dict[str, ChoiceButton] = {}
        for id, icon, title, text in (
            ("new_project", "new", self.tr("New project"), self.tr("Name the classes, link the images")),
            ("open_project", "open", self.tr("Open project"), self.tr("A project folder on this computer")),
            (
                "import_labels",
                "import",
                self.tr("Import labels"),
                self.tr("From labelme, CVAT, COCO, YOLO and others"),
            ),
            ("make_sample", "sample", self.tr("Sample project"), self.tr("Labeled images to try everything out")),
        ):
            button = ChoiceButton(title, text, IconLabel(self._style.icon(icon, "accent"), _ICON))
            button.setToolTip(self._actions[id].toolTip())
            button.clicked.connect(self._actions[id].trigger)
            column.addWidget(button)
            self.buttons[id] = button
        column.addStretch(1)
        return column

    def _make_side(self) -> QVBoxLayout:
        """Return the column with the recent projects, or with the stages of a project if there are none."""
        self._recent = in_column(spacing=0)
        self._introduction = QWidget()
        steps = QGridLayout(self._introduction)
        steps.setContentsMargins(0, 6, 0, 0)
        steps.setHorizontalSpacing(12)
        steps.setVerticalSpacing(12)
        steps.setColumnStretch(1, 1)
        for row, (icon, text) in enumerate(
            (
                ("brush", self.tr("Label: separate good and defective images, and paint the defects.")),
                ("train", self.tr("Train: a few minutes are enough for a first model. Keep labeling meanwhile.")),
                ("evaluation", self.tr("Evaluate: look at missed defects and false alarms, and correct labels.")),
                ("export", self.tr("Export: a package that runs on the production line without this program.")),
            )
        ):
            drawing = IconLabel(self._style.icon(icon, "muted"), _ICON)
            steps.addWidget(drawing, row, 0, Qt.AlignmentFlag.AlignTop)
            steps.addWidget(QLabel(text, wordWrap=True), row, 1)
        return in_column(self._recent, self._introduction, 1, spacing=6)

    def _make_drop_area(self) -> QFrame:
        area = DropArea(self._style)
        row = QHBoxLayout(area)
        row.setContentsMargins(18, 14, 14, 14)
        row.setSpacing(12)
        text = QLabel(self.tr("Drop a folder of images here to create a project"), wordWrap=True)
        self.choose_folder = QPushButton(self.tr("Choose folder…"), toolTip=self._actions["new_from_folder"].toolTip())
        self.choose_folder.clicked.connect(self._actions["new_from_folder"].trigger)
        row.addWidget(IconLabel(self._style.icon("image-add", "muted"), _ICON))
        row.addWidget(text, 1)
        row.addWidget(self.choose_folder)
        return area

    def _make_links(self) -> QHBoxLayout:
        row = in_row(spacing=4)
        for id, text in (
            ("first_steps", self.tr("First steps")),
            ("tour", self.tr("Tour of the window")),
            ("unpack", self.tr("Unpack a packed project (.zip)…")),
        ):
            link = QPushButton(text, objectName="link", cursor=Qt.CursorShape.PointingHandCursor)
            link.setToolTip(self._actions[id].toolTip())
            link.clicked.connect(self._actions[id].trigger)
            row.addWidget(link)
        row.addStretch(1)
        return row

    def show_drag(self, on: bool) -> None:
        """Mark the area for dropped files while a drag that can be dropped is over the window."""
        self.drop_area.setProperty("dragged", on)
        self.drop_area.style().unpolish(self.drop_area)
        self.drop_area.style().polish(self.drop_area)

    def show_recent(self) -> None:
        """List the recent projects. Without any, the stages of a project are explained instead."""
        recent = self._projects
        projects = recent.projects()
        while self._recent.count():
            old = self._recent.takeAt(0).widget()
            old.hide()
            old.deleteLater()
        stops: list[QWidget] = [self.buttons["make_sample"]]
        for project in projects[:_MAX_RECENT]:
            row = RecentRow(project, self._style)
            row.button.clicked.connect(lambda _=False, path=project.path: recent.open_requested.emit(path))
            row.remove.triggered.connect(lambda _=False, path=project.path: recent.remove(path))
            if row.locate is not None:
                row.locate.clicked.connect(lambda _=False, path=project.path: recent.locate(path))
            self._recent.addWidget(row)
            stops += row.stops
        for before, after in pairwise([*stops, self.choose_folder]):
            self.setTabOrder(before, after)
        self._side_title.setText(self.tr("Recent projects") if projects else self.tr("From images to a model"))
        self._introduction.setVisible(not projects)
        self._fitting.start()

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fitting.start()  # after all widgets have the new style

    def _fit(self) -> None:
        """Fit the card to the size of its texts. A layout that centers it does not regard its height for its width."""
        width = round(_WIDTH * max(1.0, self._style.text_scale))
        self._card.setFixedWidth(width)
        self._card.setMinimumHeight(self._card.layout().totalHeightForWidth(width))


def _shortened(path: Path) -> str:
    """Return a path with "~" for the home folder."""
    text, home = str(path), str(Path.home())
    return "~" + text[len(home) :] if text.startswith(home) else text
