"""Checks of `doctor` for GPUs: its sentences for machines of many kinds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gpu_stand_ins import NvmlModule, StandInGpu
from workbench.cli import gpu_checks
from workbench.core.runs import gpu_facts, pip_commands
from workbench.core.runs.pip_commands import InstalledBuild

MIG = StandInGpu("NVIDIA H100 80GB HBM3", 80, (9, 0), mig=("MIG-1c2d", "MIG-3e4f"))
BUILD = {
    "cu118": InstalledBuild("3.3.1", (11, 8), "8.9.7", ((6, 1), (7, 5), (8, 0), (8, 6))),
    "cu126": InstalledBuild("3.3.1", (12, 6), "9.9.0", ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0))),
    "cu129": InstalledBuild("3.3.1", (12, 9), "9.9.0", ((10, 0), (12, 0))),
    "cpu": InstalledBuild("3.3.1", None),
}
OLD_DRIVER = "OSError: (External) CUDA error(35), CUDA driver version is insufficient for CUDA runtime version."


class Machine:
    """Machine with stand-ins. gpus: of the driver. build: installed PaddlePaddle, "" for none."""

    def __init__(self, *gpus, system="Linux", build="cpu", visible=None, report=None, **driver) -> None:
        self.nvml = NvmlModule(*gpus, **driver)
        self.system, self.build, self.visible, self.report = system, build, visible, report

    def lines(self, monkeypatch) -> dict[str, tuple[bool, str]]:
        """Return the checks as a user reads them: name -> (ok, text with the fix)."""
        monkeypatch.setitem(sys.modules, "pynvml", self.nvml)
        monkeypatch.setattr(gpu_facts.platform, "system", lambda: self.system)
        monkeypatch.setattr(pip_commands, "user_shell", lambda: "powershell" if self.system == "Windows" else "sh")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        if self.visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", self.visible)
        versions = {"onnx": "1.17.0"}
        if self.build:
            versions["paddlepaddle" if self.build == "cpu" else "paddlepaddle-gpu"] = "3.3.1"
        monkeypatch.setattr(pip_commands, "installed_version", versions.get)
        monkeypatch.setattr(pip_commands, "installed_build", lambda: BUILD.get(self.build))
        if self.report is not None:
            result = gpu_checks.CheckResult("3.3.1, tested: cpu")
            monkeypatch.setattr(gpu_checks, "training", lambda command: (result, self.report))
        found = {}
        machine = gpu_checks.Machine(quick=self.report is None)
        for name, result in gpu_checks.results(gpu_checks.CHECKS, machine):
            found[name] = result.ok, f"{result.detail}\n{result.fix}".strip()
        return found


GTX_1060 = StandInGpu("NVIDIA GeForce GTX 1060 6GB", 6, (6, 1))
GTX_1660 = StandInGpu("NVIDIA GeForce GTX 1660 SUPER", 6, (7, 5))
RTX_3060 = StandInGpu("NVIDIA GeForce RTX 3060", 12, (8, 6))
RTX_5090 = StandInGpu("NVIDIA GeForce RTX 5090", 32, (12, 0))
GT_1030 = StandInGpu("NVIDIA GeForce GT 1030", 2, (6, 1))
RTX_4090 = StandInGpu("NVIDIA GeForce RTX 4090", 24, (8, 9))
H200 = StandInGpu("NVIDIA H200", 141, (9, 0))
NONE = "NVML Shared Library Not Found"

# Machine -> words of the check "graphics card", result and words of "paddle for the card" (None: no such check).
MACHINES = {
    "no driver": (
        Machine(failure=NONE),
        [
            "no NVIDIA driver is installed; training runs on the CPU",
            "If this computer has an NVIDIA GPU, install its driver: https://www.nvidia.com/drivers",
        ],
        None,
        [],
    ),
    "driver that does not respond": (
        Machine(failure="Driver/library version mismatch"),
        ["does not respond (Driver/library version mismatch)", "Restart the computer.", "install the NVIDIA driver"],
        None,
        [],
    ),
    "old driver, GPU build installed": (
        Machine(RTX_3060, driver="470.82.01", cuda=11040, build="cu126"),
        ["RTX 3060, 12 GiB, compute capability 8.6", "driver 470.82.01 (up to CUDA 11.4)"],
        False,
        ["the driver 470.82.01 (up to CUDA 11.4) is too old", "525.60 or newer", "/cu118/"],
    ),
    "old driver, build not in the table": (
        Machine(RTX_3060, build="cu126", report={"ok": True, "cards": [], "gpu_error": OLD_DRIVER}),
        ["RTX 3060"],
        False,
        ["PaddlePaddle cannot use NVIDIA GeForce RTX 3060", "CUDA driver version is insufficient", "/cu126/"],
    ),
    "driver older than every build": (
        Machine(StandInGpu("NVIDIA H100", 80, (9, 0)), driver="470.82", cuda=11040),
        ["H100"],
        False,
        ["supports only CPUs", "Update the NVIDIA driver 470.82 to 525.60 or newer", "/cu126/"],
    ),
    "GTX 1060 on Windows": (
        Machine(GTX_1060, system="Windows", build="cu126"),
        ["GTX 1060 6GB, 6 GiB, compute capability 6.1", "trains in fp32 (no tensor cores"],
        False,
        ["compiled for compute capability 7.5, 8.0, 8.6", "has 6.1", "/cu118/"],
    ),
    "GTX 1660": (
        Machine(GTX_1660, system="Windows", build="cu126"),
        ["GTX 1660 SUPER", "trains in fp32 (no tensor cores"],
        True,
        ["PaddlePaddle for CUDA 12.6 fits", "cuDNN 9.9.0"],
    ),
    "T1000": (
        Machine(StandInGpu("NVIDIA T1000 8GB", 8, (7, 5)), system="Windows", build="cu126"),
        ["NVIDIA T1000 8GB, 8 GiB", "trains in fp32 (no tensor cores"],
        True,
        ["PaddlePaddle for CUDA 12.6 fits"],
    ),
    "RTX 3060": (
        Machine(RTX_3060, system="Windows", build="cu126"),
        ["RTX 3060, 12 GiB", "trains in fp16, bf16 on request"],
        True,
        ["PaddlePaddle for CUDA 12.6 fits NVIDIA GeForce RTX 3060"],
    ),
    "RTX 5090": (
        Machine(RTX_5090, driver="581.15", cuda=13000, system="Windows", build="cu126"),
        ["RTX 5090, 32 GiB, compute capability 12.0"],
        False,
        ["was compiled for", "has 12.0", "/cu129/"],
    ),
    "RTX 5090 with an older driver": (
        Machine(RTX_5090, driver="572.16", cuda=12080, system="Windows", build="cpu"),
        ["RTX 5090"],
        False,
        ["Update the NVIDIA driver 572.16 to 576.02 or newer", "/cu129/"],
    ),
    "RTX 5090 with its build": (
        Machine(RTX_5090, driver="581.15", system="Windows", build="cu129"),
        ["RTX 5090"],
        True,
        ["PaddlePaddle for CUDA 12.9 fits NVIDIA GeForce RTX 5090"],
    ),
    "H200": (
        Machine(H200, driver="570.124.06", cuda=12080, build="cu126"),
        ["NVIDIA H200, 141 GiB, compute capability 9.0", "trains in fp16, bf16"],
        True,
        ["CUDA 12.6 fits NVIDIA H200"],
    ),
    "MIG": (
        Machine(MIG, driver="570.124.06", build="cu126"),
        ["MIG with 2 instances", "CUDA_VISIBLE_DEVICES=MIG-1c2d"],
        True,
        ["fits NVIDIA H100 80GB HBM3"],
    ),
    "MIG without instances": (
        Machine(StandInGpu("NVIDIA A100", 40, (8, 0), mig=()), build="cu126"),
        ["MIG is enabled without instances", "sudo nvidia-smi mig -i 0 -cgi 0 -C"],
        True,
        ["fits NVIDIA A100"],
    ),
    'CUDA_VISIBLE_DEVICES=""': (
        Machine(RTX_3060, visible="", build="cu126"),
        ['hidden by CUDA_VISIBLE_DEVICES=""', "Remove the environment variable CUDA_VISIBLE_DEVICES", "unset CUDA_"],
        None,
        [],
    ),
    'CUDA_VISIBLE_DEVICES="" on Windows': (
        Machine(RTX_3060, visible="", build="cu126", system="Windows"),
        ['hidden by CUDA_VISIBLE_DEVICES=""', "in this shell by: Remove-Item Env:CUDA_VISIBLE_DEVICES"],
        None,
        [],
    ),
    "CUDA_VISIBLE_DEVICES=1": (
        Machine(GTX_1060, RTX_3060, visible="1", build="cu126"),
        ["CUDA_VISIBLE_DEVICES=1 leaves NVIDIA GeForce RTX 3060"],
        True,
        ["fits NVIDIA GeForce RTX 3060"],
    ),
    "CPU build with a GPU": (
        Machine(RTX_3060, build="cpu"),
        ["RTX 3060"],
        False,
        ["supports only CPUs", "uninstall -y paddlepaddle", "paddlepaddle-gpu", "/cu126/"],
    ),
    "GPU that no build supports": (
        Machine(StandInGpu("NVIDIA GeForce GTX 780", 3, (3, 5)), build="cpu"),
        ["GTX 780"],
        True,
        ["no build of PaddlePaddle 3.3 supports", "training runs on the CPU"],
    ),
    "two GPUs on Windows": (
        Machine(RTX_3060, RTX_3060, system="Windows", build="cu126"),
        ["on Windows one GPU trains at a time, because PaddlePaddle has no NCCL there"],
        True,
        [],
    ),
    "two GPUs on Linux": (
        Machine(RTX_3060, RTX_3060, build="cu126"),
        ["--device gpu:0,1 trains on all of them (not yet tested on real GPUs)"],
        True,
        [],
    ),
    "small GPU for the screen beside another one": (
        Machine(GT_1030, RTX_4090, system="Windows", build="cu126"),
        ["GT 1030", "RTX 4090", "gpu:1 trains by default"],
        True,
        ["fits NVIDIA GeForce RTX 4090"],
    ),
    "GPU that is lost": (
        Machine(RTX_3060, StandInGpu("NVIDIA GeForce RTX 4090", 24, (8, 9), lost=True), build="cu126"),
        ["RTX 3060, 12 GiB", "GPU 1 does not respond (GPU is lost)", "Restart the computer."],
        True,
        ["fits NVIDIA GeForce RTX 3060"],
    ),
    "GPU that is lost, the only one": (
        Machine(StandInGpu("NVIDIA GeForce RTX 4090", lost=True)),
        ["does not respond (GPU is lost)", "training runs on the CPU", "Restart the computer."],
        None,
        [],
    ),
    "GPU that Paddle does not see": (
        Machine(RTX_3060, build="cu126", report={"ok": True, "gpu_error": ""}),
        ["RTX 3060"],
        False,
        ["PaddlePaddle does not see NVIDIA GeForce RTX 3060"],
    ),
    "cuDNN that differs from the compiled one": (
        Machine(
            RTX_3060,
            system="Windows",
            build="cu126",
            report={
                "ok": True,
                "cards": [{}],
                "cudnn_loaded": "9.5.1",
                "warnings": ["Installed Paddle is compiled with CUDNN 9.9, but CUDNN version in your machine is 9.5"],
            },
        ),
        ["RTX 3060"],
        True,
        ["cuDNN 9.9.0, loaded 9.5.1", "warning: Installed Paddle is compiled with CUDNN 9.9"],
    ),
}

UNUSABLE = {kind for kind in MACHINES if "lost" in kind or "not respond" in kind or '=""' in kind}
UNUSABLE.add("MIG without instances")


@pytest.mark.parametrize("kind", MACHINES)
def test_sentences_for_machines_of_many_kinds(monkeypatch, kind):
    machine, card_words, fits, paddle_words = MACHINES[kind]
    found = machine.lines(monkeypatch)
    ok, card = found["graphics card"]
    assert all(word in card for word in card_words), card
    assert ok == (kind not in UNUSABLE)
    assert (found["paddle for the card"][0] if "paddle for the card" in found else None) == fits, found
    text = found["paddle for the card"][1] if fits is not None else ""
    assert all(word in text for word in paddle_words), text
    assert "Traceback" not in card + text
    if target := os.environ.get("WORKBENCH_DOCTOR_SENTENCES"):  # collects the sentences for a reader
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(f"## {kind}\n")
            for name, (fine, sentence) in found.items():
                file.write(
                    f"{'ok  ' if fine else 'FIX '} {name}: {sentence}\n".replace("\n", "\n       ").rstrip() + "\n"
                )
            file.write("\n")


def test_gpu_without_paddle_installed(monkeypatch):
    machine = Machine(RTX_5090, driver="581.15", system="Windows", build="")
    monkeypatch.setattr(gpu_checks, "find_spec", lambda name: None)
    ok, text = machine.lines(monkeypatch)["paddle"]
    assert not ok and "/cu129/" in text and "paddlepaddle-gpu" in text


def test_missing_paddle_is_installed_for_the_gpu_of_this_machine(monkeypatch):
    Machine(RTX_3060, build="cpu").lines(monkeypatch)
    assert "paddlepaddle-gpu" in pip_commands.paddle_command_here() and "/cu126/" in pip_commands.paddle_command_here()
    Machine(failure=NONE).lines(monkeypatch)
    assert "paddlepaddle-gpu" not in pip_commands.paddle_command_here()


def test_training_program_that_does_not_start_is_explained(monkeypatch):
    command = [sys.executable, "-c", "raise OSError('CUDA error(35)')"]
    monkeypatch.setattr(gpu_checks, "worker_command", lambda verb: command)
    check, report = gpu_checks.training("the command")
    assert not check.ok and "CUDA error(35)" in check.detail and check.fix == "the command" and not report


def test_warnings_of_libraries_are_found_in_the_error_output():
    text = (
        "W1123 06:10:00.120000 4242 gpu_resources.cc:306] WARNING: device: 0. compiled with CUDNN 9.9\n"
        "I1123 06:10:00.120000 4242 init.cc:1] nothing\n"
        "W1123 06:10:01.120000 4242 gpu_resources.cc:306] WARNING: device: 0. compiled with CUDNN 9.9\n"
        "E1123 06:10:01.120000 4242 gpu_resources.cc:98] Mismatched GPU Architecture: compiled for 75 80\n"
        "UserWarning: No ccache found\n"
    )
    assert gpu_checks.native_warnings(text) == [
        "WARNING: device: 0. compiled with CUDNN 9.9",
        "Mismatched GPU Architecture: compiled for 75 80",
    ]


def test_the_variable_of_the_stand_ins_is_read_by_a_real_process():
    """Without a driver, doctor names the reason on every machine."""
    done = subprocess.run(
        [sys.executable, "-c", "from workbench.core.runs.gpu_facts import read_gpu_facts as r; print(r().visible)"],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "GPU-x"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "GPU-x"
