"""Settings dialog: appearance, labeling, click model, training defaults and keyboard on one page each."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.ui.actions.command_table import CommandContext
from workbench.ui.actions.menus import Actions
from workbench.ui.actions.shortcut_changes import ShortcutChanges, ShortcutConflict, usable, without_keypad
from workbench.ui.canvas.option_bar import ClickModelStatus
from workbench.ui.dialogs.preference_pages import PreferenceFields, SettingsForm
from workbench.ui.shortcuts import key_sequences
from workbench.ui.text.formatting import plain
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import resize_for_text

_ID = Qt.ItemDataRole.UserRole


class ShortcutsPage(QWidget):
    """Commands by menu with their shortcuts, a search field, and a field that records a new shortcut.

    A key that another command uses is refused with the name of that command until *Reassign* is clicked.
    """

    def __init__(self, actions: Actions, changes: ShortcutChanges) -> None:
        super().__init__()
        self._actions, self._changes = actions, changes
        self._conflict: ShortcutConflict | None = None
        self._resetting = False  # `_conflict` is one of a default
        self.search = QLineEdit(placeholderText=self.tr("Search commands or keys"), clearButtonEnabled=True)
        self.search.setAccessibleName(self.tr("Search commands or keys"))
        self.search.textChanged.connect(self._filter)
        self.tree = QTreeWidget(columnCount=2, rootIsDecorated=True, uniformRowHeights=True, objectName="rows")
        self.tree.setAccessibleName(self.tr("Commands"))
        self.tree.setHeaderLabels([self.tr("Command"), self.tr("Shortcut")])
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setStretchLastSection(False)
        self.tree.setColumnWidth(1, 190)
        self.tree.currentItemChanged.connect(self._select)
        self.items: dict[str, QTreeWidgetItem] = {}
        self._fill()
        self.name = QLabel(objectName="heading", wordWrap=True)
        self.recorder = QKeySequenceEdit(maximumSequenceLength=1, clearButtonEnabled=True)
        self.recorder.setAccessibleName(self.tr("New shortcut"))
        self.recorder.setToolTip(self.tr("Click here and press the new keys"))
        self.recorder.keySequenceChanged.connect(self._recorded)
        self.status = QLabel(objectName="muted", wordWrap=True)
        self.set_button, self.add_button = QPushButton(self.tr("Set")), QPushButton(self.tr("Add"))
        self.remove_button, self.reset_button = QPushButton(self.tr("Remove")), QPushButton(self.tr("Reset"))
        self.reassign_button = QPushButton(self.tr("Reassign"), objectName="danger")
        self.add_button.setToolTip(self.tr("Keep the current shortcut and add this one"))
        self.reset_button.setToolTip(self.tr("Restore the default shortcut of this command"))
        self.set_button.clicked.connect(lambda: self._assign(add=False))
        self.add_button.clicked.connect(lambda: self._assign(add=True))
        self.remove_button.clicked.connect(lambda: changes.remove(self.command))
        self.reset_button.clicked.connect(self._reset)
        self.reassign_button.clicked.connect(self._reassign)
        self._lay_out()
        changes.changed.connect(self.refresh)
        self.tree.setCurrentItem(self.tree.topLevelItem(0).child(0))

    def _lay_out(self) -> None:
        buttons = self.set_button, self.add_button, self.remove_button, self.reset_button
        for button in (*buttons, self.reassign_button):
            button.setAutoDefault(False)
        rows = (
            in_row((self.recorder, 1), *buttons, spacing=6),
            in_row((self.status, 1), self.reassign_button, spacing=6),
        )
        in_column(self.search, (self.tree, 1), self.name, *rows, owner=self, margins=0, spacing=8)

    def _fill(self) -> None:
        for menu in self._actions.menus:
            group = QTreeWidgetItem(self.tree, [plain(menu.title)])
            group.setFlags(group.flags() & ~Qt.ItemFlag.ItemIsSelectable)
            for command in menu.commands():
                item = QTreeWidgetItem(group, [plain(command.text).rstrip("…"), ""])
                item.setData(0, _ID, command.id)
                item.setSizeHint(0, QSize(0, self.fontMetrics().height() + 8))
                self.items[command.id] = item
            group.setSizeHint(0, QSize(0, self.fontMetrics().height() + 8))
            group.setExpanded(True)
        self._show_keys()

    @property
    def command(self) -> str:
        """Id of the selected command; "" if none is selected."""
        item = self.tree.currentItem()
        return item.data(0, _ID) or "" if item is not None else ""

    def select(self, id: str) -> None:
        """Select a command."""
        self.tree.setCurrentItem(self.items[id])

    # --- events ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Update after shortcuts were changed."""
        self._show_keys()
        self._select()

    def _show_keys(self) -> None:
        for id, item in self.items.items():
            native = QKeySequence.SequenceFormat.NativeText
            item.setText(1, ", ".join(dict.fromkeys(keys.toString(native) for keys in key_sequences(id))))
            font = self.tree.font()
            font.setBold(self._changes.is_changed(id))
            item.setFont(1, font)
        self._filter(self.search.text())

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for row in range(self.tree.topLevelItemCount()):
            group = self.tree.topLevelItem(row)
            items = [group.child(i) for i in range(group.childCount())]
            for item in items:
                content = f"{group.text(0)} {item.text(0)} {item.text(1)}".casefold()
                item.setHidden(not all(word in content for word in words))
            group.setHidden(all(item.isHidden() for item in items))

    def _select(self, *_: object) -> None:
        item, selected = self.tree.currentItem(), bool(self.command)
        self.name.setText(item.text(0) if item is not None else "")
        self.recorder.clear()
        self.recorder.setEnabled(selected)
        self._show_conflict(None)
        self.remove_button.setEnabled(selected and bool(key_sequences(self.command)))
        self.reset_button.setEnabled(selected and self._changes.is_changed(self.command))

    def _recorded(self, recorded: QKeySequence) -> None:
        keys = without_keypad(recorded)
        if usable(keys) and self.command:
            self._show_conflict(self._changes.conflict(self.command, keys), recorded=True)
        else:
            self._show_conflict(None)

    def _show_conflict(
        self, conflict: ShortcutConflict | None, *, recorded: bool = False, resetting: bool = False
    ) -> None:
        self._conflict, self._resetting = conflict, resetting
        self.set_button.setEnabled(recorded and conflict is None)
        self.add_button.setEnabled(recorded and conflict is None and bool(key_sequences(self.command)))
        self.reassign_button.setVisible(conflict is not None and bool(conflict.command))
        if conflict is not None:
            key = conflict.keys.toString(QKeySequence.SequenceFormat.NativeText)
            pattern = self.tr("{key} is used by “{name}”.")
            if not conflict.command:
                pattern = self.tr("{key} is used by “{name}” and cannot be reassigned.")
            self.status.setText(pattern.format(key=key, name=conflict.name))
        else:
            self.status.setText(
                self.tr("This shortcut is free.") if recorded else self.tr("Click the field and press the new keys.")
            )
        name = "wrong" if conflict is not None else "muted"
        if self.status.objectName() != name:
            self.status.setObjectName(name)
            self.status.style().polish(self.status)

    def _assign(self, *, add: bool) -> None:
        self._changes.assign(self.command, without_keypad(self.recorder.keySequence()), add=add)

    def _reassign(self) -> None:
        if self._resetting:
            self._changes.reset(self.command, reassign=True)
        elif self._conflict is not None:
            self._changes.assign(self.command, self._conflict.keys, reassign=True)

    def _reset(self) -> None:
        conflict = self._changes.reset(self.command)
        if conflict is not None:
            self._show_conflict(conflict, resetting=True)


