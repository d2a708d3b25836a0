"""Dialogs of the help menu: `Check GPU`, with the build of PaddlePaddle that fits, and `About`."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass

import PySide6
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFormLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from workbench import __version__
from workbench.core.runs.gpu_facts import GIB, Gpu, GpuFacts, dotted, read_gpu_facts
from workbench.core.runs.launch import is_frozen, program_command
from workbench.core.runs.pip_commands import (
    BuildChoice,
    InstalledBuild,
    choose_for_machine,
    command_line,
    installed_build,
    mismatch,
    replace_paddle_command,
)
from workbench.session.tasks import TaskRunner
from workbench.ui.text.formatting import capitalized, translate_message
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import IconLabel, set_width_for_text
from workbench.ui.widgets.theme import ThemeManager

_WIDTH = 640  # px


@dataclass(frozen=True)
class GpuFindings:
    """GPUs and driver of this machine, the installed build of PaddlePaddle, and the suitable one."""

    facts: GpuFacts
    installed: InstalledBuild | None
    choice: BuildChoice


def read_findings() -> GpuFindings:
    """Query the driver and Paddle's version file. Takes up to a second, so it is called in a worker thread."""
    facts = read_gpu_facts()
    return GpuFindings(facts, installed_build(), choose_for_machine(facts))


class GpuCheckDialog(QDialog):
    """Non-modal dialog. Nothing is installed or run by it: the commands are copied into a terminal."""

    def __init__(self, parent: QWidget | None = None, *, read: Callable[[], GpuFindings] = read_findings) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Check GPU"))
        set_width_for_text(self, _WIDTH)
        self.summary = _label(self.tr("Reading the driver…"), "heading")
        self._form = QFormLayout(horizontalSpacing=16)
        self._column = in_column(self.summary, self._form, owner=self, margins=(22, 20, 22, 18), spacing=12)
        self.commands: dict[str, QLineEdit] = {}
        self._tasks = TaskRunner(parent=self)
        self._tasks.submit(lambda _: read(), self._show)

    def done(self, result: int) -> None:
        self._tasks.cancel()
        super().done(result)

    def _show(self, findings: GpuFindings) -> None:
        facts, installed, choice = findings.facts, findings.installed, findings.choice
        self.summary.setText(self._summary(findings))
        for gpu in facts.gpus:
            self._form.addRow(self.tr("GPU {n}:").format(n=gpu.index), _label(_gpu_text(gpu)))
        for number, why in facts.lost:
            text = self.tr("does not respond ({why}). Restart the computer.").format(why=why)
            self._form.addRow(self.tr("GPU {n}:").format(n=number), _label(text))
        if facts.driver:
            newest = self.tr("{driver}, up to CUDA {cuda}").format(driver=facts.driver, cuda=dotted(facts.cuda))
            self._form.addRow(self.tr("Driver:"), _label(newest))
        elif facts.reason:
            self._form.addRow(self.tr("Driver:"), _label(capitalized(translate_message(facts.reason))))
        self._form.addRow("PaddlePaddle:", _label(self._paddle_text(installed)))
        if choice.build is not None and not self._fits(findings) and not is_frozen():
            self._add_command(
                "install", self.tr("Install the matching PaddlePaddle:"), replace_paddle_command(choice.build)
            )
        self._add_command("doctor", self.tr("Check the installation:"), command_line(program_command("doctor")))
        if facts.usable:
            test = self.tr("Test the GPU (a few minutes, writes gpu-report.md):")
            self._add_command("acceptance", test, command_line(program_command("doctor", "--gpu")))
        self._column.addStretch(1)
        close = QPushButton(self.tr("Close"), clicked=self.accept)
        self._column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)

    def _summary(self, findings: GpuFindings) -> str:
        facts, installed, choice = findings.facts, findings.installed, findings.choice
        if not facts.gpus:
            return self.tr("No NVIDIA GPU can be used. Training runs on the CPU.")
        if facts.hidden:
            return self.tr("The environment variable CUDA_VISIBLE_DEVICES hides the GPU. Training runs on the CPU.")
        if choice.build is None:
            return self.tr("PaddlePaddle does not support this GPU. Training runs on the CPU.")
        if choice.update:
            text = self.tr("The NVIDIA driver is too old. Update it to version {n} or newer.")
            return text.format(n=choice.update)
        if installed is None or installed.cuda is None:
            return self.tr("The installed PaddlePaddle does not use the GPU.")
        if mismatch(installed, facts):
            return self.tr("The installed PaddlePaddle was built for other GPUs or drivers.")
        return self.tr("Training can use the GPU.")

    def _fits(self, findings: GpuFindings) -> bool:
        installed = findings.installed
        return installed is not None and installed.cuda is not None and not mismatch(installed, findings.facts)

    def _paddle_text(self, installed: InstalledBuild | None) -> str:
        if installed is None:
            return self.tr("not installed")
        if installed.cuda is None:
            return self.tr("{version}, for CPUs only").format(version=installed.version)
        text = self.tr("{version}, for CUDA {cuda}").format(version=installed.version, cuda=dotted(installed.cuda))
        return f"{text}, cuDNN {installed.cudnn}" if installed.cudnn else text

    def _add_command(self, name: str, title: str, command: str) -> None:
        self._column.addWidget(_label(title))
        field = QLineEdit(command, readOnly=True, accessibleName=title, cursorPosition=0)
        copy = QPushButton(self.tr("Copy"), clicked=lambda: QGuiApplication.clipboard().setText(command))
        row = in_row((field, 1), copy)
        self._column.addLayout(row)
        self.commands[name] = field


def _gpu_text(gpu: Gpu) -> str:
    """Return name, memory and compute capability of a GPU, as far as known."""
    memory = QCoreApplication.translate("GpuCheckDialog", "{n} GiB").format(n=round(gpu.memory / GIB))
    version = QCoreApplication.translate("GpuCheckDialog", "compute capability {n}").format(n=dotted(gpu.capability))
    texts = [gpu.name, *([memory] if gpu.memory else []), *([version] if gpu.capability else [])]
    comma = QCoreApplication.translate("GpuCheckDialog", ", ")
    return comma.join(texts)


def _label(text: str, name: str = "") -> QLabel:
    label = QLabel(text, wordWrap=True, objectName=name, textFormat=Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


class AboutDialog(QDialog):
    """About dialog."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("About Defect Workbench"))
        texts = QVBoxLayout()
        texts.addWidget(QLabel("Defect Workbench", objectName="title"))
        texts.addWidget(QLabel(self.tr("Version {version}").format(version=__version__), objectName="muted"))
        row = in_row(IconLabel(ThemeManager.app_icon(), 64), (texts, 1), spacing=18)
        machine = f"Python {platform.python_version()} · Qt {PySide6.__version__} · {platform.platform()}"
        label = QLabel(machine, objectName="muted", wordWrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = in_column(
            row,
            QLabel(
                self.tr(
                    "Label surface defects, train UNet and ResNet models on this workstation, evaluate the "
                    "results and export a model for the production line. No data leaves this computer."
                ),
                wordWrap=True,
            ),
            label,
            owner=self,
            margins=(26, 22, 26, 18),
            spacing=12,
        )
        close = QPushButton(self.tr("Close"), clicked=self.accept)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        set_width_for_text(self, 460)
