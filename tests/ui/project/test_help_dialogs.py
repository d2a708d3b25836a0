"""Dialog `Check GPU`: its summary for several machines, and commands to copy."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton

from workbench.core.messages import Message
from workbench.core.runs.gpu_facts import Gpu, GpuFacts
from workbench.core.runs.pip_commands import InstalledBuild, choose_for_machine
from workbench.ui.project.help_dialogs import GpuCheckDialog, GpuFindings

RTX = Gpu(0, "NVIDIA GeForce RTX 3060", 12 << 30, (8, 6))
GPU_BUILD = InstalledBuild("3.3.1", (12, 6), "9.9.0", ((7, 5), (8, 0), (8, 6)))
CPU_BUILD = InstalledBuild("3.3.1", None)


def machine(*gpus: Gpu, driver: str = "560.94", visible: str | None = None) -> GpuFacts:
    return GpuFacts("Windows", gpus, driver if gpus else "", (12, 6) if gpus else None, "" if gpus else "x", visible)


@pytest.fixture
def shown(qtbot):
    def show(facts: GpuFacts, installed: InstalledBuild | None) -> GpuCheckDialog:
        dialog = GpuCheckDialog(read=lambda: GpuFindings(facts, installed, choose_for_machine(facts)))
        qtbot.addWidget(dialog)
        qtbot.waitUntil(lambda: bool(dialog.commands), timeout=5000)
        return dialog

    return show


@pytest.mark.parametrize(
    ("facts", "installed", "summary", "commands"),
    [
        (machine(), CPU_BUILD, "No NVIDIA GPU can be used", ["doctor"]),
        (machine(RTX), GPU_BUILD, "Training can use the GPU", ["doctor", "acceptance"]),
        (machine(RTX), CPU_BUILD, "does not use the GPU", ["install", "doctor", "acceptance"]),
        (machine(RTX), None, "does not use the GPU", ["install", "doctor", "acceptance"]),
        (machine(RTX, visible=""), GPU_BUILD, "CUDA_VISIBLE_DEVICES hides", ["doctor"]),
        (machine(RTX, driver="440.1"), GPU_BUILD, "Update it to version 528.33", ["install", "doctor", "acceptance"]),
        (machine(Gpu(0, "RTX 5090", 32 << 30, (12, 0)), driver="581.1"), GPU_BUILD, "built for other GPUs", None),
        (machine(Gpu(0, "GTX 780", 3 << 30, (3, 5))), CPU_BUILD, "does not support this GPU", ["doctor", "acceptance"]),
    ],
)
def test_summary_and_commands(shown, facts, installed, summary, commands):
    dialog = shown(facts, installed)
    assert summary in dialog.summary.text()
    if commands is not None:
        assert list(dialog.commands) == commands
    else:
        assert "/cu129/" in dialog.commands["install"].text()


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (GpuFacts("Windows", reason=Message("device.no_driver")), "No NVIDIA driver is installed"),
        (dataclasses.replace(machine(RTX), lost=((1, "GPU is lost"),)), "does not respond (GPU is lost). Restart"),
    ],
)
def test_reason_for_a_missing_gpu(shown, facts, text):
    assert any(text in label.text() for label in shown(facts, GPU_BUILD).findChildren(QLabel))


def test_commands_are_copied(shown):
    dialog = shown(machine(RTX), GPU_BUILD)
    copy = [button for button in dialog.findChildren(QPushButton) if button.text() == "Copy"]
    copy[-1].click()
    assert QGuiApplication.clipboard().text().endswith("workbench doctor --gpu")