_SIZE = QSize(760, 580)  # px
_LIST_WIDTH = 160  # px, at least
PAGES = ("appearance", "labeling", "click_model", "training", "keyboard")


class PreferencesDialog(QDialog):
    """Non-modal dialog of the settings. Every change is applied and stored at once."""

    def __init__(
        self, context: CommandContext, actions: Actions, changes: ShortcutChanges, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Settings"))
        fields = PreferenceFields(context, self)
        self.shortcuts = ShortcutsPage(actions, changes)
        self._changes = changes
        self.forms = {
            "appearance": SettingsForm(fields.appearance()),
            "labeling": SettingsForm(
                fields.labeling(),
                self.tr(
                    "Labels are saved automatically half a second after each change, and before that in a journal. "
                    "Nothing has to be saved manually."
                ),
            ),
            "click_model": SettingsForm(
                fields.click_model(),
                self.tr(
                    "In place of its built-in network, the click segmentation can use two ONNX files of your own: "
                    "image encoder and mask decoder of a model of the Segment Anything family (SAM, MobileSAM, "
                    "EdgeSAM, EfficientSAM, SAM 2). They are computed on the CPU of this computer, and nothing is "
                    "downloaded."
                ),
                status=ClickModelStatus(context.canvas.clicks),
            ),
            "training": SettingsForm(
                fields.training(), self.tr("All other training settings: Train > Training settings.")
            ),
        }
        self.list = QListWidget(objectName="rows", accessibleName=self.tr("Settings"))
        self.pages = QStackedWidget()
        texts = (
            self.tr("Appearance"),
            self.tr("Labeling"),
            self.tr("Click model"),
            self.tr("Training"),
            self.tr("Keyboard"),
        )
        for name, text in zip(PAGES, texts, strict=True):
            QListWidgetItem(text, self.list)
            self.pages.addWidget(_page(text, self.forms.get(name, self.shortcuts)))
        self._fit_list()
        self.list.currentRowChanged.connect(self._show_page)
        self.restore = QPushButton(autoDefault=False, clicked=self.restore_defaults)
        close = QPushButton(self.tr("Close"), objectName="primary", default=True, clicked=self.accept)
        buttons = in_row(self.restore, 1, close)
        body = in_row(self.list, (self.pages, 1), spacing=18)
        in_column((body, 1), buttons, owner=self, margins=(16, 16, 16, 14), spacing=14)
        self.open_page(PAGES[0])
        resize_for_text(self, _SIZE.width(), _SIZE.height())

    def open_page(self, name: str) -> None:
        """Show a page of PAGES."""
        self.list.setCurrentRow(PAGES.index(name))

    @property
    def page(self) -> str:
        """Name of the page that is shown."""
        return PAGES[self.list.currentRow()]

    def _show_page(self, row: int) -> None:
        self.pages.setCurrentIndex(row)
        keyboard = PAGES[row] == "keyboard"
        self.restore.setText(self.tr("Reset all shortcuts") if keyboard else self.tr("Restore defaults"))
        self.restore.setToolTip("" if keyboard else self.tr("Restore the defaults of this page"))

    def restore_defaults(self) -> None:
        """Restore the defaults of the page that is shown."""
        form = self.forms.get(self.page)
        if form is None:
            self._changes.reset_all()
        else:
            form.restore_defaults()

    def _fit_list(self) -> None:
        """Fit the list of pages to the size of its texts."""
        metrics = self.list.fontMetrics()
        names = [self.list.item(row).text() for row in range(self.list.count())]
        for row, name in enumerate(names):
            hint = QSize(metrics.horizontalAdvance(name) + 24, metrics.height() + 14)
            self.list.item(row).setSizeHint(hint)
        self.list.setFixedWidth(max(_LIST_WIDTH, self.list.sizeHintForColumn(0) + 12))

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() in (event.Type.FontChange, event.Type.StyleChange) and hasattr(self, "list"):
            self._fit_list()
        if event.type() == event.Type.ActivationChange and self.isActiveWindow():
            for form in self.forms.values():  # values may have changed in the window
                form.refresh()


def _page(title: str, content: QWidget) -> QWidget:
    page, shown = QWidget(), content
    if isinstance(content, SettingsForm):
        shown = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame, accessibleName=title)
        shown.setWidget(content)
        content.setObjectName("settingsPage")
    in_column(QLabel(title, objectName="subtitle"), (shown, 1), owner=page, margins=0, spacing=12)
    return page
