"""Class panel: choose, add, rename, recolor, reorder, merge, delete, hide and lock classes; names of their colors."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QEvent, QPoint, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QBrush, QColor, QIcon, QPainter, QPen, QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QColorDialog,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QToolButton,
    QToolTip,
    QWidget,
)

from workbench.core.project.project import DONT_CARE, PALETTE
from workbench.core.text_patterns import fill
from workbench.inference.io.opencv import cv2
from workbench.session.session import Session
from workbench.ui.labels.class_merge_card import ClassMergeCard, ClassMergeDialog
from workbench.ui.shortcuts import key_text, with_key
from workbench.ui.text.formatting import number
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.item_views import draw_row_background, state_color
from workbench.ui.widgets.theme import ThemeManager

# Name of each color of `core.project.project_json.PALETTE`, and of other common colors.
COLOR_NAMES: dict[str, str] = {
    "#e69f00": QT_TRANSLATE_NOOP("colors", "Amber"),
    "#56b4e9": QT_TRANSLATE_NOOP("colors", "Sky blue"),
    "#d55e00": QT_TRANSLATE_NOOP("colors", "Vermilion"),
    "#009e73": QT_TRANSLATE_NOOP("colors", "Green"),
    "#cc79a7": QT_TRANSLATE_NOOP("colors", "Mauve"),
    "#f0e442": QT_TRANSLATE_NOOP("colors", "Yellow"),
    "#0072b2": QT_TRANSLATE_NOOP("colors", "Blue"),
    "#ff5c8a": QT_TRANSLATE_NOOP("colors", "Pink"),
    "#7fdb6a": QT_TRANSLATE_NOOP("colors", "Light green"),
    "#b48cff": QT_TRANSLATE_NOOP("colors", "Violet"),
    "#00c2c7": QT_TRANSLATE_NOOP("colors", "Turquoise"),
    "#ff9b54": QT_TRANSLATE_NOOP("colors", "Apricot"),
    "#c5e063": QT_TRANSLATE_NOOP("colors", "Lime"),
    "#8fa8ff": QT_TRANSLATE_NOOP("colors", "Light blue"),
    "#ff6ad5": QT_TRANSLATE_NOOP("colors", "Magenta"),
    "#5ad1a4": QT_TRANSLATE_NOOP("colors", "Mint"),
    "#1e30d0": QT_TRANSLATE_NOOP("colors", "Blue"),
    "#e02020": QT_TRANSLATE_NOOP("colors", "Red"),
    "#8b1a1a": QT_TRANSLATE_NOOP("colors", "Dark red"),
    "#8b5a2b": QT_TRANSLATE_NOOP("colors", "Brown"),
    "#7d7d00": QT_TRANSLATE_NOOP("colors", "Olive"),
    "#1c5a1c": QT_TRANSLATE_NOOP("colors", "Dark green"),
    "#14285a": QT_TRANSLATE_NOOP("colors", "Navy"),
    "#7a1fa2": QT_TRANSLATE_NOOP("colors", "Purple"),
    "#000000": QT_TRANSLATE_NOOP("colors", "Black"),
    "#606060": QT_TRANSLATE_NOOP("colors", "Dark gray"),
    "#a0a0a0": QT_TRANSLATE_NOOP("colors", "Gray"),
    "#d2d2d2": QT_TRANSLATE_NOOP("colors", "Light gray"),
    "#ffffff": QT_TRANSLATE_NOOP("colors", "White"),
}


def color_name(color: str | QColor) -> str:
    """Return the name of the nearest named color by distance in CIELAB, in the language of the window."""
    distances = np.linalg.norm(_lab(list(COLOR_NAMES)) - _lab([QColor(color).name()]), axis=1)
    return QCoreApplication.translate("colors", list(COLOR_NAMES.values())[int(distances.argmin())])


def _lab(colors: list[str]) -> np.ndarray:
    """Return CIELAB values, float32 (n, 3), of colors written as #rrggbb."""
    rgb = np.array([[int(color[start : start + 2], 16) for start in (1, 3, 5)] for color in colors], np.float32)
    return cv2.cvtColor(rgb[None] / 255, cv2.COLOR_RGB2LAB)[0]


IdRole = Qt.ItemDataRole.UserRole
ColorRole = Qt.ItemDataRole.UserRole + 1
KeyRole = Qt.ItemDataRole.UserRole + 2
HiddenRole = Qt.ItemDataRole.UserRole + 3
HEIGHT = 30


