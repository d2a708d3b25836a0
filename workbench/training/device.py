"""Where the network learns: the card or the processor, or a clear sentence why not."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path

import paddle

from workbench.core.problems import DeviceMissing


@dataclass(frozen=True)
class Device:
    """name: as Paddle calls it ("cpu", "gpu:0"). capability: of a card, e.g. (8, 0); (0, 0) for a processor."""

    name: str
    title: str = ""
    capability: tuple[int, int] = (0, 0)

    @property
    def is_gpu(self) -> bool:
        return self.name.startswith("gpu")


def choose(asked: str) -> Device:
    """The device of a recipe, made Paddle's current one. Raises DeviceMissing.

    `set_device("gpu")` ends the process of a GPU build where there is no card, so cards are counted first.
    """
    asked = asked.strip().lower() or "auto"
    if asked not in ("auto", "cpu", "gpu") and not re.fullmatch(r"gpu:\d+(,\d+)*", asked):
        raise DeviceMissing(device=asked, why="devices are called auto, cpu, gpu, gpu:0 or gpu:0,1")
    if "," in asked:
        why = "this version trains on one card at a time; choose one of them, such as gpu:0"
        raise DeviceMissing(device=asked, why=why)
    cards = count_cards()
    if asked == "cpu" or (asked == "auto" and not cards):
        paddle.set_device("cpu")
        return Device("cpu", processor_name())
    number = int(asked.partition(":")[2] or 0)
    if number >= cards:
        raise DeviceMissing(device=asked, why=_why_no_card(number, cards))
    paddle.set_device(f"gpu:{number}")
    capability = paddle.device.cuda.get_device_capability(number)
    return Device(f"gpu:{number}", paddle.device.cuda.get_device_name(number), tuple(capability))


def count_cards() -> int:
    return paddle.device.cuda.device_count() if paddle.device.is_compiled_with_cuda() else 0


def release_memory(device: Device) -> None:
    """Give back what Paddle keeps of a card's memory for later."""
    if device.is_gpu:
        paddle.device.cuda.empty_cache()


def processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("ascii", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _why_no_card(number: int, cards: int) -> str:
    if not paddle.device.is_compiled_with_cuda():
        return "the installed Paddle is the one for processors"
    if not cards:
        return "no NVIDIA card can be used here (is its driver installed?)"
    return f"there are {cards} cards, numbered from 0, and no number {number}"
