"""File operations for each image: what a project in a network folder costs. Prints a table.

QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.network_folder [--images 1000] [--in-folder 50] [--delay 3]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from tests.conftest import fill_project
from tests.file_operations import counted
from workbench import cli
from workbench.core.project.project import Grouping, Project
from workbench.session.session import Session


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--in-folder", type=int, default=50, help="images in each folder")
    parser.add_argument("--delay", type=float, default=0, metavar="MS", help="that each operation takes longer")
    arguments = parser.parse_args()
    count = arguments.images
    place = Path(tempfile.mkdtemp())
    os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_DATA_HOME"] = str(place / "home")
    root, app = place / "project", QCoreApplication([])
    with Project.create(root, classes=["scratch"]) as project:
        fill(project, count, arguments.in_folder)
        project.file.grouping = Grouping(rule="each")  # another one looks at the pixels, too
        project.save()
    session, places, first = Session(save_delay=0), [10], []

    def verb(*arguments: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.main([*arguments, str(root)])

    def open_project() -> None:
        done: list[bool] = []
        session.image_list.finished.connect(lambda: done.append(True))
        start = time.monotonic()
        session.open_project(root)
        while not session.keys:
            app.processEvents()
        session.open_image(session.keys[0])
        while session.image is None:
            app.processEvents()
        first.append(time.monotonic() - start)
        while not done:
            app.processEvents()

    def paint() -> None:
        session.editor.begin("paint")
        session.editor.paint_segment((places[0], 10), (places[0], 40), 3, 1)
        places.append(places.pop(0) + 20)
        session.editor.commit()
        session.flush()

    def measure(name: str, work: Callable[[], None], units: int = count) -> None:
        start = time.monotonic()
        with counted(root, arguments.delay / 1000) as found:
            work()
        seconds = time.monotonic() - start
        kinds = ", ".join(f"{kind} {number / units:.2g}" for kind, number in found.items())
        print(f"| {name} | {found.total() / units:.1f} | {kinds} | {seconds:.1f} |", flush=True)

    print("| operation | per image | of them | s |\n|---|---:|---|---:|")
    measure("`statistics`", lambda: verb("statistics"))
    measure("`check`", lambda: verb("check"))
    shutil.rmtree(root / ".cache")
    measure("first opening", open_project)
    session.close_project()
    measure("unchanged reopening", open_project)
    paint()
    measure("saved stroke", paint, 1)
    print("first image shown after", " and ".join(f"{seconds:.1f} s" for seconds in first))
    session.end()
    shutil.rmtree(place)


def fill(project: Project, count: int, in_folder: int) -> None:
    """Write labeled images, of which 1000 differ."""
    with tempfile.TemporaryDirectory() as place, Project.create(Path(place) / "p", classes=["scratch"]) as few:
        keys = fill_project(few, min(count, 1000))
        files = [
            tuple(path(key).read_bytes() for path in (few.image_path, few.mask_path, few.note_path)) for key in keys
        ]
    for number in range(count):
        key = f"lot{number // in_folder}/p{number:05d}.png"
        paths = (project.image_path(key), project.mask_path(key), project.note_path(key))
        for path, content in zip(paths, files[number % len(files)]):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


if __name__ == "__main__":
    main()
