"""Take screenshots of every view of the window: all themes, languages and window sizes.

    python packaging/screenshots.py SAMPLE OUT [--themes dark,light] [--languages en,zh_CN] [--sizes 1440x900,1280x720]
        [--views labeling,evaluation] [--sheet]

SAMPLE is a project made by `workbench demo`; it is copied, not changed. `2560x1440@2` is a window of 1280 x 720 logical
pixels on a screen of scale 2. OUT receives THEME-LANGUAGE-SIZE/VIEW.png and, with `--sheet`, one contact sheet
a combination. Texts that are cut, widgets outside of the window and English words in a Chinese window are written to
standard error. Works without a screen. `--focus` takes some dialogs after each press of Tab instead. `--guide` renews
the pictures of the guide, from the first theme and size, and `--animation` the one
of the README. Pages that a browser shows need PySide6-Addons. The files in the repository are made in a few minutes by

    python packaging/screenshots.py SAMPLE OUT --guide --themes light --sizes 1366x768 --views guide
    python packaging/screenshots.py SAMPLE OUT --animation --themes dark --languages en --sizes 1100x660
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen" if "DISPLAY" not in os.environ else "xcb")

from PIL import Image
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QApplication
from screenshot_animation import stroke
from screenshot_details import FOCUS_VIEWS
from screenshot_dialogs import HARMLESS, VIEWS
from screenshot_faults import faults
from screenshot_stage import Stage

from workbench.core.project.project import Project
from workbench.core.runs.run import Run

ROOT = Path(__file__).resolve().parents[1]
# Views in the guide. Pages show a picture as `NAME.webp`.
GUIDE_VIEWS = (
    *("new_project", "labeling", "spots", "contact_sheet", "suggestions", "finished_training"),
    *("evaluation_images", "evaluation", "evaluation_classes", "evaluation_metrics", "evaluation_lighting"),
    *("operating_point", "verdict_rule", "evaluation_of_verdicts", "parts_needed", "gauge_study", "comparison"),
    *("export_options", "export_report", "folder_results", "unlike_images", "server_page", "result_outputs", "inbox"),
    *("line_files", "adoption", "layout_files", "release", "model_card", "results_over_time", "welcome", "palette"),
)
GUIDE_BYTES, ANIMATION_BYTES = 4 << 20, 2 << 20  # largest size of all pictures of the guide, and of the animation
ANIMATION = ROOT / "resources" / "stroke.webp"


def take(sample: Path, out: Path, themes: list[str], language: str, sizes: list[str], views: list[str]) -> None:
    """Take the views of one language and scale. Those that fail have no picture; they and cut texts are reported.

    Views that change the window or the project have a window of their own. Each view is made in the first theme and
    size; the window is then restyled and resized for the other ones.
    """
    stage: Stage | None = None
    for name in views:
        if stage is None:
            QSettings().clear()
            stage = Stage(sample, themes[0], language, logical_size(sizes[0]))
        try:
            (VIEWS | FOCUS_VIEWS)[name](stage)
        except Exception as error:
            print(f"{language}/{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
        else:
            for theme in themes:
                for size in sizes:
                    stage.show_as(theme, logical_size(size))
                    grab(stage, out / f"{theme}-{language}-{size}", name, language)
        stage.show_as(themes[0], logical_size(sizes[0]))
        stage.close_dialogs()
        if name not in HARMLESS:
            stage.close()
            stage = None
    if stage is not None:
        stage.close()


def grab(stage: Stage, folder: Path, name: str, language: str) -> None:
    """Save a picture of the window, and report the faults that it shows."""
    folder.mkdir(parents=True, exist_ok=True)
    stage.grab().save(str(folder / f"{name}.png"))
    for text in faults(stage.app, language):
        print(f"{folder.name}/{name}: {text}", file=sys.stderr, flush=True)


def logical_size(size: str) -> tuple[int, int]:
    """Return width and height of a size such as 2560x1440@2 in logical pixels."""
    pixels, _, scale = size.partition("@")
    width, height = map(int, pixels.split("x"))
    return round(width / float(scale or 1)), round(height / float(scale or 1))


def by_scale(sizes: list[str]) -> list[list[str]]:
    """Return groups of sizes on screens of the same scale, the smallest first: dialogs fit themselves to it."""
    scales = dict.fromkeys(size.partition("@")[2] for size in sizes)
    return [sorted((size for size in sizes if size.partition("@")[2] == scale), key=logical_size) for scale in scales]


def screen(size: str, folder: Path) -> dict[str, str]:
    """Return environment variables for a screen of a size."""
    pixels, _, scale = size.partition("@")
    variables = {"QT_SCALE_FACTOR": scale or "1"}
    if os.environ["QT_QPA_PLATFORM"].startswith("offscreen"):
        width, height = map(int, pixels.split("x"))
        geometry = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height}
        file = folder / f"{size}.json"
        file.write_text(json.dumps({"screens": [geometry]}), "utf-8")
        variables["QT_QPA_PLATFORM"] = f"offscreen:configfile={file}"
    return variables


def prepare(sample: Path) -> None:
    """Train a second UNet for half a minute, so that two runs can be compared, unless there is one."""
    runs = [Run(path) for path in (sample / "runs").iterdir() if path.is_dir()]
    if sum(run.dataset().model == "unet" for run in runs) < 2:
        command = [sys.executable, "-m", "workbench", "train", str(sample), "--model", "unet", "--minutes", "0.5"]
        command += ["--set", "patch=128", "--set", "quality=fast", "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)})


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


def guide_pictures(folder: Path, target: Path) -> int:
    """Write the views of the guide that are in `folder` as WebP files. Return their size in bytes."""
    nbytes = 0
    for path in (folder / f"{name}.png" for name in GUIDE_VIEWS):
        if path.exists():
            file = target / f"{path.stem}.webp"
            with Image.open(path) as image:
                image.convert("RGB").save(file, quality=72, method=6)
            nbytes += file.stat().st_size
    return nbytes


def notebook_picture(guide: Path) -> bytes:
    """Run the cells of the Python page with short trainings, and return the picture that they draw as a WebP file."""
    text = (guide / "en" / "python.md").read_text("utf-8")
    cells = [cell for cell in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if cell.startswith("# %%")]
    script = "".join(cells).replace("minutes=5", "minutes=0.5, patch=64, quality='fast'")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, check=True)
        content = io.BytesIO()
        with Image.open(Path(folder) / "prediction.png") as image:
            image.save(content, "WEBP", quality=80, method=6)
    return content.getvalue()


def write_animation(frames: list[tuple[QImage, int]], target: Path, width: int = 820) -> int:
    """Write pictures with their durations in milliseconds as one animation. Return its size in bytes."""
    images = []
    for frame, _ in frames:
        small = frame.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        rgb = small.convertToFormat(QImage.Format.Format_RGB888)
        images.append(Image.frombytes("RGB", (rgb.width(), rgb.height()), rgb.bits(), "raw", "RGB", rgb.bytesPerLine()))
    times = [milliseconds for _, milliseconds in frames]
    images[0].save(target, save_all=True, append_images=images[1:], duration=times, loop=0, quality=60, method=6)
    return target.stat().st_size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sample", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--themes", default="dark,light")
    parser.add_argument("--languages", default="en,zh_CN")
    parser.add_argument("--sizes", default="1280x720,1366x768,1440x900,2560x1440@2")
    parser.add_argument("--views", default=",".join(VIEWS))
    parser.add_argument("--focus", action="store_true", help="take the keyboard focus in dialogs")
    parser.add_argument("--sheet", action="store_true", help="write a contact sheet of each combination")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--guide", action="store_true", help="renew the pictures of the guide")
    parser.add_argument("--animation", action="store_true", help="renew resources/stroke.webp instead")
    options = parser.parse_args()
    if options.views == "guide":
        options.views = ",".join(GUIDE_VIEWS)
    if options.focus:
        options.views = ",".join(FOCUS_VIEWS)
    if options.one:
        QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
        QApplication.setOrganizationName("defect-workbench-screenshots")
        app = QApplication(sys.argv[:1])  # noqa: F841 - lives as long as the windows
        themes, sizes, views = (value.split(",") for value in (options.themes, options.sizes, options.views))
        if options.animation:
            frames = stroke(Stage(options.sample, themes[0], options.languages, logical_size(sizes[0])))
            nbytes = write_animation(frames, ANIMATION)
            print(f"{ANIMATION.name}: {len(frames)} frames, {nbytes / 1e6:.2f} MB")
            return int(nbytes > ANIMATION_BYTES)
        take(options.sample, options.out, themes, options.languages, sizes, views)
        return 0
    themes, languages, sizes = (value.split(",") for value in (options.themes, options.languages, options.sizes))
    with tempfile.TemporaryDirectory(prefix="inspection-") as folder:
        sample = Path(folder) / "sample-project"
        shutil.copytree(options.sample, sample)
        Project.open(sample, identity="copy").close()
        if not options.animation:
            prepare(sample)
        for language in languages:
            for same in by_scale(sizes):  # the scale of the screen is fixed for a process
                environment = {**os.environ, **screen(same[0], Path(folder)), "HOME": folder}
                command = [sys.executable, __file__, str(sample), str(options.out), "--one", "--views", options.views]
                command += ["--animation"] * options.animation
                command += ["--themes", options.themes, "--languages", language, "--sizes", ",".join(same)]
                subprocess.run(command, env=environment, check=False)
        if options.sheet:
            for theme, language, size in itertools.product(themes, languages, sizes):
                sheet(options.out / f"{theme}-{language}-{size}")
    if options.guide:
        if "en" in languages:
            notebook = notebook_picture(ROOT / "resources" / "guide")
            for page in (ROOT / "resources" / "guide").glob("*/python.md"):
                page.with_name("prediction.webp").write_bytes(notebook)
        sizes_of = [
            guide_pictures(options.out / f"{themes[0]}-{language}-{sizes[0]}", ROOT / "resources" / "guide" / language)
            for language in languages
        ]
        print(f"pictures of the guide: {sum(sizes_of) / 1e6:.2f} MB")
        if sum(sizes_of) > GUIDE_BYTES:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
