"""Time from the start of the process to the first painted window, beside the imports of its libraries alone.

python -m tests.benchmarks.startup [--rounds 10] [--before CHECKOUT] [PROJECT]
Processes in turn, each fresh, after one of each that fills the disk cache: the imports of PySide6.QtWidgets, pyqtgraph
and OpenCV; the window on its welcome page; with PROJECT also the window on this project, until its first image is
painted; with CHECKOUT the same windows of the version in that folder. Wall time and CPU time of the process; median and
range. The ratio holds better for other machines than the times do.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AIM = 1.5  # times the imports alone

_REPORT = """
def report():
    import json, os, time, psutil
    process = psutil.Process()
    used = process.cpu_times()
    print(json.dumps({"wall": time.time() - process.create_time(), "cpu": used.user + used.system}), flush=True)
    os._exit(0)
"""
_IMPORTS = f"""{_REPORT}
import cv2, pyqtgraph
from PySide6 import QtWidgets
report()
"""
_WINDOW = f"""{_REPORT}
import sys
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication
from workbench.__main__ import main

class FirstPaint(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and self.is_ready():
            QTimer.singleShot(0, report)  # after this event
        return False

    def is_ready(self):
        if not sys.argv[1:]:
            return True
        canvases = [widget.canvas for widget in QApplication.topLevelWidgets() if hasattr(widget, "canvas")]
        # Earlier versions hold the image in the canvas itself.
        images = [canvas.scene.image if hasattr(canvas, "scene") else canvas.picture for canvas in canvases]
        return any(image is not None for image in images)

app = QApplication(sys.argv[:1])
first = FirstPaint()
app.installEventFilter(first)
main(sys.argv[1:])
"""


def measure(code: str, arguments: Sequence[str] = (), version: Path = ROOT) -> dict[str, float]:
    """Run `code` with the workbench of the checkout `version` in a fresh process without settings of the user.

    Returns the wall time and the CPU time of the process in seconds.
    """
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "QT_QPA_PLATFORM": "offscreen" if "DISPLAY" not in os.environ else "xcb",
            **os.environ,
            "PYTHONPATH": str(version),
            "PYTHONDONTWRITEBYTECODE": "",  # compiled modules are reused, as after an installation
            **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"), home),
        }
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--before", type=Path, help="checkout of another version, measured in the same rounds")
    args = parser.parse_args()
    versions = {"": ROOT}
    if args.before:
        versions[" of the version before"] = args.before.absolute()
    tasks: dict[str, tuple[str, list[str], Path]] = {"imports alone": (_IMPORTS, [], ROOT)}
    for name, version in versions.items():
        tasks[f"window{name}"] = (_WINDOW, [], version)
        if args.project:
            tasks[f"window{name} with the first image of the project"] = (
                _WINDOW,
                [str(args.project.absolute())],
                version,
            )
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in tasks}
    for number in range(args.rounds + 1):
        for name, task in tasks.items():
            found = measure(*task)
            if number:  # the first round fills the disk cache
                rows[name].append(found)
    base = {kind: statistics.median(row[kind] for row in rows["imports alone"]) for kind in ("wall", "cpu")}
    for name, found in rows.items():
        for kind, text in (("wall", "wall time"), ("cpu", "CPU time")):
            values = [row[kind] for row in found]
            median = statistics.median(values)
            print(
                f"{name}, {text}: {median:.2f} s ({min(values):.2f} to {max(values):.2f}), "
                f"{median / base[kind]:.2f} times the imports alone (aim {AIM})"
            )


if __name__ == "__main__":
    main()
