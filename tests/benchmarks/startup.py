"""Time from the start of the process to the first painted window, beside the imports of its libraries alone.

python -m tests.benchmarks.startup [--rounds 10] [PROJECT]
Processes in turn, each fresh, after one of each that fills the disk cache: the imports of PySide6.QtWidgets, pyqtgraph
and OpenCV; the window on its welcome page; with PROJECT also the window on this project, until its first image is
painted. Wall time and CPU time of the process; median and range. The ratio holds better for other machines than the
times do.
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
        return any(canvas.scene.image is not None for canvas in canvases)

app = QApplication(sys.argv[:1])
first = FirstPaint()
app.installEventFilter(first)
main(sys.argv[1:])
"""


def measure(code: str, arguments: Sequence[str] = ()) -> dict[str, float]:
    """Run `code` in a fresh process without settings of the user and return its times in seconds."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "QT_QPA_PLATFORM": "offscreen" if "DISPLAY" not in os.environ else "xcb",
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "",  # compiled modules are reused, as after an installation
            **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"), home),
        }
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    tasks: dict[str, tuple[str, list[str]]] = {"imports alone": (_IMPORTS, []), "window": (_WINDOW, [])}
    if args.project:
        tasks["window with the first image of the project"] = (_WINDOW, [str(args.project.absolute())])
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in tasks}
    for number in range(args.rounds + 1):
        for name, (code, arguments) in tasks.items():
            found = measure(code, arguments)
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
