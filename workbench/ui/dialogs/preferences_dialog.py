"""Settings dialog: appearance, labeling, click model, training defaults and keyboard on one page each."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.ui.actions.actions import Actions
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.actions.shortcut_changes import ShortcutChanges
from workbench.ui.canvas.click_status import ClickModelStatus
from workbench.ui.dialogs.preference_pages import PreferenceFields, SettingsForm
from workbench.ui.dialogs.shortcuts_page import ShortcutsPage
from workbench.ui.widgets.screen_fit import resize_for_text

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
                    "The click segmentation uses two ONNX files of your own: image encoder and mask decoder of a model "
                    "of the Segment Anything family (SAM, MobileSAM, EdgeSAM, EfficientSAM, SAM 2). They are computed "
                    "on the CPU of this computer, and nothing is downloaded."
                ),
                status=ClickModelStatus(context.canvas.clicks),
            ),
            "training": SettingsForm(
                fields.training(), self.tr("All other training settings: Train > Training settings.")
            ),
        }
        self.list = QListWidget(objectName="rows")
        self.list.setAccessibleName(self.tr("Settings"))
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
        self.restore = QPushButton(autoDefault=False)
        self.restore.clicked.connect(self.restore_defaults)
        close = QPushButton(self.tr("Close"), objectName="primary", default=True)
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addWidget(self.restore)
        buttons.addStretch(1)
        buttons.addWidget(close)
        body = QHBoxLayout()
        body.setSpacing(18)
        body.addWidget(self.list)
        body.addWidget(self.pages, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 14)
        column.setSpacing(14)
        column.addLayout(body, 1)
        column.addLayout(buttons)
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
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(12)
    column.addWidget(QLabel(title, objectName="subtitle"))
    if isinstance(content, SettingsForm):
        area = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        area.setAccessibleName(title)
        area.setWidget(content)
        content.setObjectName("settingsPage")
        column.addWidget(area, 1)
    else:
        column.addWidget(content, 1)
    return page
