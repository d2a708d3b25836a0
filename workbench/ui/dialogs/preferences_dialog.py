"""Settings dialog: appearance, labeling, training defaults and keyboard on one page each."""

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

from workbench.core.resources import LANGUAGES
from workbench.core.runs.training_settings import MAX_MINUTES, MIN_MINUTES
from workbench.session.preferences import Preferences
from workbench.ui.actions.actions import Actions
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.actions.shortcut_changes import ShortcutChanges
from workbench.ui.canvas.tools.tool_options import MAX_DIAMETER, RANGES, SWITCHES
from workbench.ui.dialogs.settings_form import SettingField, SettingsForm
from workbench.ui.dialogs.shortcuts_page import ShortcutsPage

_SIZE = QSize(760, 580)  # px
_LIST_WIDTH = 160  # px
PAGES = ("appearance", "labeling", "training", "keyboard")


class PreferencesDialog(QDialog):
    """Non-modal dialog of the settings. Every change is applied and stored at once."""

    def __init__(
        self, context: CommandContext, actions: Actions, changes: ShortcutChanges, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Settings"))
        self._context = context
        self.shortcuts = ShortcutsPage(actions, changes)
        self._changes = changes
        self.forms = {
            "appearance": SettingsForm(self._appearance()),
            "labeling": SettingsForm(
                self._labeling(),
                self.tr(
                    "Labels are saved automatically half a second after each change, and before that in a journal. "
                    "Nothing has to be saved manually."
                ),
            ),
            "training": SettingsForm(
                self._training(), self.tr("All other training settings: Train > Training settings.")
            ),
        }
        self.list = QListWidget(objectName="rows")
        self.list.setAccessibleName(self.tr("Settings"))
        self.list.setFixedWidth(_LIST_WIDTH)
        self.pages = QStackedWidget()
        texts = self.tr("Appearance"), self.tr("Labeling"), self.tr("Training"), self.tr("Keyboard")
        for name, text in zip(PAGES, texts, strict=True):
            item = QListWidgetItem(text, self.list)
            item.setSizeHint(QSize(0, self.fontMetrics().height() + 14))
            self.pages.addWidget(_page(text, self.forms.get(name, self.shortcuts)))
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
        self.resize(_SIZE)

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

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() == event.Type.ActivationChange and self.isActiveWindow():
            for form in self.forms.values():  # values may have changed in the window
                form.refresh()

    # --- fields ----------------------------------------------------------------------------------

    def _appearance(self) -> list[SettingField]:
        view, preferences, default = self._context.view_settings, self._context.preferences, Preferences()
        return [
            SettingField(
                self.tr("Theme"),
                lambda: preferences.theme,
                view.set_theme,
                default.theme,
                choices={"system": self.tr("System default"), "dark": self.tr("Dark"), "light": self.tr("Light")},
            ),
            SettingField(
                "Language / 语言",
                lambda: preferences.language,
                view.set_language,
                default.language,
                choices={"system": self.tr("System default"), **LANGUAGES},
            ),
            SettingField(
                self.tr("Text size"),
                lambda: preferences.text_size,
                view.set_text_size,
                default.text_size,
                limits=(100, 150, 10),
                suffix=" %",
            ),
        ]

    def _labeling(self) -> list[SettingField]:
        canvas, layers, preferences = self._context.canvas, self._context.layers, self._context.preferences
        options, default = canvas.options, Preferences()

        def set_after_done(value: str) -> None:
            preferences.after_done = value
            preferences.save()

        def number(text: str, name: str) -> SettingField:
            initial, low, high = RANGES[name]
            return SettingField(
                text,
                lambda: options[name],
                lambda value: options.set(name, value),
                initial,
                limits=(low, high, 1),
                suffix=self.tr(" px"),
                decimals=1,
            )

        def switch(text: str, name: str) -> SettingField:
            return SettingField(text, lambda: options.on(name), lambda on: options.switch(name, on), SWITCHES[name])

        return [
            SettingField(
                self.tr("After “Mark as done”, open"),
                lambda: preferences.after_done,
                set_after_done,
                default.after_done,
                choices={
                    "next": self.tr("Next image"),
                    "next_open": self.tr("Next image not done"),
                    "stay": self.tr("No other image"),
                },
            ),
            SettingField(
                self.tr("Label opacity"),
                lambda: round(100 * canvas.scene.label_style.opacity),
                lambda value: layers.set_opacity(value / 100),
                round(100 * default.overlay_opacity),
                limits=(1, 100, 5),
                suffix=" %",
            ),
            SettingField(
                self.tr("Brush size"),
                lambda: canvas.diameter,
                lambda value: canvas.set_diameter(int(value)),
                round(2 * default.brush_radius),
                limits=(1, MAX_DIAMETER, 1),
                suffix=self.tr(" px"),
            ),
            number(self.tr("Grow and shrink by"), "step"),
            number(self.tr("Smoothing of the magic wand"), "smoothing"),
            number(self.tr("Crack tracer: max. width"), "widest"),
            switch(self.tr("Magic wand: tolerance from the image"), "tolerance_auto"),
            switch(self.tr("Magic wand: fill holes"), "fill_inside"),
            switch(self.tr("Brush: fill closed strokes"), "encircle"),
            switch(self.tr("Adjust the stroke width to the pen pressure"), "pressure"),
        ]

    def _training(self) -> list[SettingField]:
        controls, default = self._context.training.controls, Preferences()

        def put(index: int, value: str | float) -> None:
            values = list(controls.values())
            values[index] = value
            controls.set_values(*values)

        devices = {controls.device.itemData(i): controls.device.itemText(i) for i in range(controls.device.count())}
        return [
            SettingField(
                self.tr("Model"),
                lambda: controls.values()[0],
                lambda value: put(0, value),
                default.model,
                choices={"unet": controls.unet.text(), "resnet": controls.resnet.text()},
            ),
            SettingField(
                self.tr("Time limit"),
                lambda: controls.values()[1],
                lambda value: put(1, value),
                default.minutes,
                limits=(MIN_MINUTES, MAX_MINUTES, 1),
                suffix=self.tr(" min"),
                decimals=1,
            ),
            SettingField(
                self.tr("Device"),
                lambda: controls.values()[2],
                lambda value: put(2, value),
                default.device,
                choices=devices,
                note=self.tr("Automatic uses the GPU if there is one."),
            ),
        ]


def _page(title: str, content: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(12)
    column.addWidget(QLabel(title, objectName="subtitle"))
    if isinstance(content, SettingsForm):
        area = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        area.setWidget(content)
        content.setObjectName("settingsPage")
        column.addWidget(area, 1)
    else:
        column.addWidget(content, 1)
    return page