def swatch_rect(row: QRect) -> QRect:
    return QRect(row.x() + 4, row.y() + (row.height() - 20) // 2, 24, 20)


def eye_rect(row: QRect) -> QRect:
    return QRect(row.right() - 26, row.y() + (row.height() - 22) // 2, 24, 22)


class ClassDelegate(QStyledItemDelegate):
    """Delegate that draws color, name, key, and an eye that hides the class."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style

    def sizeHint(self, option, index) -> QSize:
        return QSize(120, HEIGHT)

    def paint(self, painter: QPainter, option, index) -> None:
        theme, rect = self._style.theme, option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = "accent" if option.state & QStyle.StateFlag.State_Selected else ""
        draw_row_background(painter, rect, theme, fill=state_color(option), line=line)
        hidden = bool(index.data(HiddenRole))
        swatch = QRectF(swatch_rect(rect)).adjusted(3, 2, -5, -2)
        painter.setPen(QPen(QColor(0, 0, 0, 100), 1))
        color = QColor(index.data(ColorRole))
        painter.setBrush(color)
        if index.data(IdRole) == DONT_CARE:
            painter.setBrush(QBrush(theme.color("muted"), Qt.BrushStyle.BDiagPattern))
            painter.setPen(QPen(theme.color("muted"), 1))
        painter.drawRoundedRect(swatch, 4, 4)
        right = rect.right() - 4
        if index.data(IdRole) != DONT_CARE:
            if hidden or option.state & QStyle.StateFlag.State_MouseOver:
                icon = self._style.icon("eye-off" if hidden else "eye", "muted")
                icon.paint(painter, eye_rect(rect).adjusted(3, 2, -3, -2))
            right = eye_rect(rect).left() - 4
        right = self._draw_key(painter, rect, right, index.data(KeyRole), option)
        painter.setPen(theme.color("disabled" if hidden else "text"))
        box = QRect(rect.x() + 32, rect.y(), right - rect.x() - 36, rect.height())
        text = option.fontMetrics.elidedText(index.data(), Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()

    def _draw_key(self, painter: QPainter, rect: QRect, right: int, key: str, option) -> int:
        if not key:
            return right
        theme = self._style.theme
        badge = QRectF(right - 20, rect.y() + (rect.height() - 18) / 2, 18, 18)
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("base"))
        painter.drawRoundedRect(badge, 4, 4)
        painter.setPen(theme.color("muted"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, key)
        return int(badge.left()) - 4

    def createEditor(self, parent, option, index):
        return QLineEdit(parent, maxLength=100, accessibleName=index.data())

    def updateEditorGeometry(self, editor, option, index) -> None:
        editor.setGeometry(option.rect.adjusted(28, 0, -28, 0))


DONT_CARE_COLOR = "#c8c8c8"


class ClassesPanel(QWidget):
    """List of classes, synchronized with the project."""

    def __init__(self, session: Session, style: ThemeManager) -> None:
        super().__init__()
        self._session = session
        self._updating = False
        self.model = QStandardItemModel(self)
        self.view = QListView(objectName="classes", accessibleName=self.tr("Classes"))
        self.view.setModel(self.model)
        self.view.setItemDelegate(ClassDelegate(style))
        self.view.setMouseTracking(True)
        self.view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._menu_at)
        self.view.viewport().installEventFilter(self)
        self.view.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.view.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self.model.itemChanged.connect(self._renamed)
        self.hint = QLabel(self.tr("Classes are types of defects. Add a class, then paint."), wordWrap=True)
        self.hint.setObjectName("muted")
        self.hint.setContentsMargins(6, 0, 6, 4)
        self.card = ClassMergeCard(session.class_merge)
        in_column(self.hint, self.view, self.card, owner=self, margins=0, spacing=4)
        # A drop inserts the row at its new place before it removes the old one.
        self._drop_timer = QTimer(self, singleShot=True, interval=0, timeout=self._reordered)
        self.model.rowsRemoved.connect(lambda *_: None if self._updating else self._drop_timer.start())
        self.add_button = QToolButton(
            icon=style.icon("plus"), clicked=self.add, toolTip=self.tr("Add class"), accessibleName=self.tr("Add class")
        )
        session.project_opened.connect(self._update_list)
        session.project_closed.connect(self._update_list)
        session.classes.changed.connect(self._update_list)
        session.classes.chosen.connect(self._select_current)
        session.class_merge.changed.connect(self._update_list)
        self._update_list()

    # --- actions ---------------------------------------------------------------------------------

    def add(self) -> None:
        """Add a class with a free name and start editing the name."""
        project = self._session.project
        if project is None:
            return
        names = {info.name for info in project.classes}
        pattern = self.tr("defect {n}")
        name = next(text for n in range(1, 1000) if (text := pattern.format(n=n)) not in names)
        info = self._session.classes.add(name)
        if info is not None:
            self._session.classes.choose(info.id)
            item = self.item(info.id)
            if item is not None:
                self.view.setFocus()
                self.view.edit(item.index())

    def recolor(self, id: int, color: str) -> None:
        self._session.classes.recolor(id, color)

    def move(self, id: int, step: int) -> None:
        """Swap places with the class above (-1) or below (1)."""
        ids = [info.id for info in self._session.project.classes]
        old = ids.index(id)
        new = min(max(old + step, 0), len(ids) - 1)
        ids[old], ids[new] = ids[new], ids[old]
        self._session.classes.reorder(ids)

    def change(self, id: int, *, merge: bool) -> ClassMergeDialog:
        """Ask before a class is merged into another class or deleted."""
        info = next(info for info in self._session.project.classes if info.id == id)
        dialog = ClassMergeDialog(self._session, info, merge=merge, parent=self)
        dialog.open()
        return dialog

    # --- updates ---------------------------------------------------------------------------------

    def _update_list(self) -> None:
        project = self._session.project
        classes = list(project.classes) if project else []
        self._updating = True
        self.model.clear()
        rows = [(info.id, info.name, info.color, info.key or "") for info in classes]
        if classes:
            rows.append((DONT_CARE, self.tr("Ignore"), DONT_CARE_COLOR, ""))
        for id, name, color, key in rows:
            item = QStandardItem(name)
            item.setData(id, IdRole)
            item.setData(color, ColorRole)
            item.setData(key, KeyRole)
            item.setData(id in self._session.classes.hidden, HiddenRole)
            item.setToolTip(self._tip(id, name, key, color))
            if id != DONT_CARE:
                item.setAccessibleDescription(self.tr("Color: {color}").format(color=color_name(color)))
            editable = id != DONT_CARE and self._session.writable and not self._session.class_merge.running
            item.setEditable(editable)
            item.setDragEnabled(editable)
            item.setDropEnabled(False)  # drop between classes only
            self.model.appendRow(item)
        self._updating = False
        self.hint.setVisible(project is not None and not classes)
        self.view.setVisible(bool(classes))
        self.view.setFixedHeight(min(max(len(rows), 1), 9) * HEIGHT + 4)
        self.add_button.setEnabled(self._session.writable and not self._session.class_merge.running)
        self._select_current(self._session.editor.class_id)

    def _tip(self, id: int, name: str, key: str, color: str) -> str:
        if id == DONT_CARE:
            return self.tr("Paint areas that cannot be judged. They are excluded from training and metrics.")
        tip = with_key(name, f"class_{key}") if key else name
        hint = self.tr("Double-click or press {key} to rename. Click the color to change it.")
        color = self.tr("Color: {color}").format(color=color_name(color))
        return f"{tip}\n{color}\n{hint.format(key=key_text('rename'))}"

    def _select_current(self, id: int) -> None:
        item = self.item(id)
        if item is None:
            self.view.clearSelection()
        elif item.index() != self.view.currentIndex():
            self.view.setCurrentIndex(item.index())

    def item(self, id: int) -> QStandardItem | None:
        """Return the row of a class."""
        for i in range(self.model.rowCount()):
            if self.model.item(i).data(IdRole) == id:
                return self.model.item(i)
        return None

    # --- user input ------------------------------------------------------------------------------

    def _current_changed(self, current, _) -> None:
        if current.isValid() and not self._updating:
            self._session.classes.choose(current.data(IdRole))

    def _renamed(self, item: QStandardItem) -> None:
        if self._updating:
            return
        id, name = item.data(IdRole), item.text().strip()
        project = self._session.project
        old = next((info.name for info in project.classes if info.id == id), "") if project else ""
        if id != DONT_CARE and name != old:
            if name:
                self._session.classes.rename(id, name)
            # Restores the name after a rejected change.
            self._update_list()

    def _reordered(self) -> None:
        ids = [self.model.item(i).data(IdRole) for i in range(self.model.rowCount())]
        self._session.classes.reorder([id for id in ids if id != DONT_CARE])
        self._update_list()  # "Ignore" stays last

    def _extent_text(self, id: int) -> str:
        extent = self._session.image_list.extent({id})
        return fill(
            self.tr(
                "{images} {images:image|images} · {regions} {regions:region|regions} · {pixels} {pixels:pixel|pixels}"
            ),
            images=number(extent.images),
            regions=number(extent.regions),
            pixels=number(extent.pixels),
        )

    def eventFilter(self, watched, event) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            index = self.view.indexAt(event.pos())
            if index.isValid() and index.data(IdRole) != DONT_CARE:
                tip = f"{self._extent_text(index.data(IdRole))}\n{index.data(Qt.ItemDataRole.ToolTipRole)}"
                QToolTip.showText(event.globalPos(), tip, self.view)
                return True
        if event.type() == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.LeftButton:
            index = self.view.indexAt(event.position().toPoint())
            if index.isValid():
                rect = self.view.visualRect(index)
                if swatch_rect(rect).contains(event.position().toPoint()) and index.data(IdRole) != DONT_CARE:
                    self._show_palette(index.data(IdRole), self.view.viewport().mapToGlobal(rect.bottomLeft()))
                elif eye_rect(rect).contains(event.position().toPoint()) and index.data(IdRole) != DONT_CARE:
                    self._session.classes.set_hidden(index.data(IdRole), not index.data(HiddenRole))
        return super().eventFilter(watched, event)

    def _menu_at(self, position: QPoint) -> None:
        index = self.view.indexAt(position)
        if not index.isValid() or index.data(IdRole) == DONT_CARE:
            return
        id, hidden = index.data(IdRole), index.data(HiddenRole)
        locked = id in self._session.editor.locked
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        corner = self.view.viewport().mapToGlobal(position)
        rename = menu.addAction(self.tr("Rename"), partial(self.view.edit, index))
        recolor = menu.addAction(self.tr("Change color…"), partial(self._show_palette, id, corner))
        for action in (rename, recolor):
            action.setEnabled(self._session.writable)
        classes, work = self._session.project.classes, self._session.class_merge
        unlocked = self._session.writable and not work.running
        up = menu.addAction(self.tr("Move up"), partial(self.move, id, -1))
        up.setEnabled(unlocked and classes[0].id != id)
        down = menu.addAction(self.tr("Move down"), partial(self.move, id, 1))
        down.setEnabled(unlocked and classes[-1].id != id)
        menu.addSeparator()
        merge = menu.addAction(self.tr("Merge into…"), partial(self.change, id, merge=True))
        merge.setEnabled(unlocked and not work.unfinished and len(classes) > 1)
        delete = menu.addAction(self.tr("Delete…"), partial(self.change, id, merge=False))
        delete.setEnabled(unlocked and not work.unfinished)
        if work.can_undo_merge:
            text = self.tr("Undo last merge or delete")
            menu.addAction(text, work.undo_merge)
        menu.addSeparator()
        menu.addAction(
            self.tr("Show") if hidden else self.tr("Hide"), partial(self._session.classes.set_hidden, id, not hidden)
        )
        text = self.tr("Unlock class") if locked else self.tr("Lock class")
        menu.addAction(text, partial(self._session.classes.set_locked, id, not locked))
        menu.popup(corner)

    def _show_palette(self, id: int, corner: QPoint) -> None:
        if not self._session.writable:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for color in PALETTE:
            action = QAction(_swatch(color), color_name(color), menu)
            action.setToolTip(color)
            action.triggered.connect(partial(self.recolor, id, color))
            menu.addAction(action)
        menu.addSeparator()
        menu.addAction(self.tr("More colors…"), partial(self._choose_color, id))
        menu.popup(corner)

    def _choose_color(self, id: int) -> None:
        item = self.item(id)
        dialog = QColorDialog(QColor(item.data(ColorRole) if item else "#ffffff"), self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.colorSelected.connect(lambda color: self.recolor(id, color.name()))
        dialog.show()


def _swatch(color: str) -> QIcon:
    pixmap = QPixmap(32, 32)
    pixmap.fill(QColor(color))
    return QIcon(pixmap)
