"""Take screenshots of every view of the window: all themes, languages and window sizes.

    python packaging/screenshots.py SAMPLE OUT [--themes dark,light] [--languages en,zh_CN] [--sizes 1440x900,1280x720]
        [--views labeling,evaluation] [--sheet]

SAMPLE is a project made by `workbench demo`; it is copied, not changed. `2560x1440@2` is a window of 1280 x 720 logical
pixels on a screen of scale 2. OUT receives THEME-LANGUAGE-SIZE/VIEW.png and, with `--sheet`, one contact sheet
a combination. Works without a screen. `--readme` renews resources/screenshot.png.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen" if "DISPLAY" not in os.environ else "xcb")

from PySide6.QtCore import QEvent, QPoint, QSettings, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QPushButton

from workbench.core.problems import CannotWrite
from workbench.core.project.exporting import export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.runs.run import find_run
from workbench.session.error_log import report_error
from workbench.session.preferences import Preferences
from workbench.ui.evaluation.verdict_evaluation_page import VerdictEvaluationPage
from workbench.ui.shell.application import Application
from workbench.ui.shell.window import Window
from workbench.ui.widgets.question_dialog import Question

README_PICTURE = Path(__file__).resolve().parents[1] / "resources" / "screenshot.png"
_SECONDS = 60.0  # time limit of each wait


class Stage:
    """A window on a copy of the sample project, and the steps that bring it into a state."""

    def __init__(self, sample: Path, theme: str, language: str, size: tuple[int, int]) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.app, self.sample = app, sample
        self.cleanup: list[Callable[[], object]] = []  # called after the picture is taken
        self.application = Application(app, Preferences(theme=theme, language=language))
        self.window: Window = self.application.window
        self.session = self.application.services.session
        self.window.resize(*size)
        self.application.show()
        self.pause(0.3)
        self.window.training.make_curves()

    # --- steps ------------------------------------------------------------------------------------

    def pause(self, seconds: float) -> None:
        """Process events for some time, as animations and background threads need."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.app.processEvents()
            time.sleep(0.005)

    def wait(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + _SECONDS
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the window did not reach the state of the view")
            self.pause(0.02)
        self.pause(0.4)

    def run(self, command: str) -> None:
        self.window.table[command].trigger()
        self.pause(0.3)

    def open_project(self) -> None:
        if self.session.project is None:
            self.session.open_project(self.sample)
            self.wait(lambda: self.session.key is not None and len(self.session.rows) > 20)

    def open_image(self, key: str) -> None:
        self.open_project()
        if self.session.key != key:
            self.session.open_image(key)
            self.wait(lambda: self.session.key == key and self.session.mask is not None)
        self.window.canvas.view_state.fit()

    def follow(self, model: str) -> None:
        """Show the curves of the newest run of a model, and open a held-out image with many defect pixels."""
        self.open_project()
        run = find_run(self.sample, "best", model)
        self.application.services.training.follow(run)
        items = [item for item in run.dataset().of("val", "test") if item.width <= 1500]
        self.open_image(max(items, key=lambda item: sum(item.pixels or [0]) / (item.width * item.height)).key)
        self.pause(1.5)

    def press_message_button(self, number: int) -> None:
        """Press a button of the newest message."""
        bar = self.window.messages
        buttons = [button for button in bar.findChildren(QPushButton) if button.isVisible()]
        buttons[number].click()

    def close(self) -> None:
        for restore in self.cleanup:
            restore()
        self.application.end()
        self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.pause(0.1)

    # --- picture ----------------------------------------------------------------------------------

    def grab(self) -> QImage:
        """Return the window with its open dialogs and menus at their places."""
        picture = self.window.grab().toImage()
        painter = QPainter(picture)
        for widget in self.app.topLevelWidgets():
            if widget is self.window or not widget.isVisible() or not isinstance(widget, QDialog | QMenu):
                continue
            image = widget.grab().toImage()
            place = widget.mapToGlobal(QPoint()) - self.window.mapToGlobal(QPoint())
            if isinstance(widget, QDialog):
                place = QPoint(
                    (self.window.width() - widget.width()) // 2, (self.window.height() - widget.height()) // 2
                )
            painter.drawImage(place, image)
        painter.end()
        return picture

    def close_dialogs(self) -> None:
        for widget in self.app.topLevelWidgets():
            if isinstance(widget, QDialog | QMenu) and widget.isVisible():
                widget.close()
        self.pause(0.1)


# --- views: each function brings the window into the state that its name describes -----------------


def welcome(stage: Stage) -> None:
    if stage.session.project is not None:
        stage.run("close_project")
        stage.wait(lambda: stage.session.project is None)


def new_project(stage: Stage) -> None:
    welcome(stage)
    stage.run("new_project")


def labeling(stage: Stage) -> None:
    stage.follow("unet")


def prediction(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("predict")
    stage.pause(2)


def contact_sheet(stage: Stage) -> None:
    stage.open_project()
    stage.run("sheet")
    stage.pause(1.5)


def table_of_images(stage: Stage) -> None:
    contact_sheet(stage)
    stage.window.images.thumbnail_view.show_table(True)
    stage.pause(0.5)


def label_next(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("label_next")
    stage.wait(lambda: not stage.application.services.label_queue.running)


def label_errors(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("label_errors")
    stage.wait(lambda: not stage.application.services.label_queue.running)


def training_settings(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("recipe")


def run_settings(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("run_recipe")


def export_options(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("export_choices")


def predict_folder(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("predict_folder")


def evaluation(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("review")
    stage.wait(lambda: not stage.application.services.evaluation.busy)
    stage.pause(1.5)


def evaluation_of_verdicts(stage: Stage) -> None:
    stage.follow("resnet")
    stage.run("review")
    page = stage.window.findChild(VerdictEvaluationPage)
    stage.wait(lambda: page is not None and page.isVisible())
    stage.pause(3)


def import_labels(stage: Stage) -> None:
    """Preview of the import of a COCO file, exported from the sample."""
    stage.open_project()
    project = stage.session.project
    assert project is not None
    labels = stage.sample.with_name("labels")
    if not labels.exists():
        export_labels(project, labels, format="coco", options=LabelExportOptions(images=True))
    stage.window.label_files.show_import(labels)
    stage.pause(8)


def dialog_of(command: str) -> Callable[[Stage], None]:
    """Return the view of a dialog that a command opens."""

    def show(stage: Stage) -> None:
        stage.open_project()
        stage.run(command)
        stage.pause(4)

    return show


def shortcuts(stage: Stage) -> None:
    stage.open_project()
    stage.run("keys")


def about(stage: Stage) -> None:
    stage.open_project()
    stage.run("about")


def live_training(stage: Stage) -> None:
    """A training of a few minutes, some steps after its first preview."""
    stage.open_project()
    stage.window.training.controls.set_values("unet", 3, "cpu")
    stage.run("train")
    stage.wait(lambda: stage.application.services.training.running)
    stage.pause(25)


def leave_question(stage: Stage) -> None:
    live_training(stage)
    stage.run("close_project")
    stage.wait(lambda: stage.window.findChildren(Question))


def missing_folder(stage: Stage) -> None:
    """The folder of the open project is moved away, and an image is marked as done."""
    stage.open_project()
    moved = stage.sample.with_name("moved")
    stage.sample.rename(moved)
    stage.cleanup.append(lambda: moved.rename(stage.sample))
    stage.session.folder.check()
    stage.run("done_next")
    stage.pause(1)


def failed_save(stage: Stage) -> None:
    stage.open_project()
    stage.window.messages.problem(CannotWrite(path="masks/scratch-003.png", why="No space left on device"))
    stage.pause(0.5)


def unexpected_error(stage: Stage) -> None:
    stage.open_project()
    try:
        raise ZeroDivisionError("example of an unexpected error")
    except ZeroDivisionError as error:
        report_error(error)
    stage.pause(0.5)
    stage.press_message_button(0)
    stage.pause(0.3)


def done_message(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("done_next")
    stage.pause(0.5)


def menu(number: int) -> Callable[[Stage], None]:
    """Return the view of an open menu of the menu bar."""

    def show(stage: Stage) -> None:
        stage.follow("unet")
        bar = stage.window.menuBar()
        action = bar.actions()[number]
        action.menu().popup(bar.mapToGlobal(bar.actionGeometry(action).bottomLeft()))
        stage.pause(0.3)

    return show


VIEWS: dict[str, Callable[[Stage], None]] = {
    view.__name__: view
    for view in (
        welcome,
        new_project,
        labeling,
        prediction,
        contact_sheet,
        table_of_images,
        label_next,
        label_errors,
        training_settings,
        run_settings,
        export_options,
        predict_folder,
        evaluation,
        evaluation_of_verdicts,
        shortcuts,
        about,
        failed_save,
        missing_folder,
        unexpected_error,
        done_message,
        live_training,
        leave_question,
        import_labels,
    )
}
VIEWS |= {
    name: dialog_of(name)
    for name in ("export_labels", "check_labels", "statistics", "sources", "merge_project", "pack", "check_gpu")
}
VIEWS |= {f"menu_{number}": menu(number) for number in range(7)}


# --- the program ----------------------------------------------------------------------------------


def take(sample: Path, out: Path, theme: str, language: str, size: str, views: list[str]) -> None:
    """Take the views of one combination, each in a window of its own state. A view that fails is reported."""
    width, height = map(int, size.split("@")[0].split("x"))
    scale = float(size.partition("@")[2] or 1)
    folder = out / f"{theme}-{language}-{size}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in views:
        QSettings().clear()
        stage = Stage(sample, theme, language, (round(width / scale), round(height / scale)))
        try:
            VIEWS[name](stage)
            stage.grab().save(str(folder / f"{name}.png"))
        except Exception as error:
            print(f"{folder.name}/{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            stage.close_dialogs()
            stage.close()


def sheet(folder: Path, columns: int = 4, width: int = 720) -> None:
    """Write a contact sheet of the pictures of `folder` beside it."""
    pictures = [QImage(str(path)) for path in sorted(folder.glob("*.png"))]
    if not pictures:
        return
    small = [picture.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation) for picture in pictures]
    rows = -(-len(small) // columns)
    height = max(picture.height() for picture in small)
    target = QImage(columns * (width + 8), rows * (height + 8), QImage.Format.Format_RGB32)
    target.fill(Qt.GlobalColor.darkGray)
    painter = QPainter(target)
    for number, picture in enumerate(small):
        painter.drawImage(number % columns * (width + 8) + 4, number // columns * (height + 8) + 4, picture)
    painter.end()
    target.save(str(folder) + ".png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sample", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--themes", default="dark,light")
    parser.add_argument("--languages", default="en,zh_CN")
    parser.add_argument("--sizes", default="1440x900")
    parser.add_argument("--views", default=",".join(VIEWS))
    parser.add_argument("--sheet", action="store_true", help="write a contact sheet of each combination")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--readme", action="store_true", help="renew resources/screenshot.png")
    options = parser.parse_args()
    if options.one:
        QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
        QApplication.setOrganizationName("defect-workbench-screenshots")
        app = QApplication(sys.argv[:1])  # noqa: F841 - lives as long as the windows
        take(options.sample, options.out, options.themes, options.languages, options.sizes, options.views.split(","))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample-project"
        shutil.copytree(options.sample, sample)
        for theme in options.themes.split(","):
            for language in options.languages.split(","):
                for size in options.sizes.split(","):  # the scale of the screen is fixed for a process
                    environment = {**os.environ, "QT_SCALE_FACTOR": size.partition("@")[2] or "1", "HOME": folder}
                    command = [sys.executable, __file__, str(sample), str(options.out), "--one"]
                    command += ["--themes", theme, "--languages", language, "--sizes", size, "--views", options.views]
                    subprocess.run(command, env=environment, check=False)
                    if options.sheet:
                        sheet(options.out / f"{theme}-{language}-{size}")
    if options.readme:
        size = options.sizes.split(",")[0]
        theme, language = options.themes.split(",")[0], options.languages.split(",")[0]
        shutil.copyfile(options.out / f"{theme}-{language}-{size}" / "labeling.png", README_PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
