"""File operations for each image: what a project in a network folder costs. Prints a table.

QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.network_folder --images 1000
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import tempfile
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
    count = parser.parse_args().images
    place = Path(tempfile.mkdtemp())
    os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_DATA_HOME"] = str(place / "home")
    root, app = place / "project", QCoreApplication([])
    with Project.create(root, classes=["scratch"]) as project:
        fill_project(project, count)
        project.file.grouping = Grouping(rule="each")  # another one looks at the pixels, too
        project.save()
    session, places = Session(save_delay=0), [10]

    def verb(*arguments: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.main([*arguments, str(root)])

    def open_project() -> None:
        done: list[bool] = []
        session.image_list.finished.connect(lambda: done.append(True))
        session.open_project(root)
        while not done:
            app.processEvents()

    def paint() -> None:
        session.editor.begin("paint")
        session.editor.paint_segment((places[0], 10), (places[0], 40), 3, 1)
        places.append(places.pop(0) + 20)
        session.editor.commit()
        session.flush()

    def measure(name: str, work: Callable[[], None], units: int = count) -> None:
        with counted(root) as found:
            work()
        print(
            f"| {name} | {found.total() / units:.1f} | {', '.join(f'{k} {n / units:.2g}' for k, n in found.items())} |"
        )

    print("| operation | per image | of them |\n|---|---:|---|")
    measure("`statistics`", lambda: verb("statistics"))
    measure("`check`", lambda: verb("check"))
    shutil.rmtree(root / ".cache")
    measure("first opening", open_project)
    session.close_project()
    measure("unchanged reopening", open_project)
    session.open_image(session.keys[0])
    while session.image is None:
        app.processEvents()
    paint()
    measure("saved stroke", paint, 1)
    session.end()
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
