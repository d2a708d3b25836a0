"""Views of the line: output of commands, page of the server, model card, and the dialogs on them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter
from screenshot_stage import Stage
from screenshot_views import View

from workbench.inference.io.image_io import read_image, write_png
from workbench.ui.evaluation.drift_dialog import DriftDialog
from workbench.ui.images.inbox_dialog import InboxDialog
from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
from workbench.ui.training.model_dialogs import AdoptionDialog

ROOT = Path(__file__).resolve().parents[1]
_COLUMNS = 112  # characters of a line of output
_COLORS = {"page": "#1f2225", "command": "#5aa9ff", "output": "#e7e9eb"}
_MARGIN, _POINTS = 16, 14  # px
_MOST_BYTES = 80_000  # of an image in an argument of a process
# Drops an image on the start page of the server.
_DROP = """
if (!window.dropped) {{
  var bytes = Uint8Array.from(atob("{content}"), letter => letter.charCodeAt(0));
  window.dropped = new File([bytes], "{name}", {{type: "image/png"}});
  look(dropped);
}}
find("picture").complete && find("body").querySelector("tr") !== null"""


# --- output of commands ---------------------------------------------------------------------------


def _folder(stage: Stage) -> Path:
    """Return a folder, made once, with the sample under the name of the guide, and `incoming` with some images."""
    folder = stage.sample.with_name("line")
    if not folder.exists():
        shutil.copytree(stage.sample, folder / "my-project", ignore=shutil.ignore_patterns("exports", "project.lock"))
        (folder / "incoming").mkdir()
        images = stage.sample / "pictures"
        found = (*sorted(images.glob("lot-12/panel-*.png"))[:4], *sorted(images.glob("lot-*/new-*.png"))[-4:])
        for number, path in enumerate(found, 1):
            shutil.copyfile(path, folder / "incoming" / f"part-{number:02}{path.suffix}")
    return folder


def _export(stage: Stage) -> str:
    """Return the first export of the sample in the folder of the commands, made if there is none."""
    folder = _folder(stage)
    if not (folder / "my-project" / "exports").exists():
        formats = ("--formats", "onnx,triton,mlflow,paddlex,onnx-line", "--shape", "512x512", "--seconds", "1")
        _command(folder, "workbench", "export", "my-project", "--model", "unet", *formats)
    return str(min(folder.glob("my-project/exports/*-unet*")).relative_to(folder))


def _command(folder: Path, *words: str, seconds: float = 0) -> str:
    """Run a command in a folder and return what it prints; with `seconds`, Ctrl+C is pressed after that time."""
    if words[0] == "workbench":
        words = (sys.executable, "-m", *words)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if seconds:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
    return process.communicate(timeout=300)[0]


def terminal(*parts: tuple[str, str]) -> QImage:
    """Return a picture of commands and their output, as a terminal shows them."""
    lines = []
    for command, output in parts:
        lines.append(("command", f"$ {command}"))
        shown = (line.rpartition("\r")[2].expandtabs() for line in output.rstrip().splitlines())
        lines += [("output", line[: _COLUMNS - 1] + "…" if len(line) > _COLUMNS else line) for line in shown]
    font = QFont("DejaVu Sans Mono")
    font.setPixelSize(_POINTS)
    font.setStyleHint(QFont.StyleHint.Monospace)
    metrics = QFontMetrics(font)
    width = max(metrics.horizontalAdvance(text) for _, text in lines) + 2 * _MARGIN
    height = round(metrics.height() * 1.25)
    image = QImage(width, height * len(lines) + 2 * _MARGIN, QImage.Format.Format_RGB32)
    image.fill(QColor(_COLORS["page"]))
    painter = QPainter(image)
    painter.setFont(font)
    for number, (kind, text) in enumerate(lines):
        painter.setPen(QColor(_COLORS[kind]))
        painter.drawText(_MARGIN, _MARGIN + height * number + metrics.ascent(), text)
    painter.end()
    return image


def _shell(folder: Path, command: str) -> tuple[str, str]:
    """Return a command line and what it prints in a folder."""
    return command, _command(folder, "bash", "-c", command)


def result_outputs(stage: Stage) -> None:
    """A watched folder with marker files and a table."""
    folder, export = _folder(stage), _export(stage)
    options = ("--watch", "--marker", "results/markers", "--log-csv", "results/log.csv")
    printed = _command(folder, "workbench", "predict", export, "incoming", *options, "--inbox", "inbox", seconds=20)
    stage.picture = terminal(
        (f"workbench predict {export} incoming {' '.join(options)}", printed),
        _shell(folder, "ls -x -w 110 results/markers"),
        _shell(folder, "head -6 results/log.csv | cut -d, -f 1,3,4,6,7,9"),
    )


def line_files(stage: Stage) -> None:
    """The self-contained model: its files, its input and its outputs."""
    export = _folder(stage) / _export(stage)
    code = "for v in (*model.get_inputs(), *model.get_outputs()): print(v.name, v.type, v.shape)"
    (export / "show.py").write_text(
        f"import onnxruntime\n\nmodel = onnxruntime.InferenceSession('line/model.onnx')\n{code}\n", "utf-8"
    )
    shown = _shell(export, "cat show.py"), _command(export, sys.executable, "show.py")
    (export / "show.py").unlink()
    files = _shell(export, "ls line/* examples/c*/*")
    stage.picture = terminal(("cd my-project/exports/NAME", ""), files, shown[0], ("python show.py", shown[1]))


def layout_files(stage: Stage) -> None:
    """Files of the layouts for other programs, with the description for Triton."""
    export = _folder(stage) / _export(stage)
    (config,) = (export / "triton").glob("*[!e]/config.pbtxt")
    files = _shell(export, "find triton paddlex MLmodel mlflow_loader.py python_env.yaml -type f")
    text = _shell(export, f"head -14 {config.relative_to(export).as_posix()}")
    stage.picture = terminal(("cd my-project/exports/NAME", ""), files, text)


def release(stage: Stage) -> None:
    """Two exports, the second of which follows the first, checked."""
    folder, _ = _folder(stage), _export(stage)
    if len(list(folder.glob("my-project/exports/*-unet*"))) < 2:
        _command(folder, "workbench", "export", "my-project", "--model", "unet", "--formats", "onnx", "--seconds", "1")
    newest = str(max(folder.glob("my-project/exports/*-unet*")).relative_to(folder))
    printed = _command(folder, "workbench", "release", "verify", newest)
    stage.picture = terminal((f"workbench release verify {newest}", printed.replace(f"{folder}/", "")))


# --- pages ----------------------------------------------------------------------------------------


def _page(stage: Stage, address: str, size: str, script: str = "true") -> None:
    file = stage.sample.with_name("page.png")
    command = [sys.executable, str(ROOT / "packaging" / "page_picture.py"), address, str(file), size]
    subprocess.run([*command, stage.services.preferences.language, script], check=True, stderr=subprocess.DEVNULL)
    stage.picture = QImage(str(file))


def server_page(stage: Stage) -> None:
    """Start page of `workbench serve` after an image was dropped on it."""
    import base64

    folder, export = _folder(stage), _export(stage)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen([sys.executable, "-m", "workbench", "serve", export], cwd=folder, env=environment)
    try:
        time.sleep(12)
        usable = (path for path in (folder / "incoming").iterdir() if path.stat().st_size < _MOST_BYTES)
        image = max(usable, key=lambda path: path.stat().st_size)
        content = base64.b64encode(image.read_bytes()).decode("ascii")
        _page(stage, "http://127.0.0.1:8123/", "1100x640", _DROP.format(content=content, name=image.name))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)


def model_card(stage: Stage) -> None:
    """Card of an export in the language of the window."""
    folder, language = _folder(stage), stage.services.preferences.language
    out = folder / f"card-{language}"
    options = ("--model", "unet", "--formats", "onnx", "--seconds", "1", "--language", language, "--out", out.name)
    if not out.exists():
        _command(folder, "workbench", "export", "my-project", *options)
    _page(stage, str(out / "card.html"), "960x760")


def _log(stage: Stage) -> Path:
    """Write a made-up log of 30 hours, in the last three of which more images are NG, and return its folder."""
    folder, rng = stage.sample.with_name("line-log"), np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    lines = []
    for hour, number in ((hour, number) for hour in range(30) for number in range(40)):
        bad = rng.random() < (0.3 if hour > 26 else 0.06)
        line = {
            "format": 1,
            "id": f"{hour}-{number}",
            "time": f"2026-11-{26 + hour // 24}T{hour % 24:02}:{number:02}:00Z",
        }
        line |= {"run": "20261125-090000-unet", "name": f"part-{hour:02}{number:02}", "input": {"ok": True}}
        regions = [{"class_name": str(rng.choice(["scratch", "pit", "stain"]))}] if bad else []
        lines.append(line | {"result": "NG" if bad else "OK", "verdict": None, "regions": regions})
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder


def results_over_time(stage: Stage) -> None:
    """Report on the log."""
    language, log = stage.services.preferences.language, _log(stage) / "log.jsonl"
    folder = log.parent
    options = ("--zone", "UTC", "--reference", "24", "--report", f"shifts-{language}.html", "--language", language)
    _command(folder, "workbench", "drift", log.name, *options)
    _page(stage, str(folder / f"shifts-{language}.html"), "960x900")


# --- dialogs --------------------------------------------------------------------------------------


def unlike_images(stage: Stage) -> None:
    """Results of a folder with a black, a bright and a blurred image."""
    folder = stage.sample.with_name("unlike")
    if not folder.exists():
        folder.mkdir()
        image = read_image(next((stage.sample / "pictures" / "lot-01").glob("*.png")))
        coarse = image[::16, ::16].repeat(16, 0).repeat(16, 1)[: image.shape[0], : image.shape[1]]
        black, bright = np.zeros_like(image), np.clip(image.astype(np.uint16) * 3, 0, 255).astype(image.dtype)
        for name, pixels in (("black", black), ("bright", bright), ("coarse", coarse), ("usual", image)):
            write_png(folder / f"{name}.png", pixels)
    stage.follow("unet")
    stage.run("predict_folder")
    dialog = stage.window.findChild(PredictFolderDialog)
    assert dialog is not None
    dialog.images.line.setText(str(folder))
    dialog.out.line.setText(str(stage.sample.with_name("unlike-results")))
    dialog.start()
    stage.wait(lambda: not dialog.job.running and dialog.results.rowCount() > 3)
    dialog.resize(1240, 460)
    dialog.table.selectRow(0)
    stage.pause(1.5)
    stage.parts = (dialog,)


def line_results(stage: Stage) -> None:
    """Results of a line over time."""
    stage.services.preferences.line_results = str(_log(stage))
    stage.run("line_results")
    dialog = stage.window.findChild(DriftDialog)
    assert dialog is not None
    dialog.units.setCurrentIndex(1)
    stage.wait(dialog.table.rowCount)
    dialog.table.selectRow(28)
    stage.pause(0.5)


def inbox(stage: Stage) -> None:
    """Images that a watched folder has kept."""
    result_outputs(stage)
    stage.picture = None
    stage.services.preferences.inbox = str(_folder(stage) / "inbox")
    stage.follow("unet")
    stage.run("inbox")
    dialog = stage.window.findChild(InboxDialog)
    assert dialog is not None
    stage.wait(dialog.table.rowCount)
    dialog.table.selectRow(0)
    stage.pause(1)
    stage.parts = (dialog,)


def adoption(stage: Stage) -> None:
    """Dialog for a network of another program."""
    stage.follow("unet")
    stage.run("adopt_model")
    dialog = stage.window.findChild(AdoptionDialog)
    assert dialog is not None
    dialog.file.line.setText("/networks/surface.onnx")
    dialog.output.setCurrentIndex(1)
    dialog.mean.setText("0.485, 0.456, 0.406")
    dialog.std.setText("0.229, 0.224, 0.225")
    stage.pause(0.5)
    stage.parts = (dialog,)


RESULT_VIEWS: dict[str, View] = {
    view.__name__: view
    for view in (
        result_outputs,
        line_files,
        layout_files,
        release,
        server_page,
        model_card,
        results_over_time,
        unlike_images,
        inbox,
        line_results,
        adoption,
    )
}
