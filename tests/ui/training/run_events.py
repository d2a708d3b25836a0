"""Events of a run in progress, and a panel that shows it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.core.runs.events import Started, Step

METRICS = {"dice": 0.81, "regions": {"found": 11, "defects": 12, "false_per_picture": 0.3}}


STARTED = Started(model="unet", device="gpu:0", device_name="Card", precision="fp16", pictures={"train": 3, "val": 1})


def steps(count: int, **more) -> list[Step]:
    return [
        Step(step=i, time=i / 10, loss=2 / (i + 1), rate=0.01, images_per_second=120.0, progress=i / count, **more)
        for i in range(count)
    ]


def live(application) -> None:
    """Make the training appear to be running."""

    class Thread(QObject):
        live = True
        ended = reported = Signal(object)

        def watch(self, key: str) -> None:
            self.watched = key

        def report_labels(self, key: str) -> None: ...
        def send_command(self, command: str, key: str | None = None) -> None: ...
        def stop(self) -> None: ...

    application.services.training._thread = Thread()


def without_trainer(application) -> None:
    application.services.training._thread = None
