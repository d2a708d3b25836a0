"""Tiny runs in real child processes, started as by the window and the command line."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import shutil
import subprocess
import tempfile
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from tests.conftest import fill_project, scratched
from tests.fork_server import SHORT_END
from tests.shared_folder import shared_folder
from workbench.core.project import annotation, sources
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs.child_process import ChildOutput, run_captured
from workbench.core.runs.events import Event, Finished, Trouble, decode
from workbench.core.runs.export_options import LAYOUTS
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.inference.batch import benchmark
from workbench.inference.engines.registry import unavailable_reason
from workbench.inference.io.image_io import write_png
from workbench.training.reporter import ControlChannel

collect_ignore = [] if paddle_installed() else [str(path) for path in Path(__file__).parent.rglob("test_*.py")]

SMALL_UNET: dict[str, Any] = {"widths": [8, 16, 32], "stem": 2, "patch": 64, "batch": 4, "validations": 2, "threads": 2}
SMALL_RESNET: dict[str, Any] = {"width": 0.25, "input_size": 64, "batch": 4, "validations": 2, "threads": 2}


def make_run(project: Project, model: str = "unet", **choices: Any) -> Run:
    defaults = SMALL_UNET if model == "unet" else SMALL_RESNET
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.core.runs.run.check_gpu_build", lambda device: None)  # tests simulate GPUs
        return create_run(project, request(model, **{"epochs": 2, **defaults, **choices}))


class Child:
    """Training process. stdin stays open until `close` or the end of the test."""

    def __init__(self, verb: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            worker_command(verb, *map(str, arguments)),
            env=worker_environment("cpu"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.lines: list[str] = []
        self.stderr = ""

    def next(self, kind: type[Event]) -> Any:
        """Read up to the next event of this type. Fail if the child ends before it."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            event = decode(line)
            if isinstance(event, kind):
                return event
        _, self.stderr = self.process.communicate()
        raise AssertionError(f"no {kind.__name__} came:\n{''.join(self.lines[-3:])}\n{self.stderr[-2000:]}")

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, timeout: float = 120) -> int:
        """Read to the end, with the pipe open all the time."""
        assert self.process.stdout is not None and self.process.stderr is not None
        self.lines += list(self.process.stdout)
        self.stderr = self.process.stderr.read()
        code = self.process.wait(timeout)
        self.close()
        return code

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                stream.close()

    @property
    def events(self) -> list[Event]:
        return [event for line in self.lines if (event := decode(line)) is not None]

    @property
    def last(self) -> Any:
        return self.events[-1]


@pytest.fixture
def child():
    """Return a function that starts child processes, which are killed at the end of the test."""
    started: list[Child] = []

    def start(verb: str, *arguments: object) -> Child:
        started.append(Child(verb, *arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
        one.close()


class Outcome:
    """Outcome of a verb of the training program that has ended. lines: its output."""

    stderr = "see the captured output of the test"

    def __init__(self, code: int, lines: list[str]) -> None:
        self.code, self.lines = code, lines

    def end(self) -> int:
        """Return the exit status, as `Child.end`."""
        return self.code

    events, last = Child.events, Child.last


@pytest.fixture
def lighting_table():
    """Request this fixture for the final evaluation under changed lighting, half of the time of a tiny run."""


@pytest.fixture
def short_end(request, monkeypatch):
    """Leave out the final evaluation under changed lighting in this process, except for `lighting_table`."""
    if "lighting_table" not in request.fixturenames:
        monkeypatch.setattr("workbench.training.finalize.lighting_table", lambda measure, images, *, seconds: None)


def run_inside(verb: str, *arguments: object) -> Outcome:
    """Run a verb of the training program to its end in this process.

    For its results and problems: a child process imports Paddle for two seconds. What concerns the process itself, such
    as commands, signals, standard streams and kills, is tested with `child`.
    """
    from workbench.training.__main__ import main

    program = "workbench.training.__main__"
    with tempfile.TemporaryFile() as output, pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{program}._prepare_environment", lambda options: None)
        patch.setattr(ControlChannel, "listen", lambda self: None)
        patch.setattr(ControlChannel, "install_signal_handlers", lambda self: None)
        patch.setattr(f"{program}.claim_stdout", output.fileno)
        code = main([verb, *map(str, arguments)])
        output.seek(0)
        return Outcome(code, output.read().decode("utf-8").splitlines(keepends=True))


@pytest.fixture
def inside(short_end):
    """Return `run_inside`, for a training without the final evaluation under changed lighting."""
    return run_inside


def shared_run(tmp_path_factory, name: str, make: Callable[[Path], Run]) -> Run:
    """Train the run that `make` creates below a folder, once for all processes. Return a copy for this process."""

    def train(folder: Path) -> None:
        run = make(folder)
        _train(run)
        (folder / "run.txt").write_text(run.root.relative_to(folder).as_posix(), "utf-8")

    shared = shared_folder(tmp_path_factory, name, train)
    copy = shutil.copytree(shared, tmp_path_factory.mktemp(name) / "copy")
    run = Run(copy / (copy / "run.txt").read_text("utf-8"))
    sources.note_created(read_project_file(run.project_root).id)
    return run


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Run:
    """Finished UNet run, not to be changed: 12 images with defects, 4 without, a folder name of every kind."""

    def make(folder: Path) -> Run:
        with Project.create(folder / "Projekt [ä] 项目", classes=["scratch"]) as project:
            fill_project(project, 12, good=4, verdicts=True)
            return make_run(project, epochs=8, average=0.9, rate=1e-2)

    return shared_run(tmp_path_factory, "trained", make)


@pytest.fixture(scope="session")
def trained_resnet(tmp_path_factory) -> Run:
    """Finished ResNet run, not to be changed: 10 images with verdict NG, 10 with OK."""

    def make(folder: Path) -> Run:
        with Project.create(folder / "project", classes=["scratch"], verdicts=["OK", "NG"]) as project:
            fill_project(project, 10, good=10, verdicts=True)
            # Flips alone are learned in half the steps that all changes of an image take.
            flips = ["flip_horizontal", "flip_vertical"]
            return make_run(project, "resnet", epochs=8, average=0.9, rate=1e-2, standardize=False, augment=flips)

    return shared_run(tmp_path_factory, "trained-resnet", make)


def _train(run: Run) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SHORT_END, raising=False)
        one = Child("train", run.root)
    try:
        assert one.end() == 0, one.stderr[-3000:]
    finally:
        one.process.kill()
    (run.root / "stdout.txt").write_text("".join(one.lines), "utf-8")


EXPORTED = ["onnx", "paddle", "legacy", "int8"]  # formats without further dependencies
EXPORTED += [name for name in ("openvino", "bf16") if not unavailable_reason(name)]
MEASURED_SIDES = (112, 144)  # pixels, of the images with which the speed is measured


def run_benchmark(command: Sequence[str], **options: Any) -> ChildOutput:
    """Measure ONNX Runtime in a new process, as the application does, and other engines in this process.

    A new process would load their libraries for two seconds each. Replaces `run_captured`.
    """
    start = command.index("--engine")
    if command[start + 1] == "onnx":
        return run_captured(command, **options)
    with contextlib.redirect_stdout(io.StringIO()) as output, pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmark, "keep_freed_memory", lambda: None)  # it would hold for all tests
        status = benchmark.main(command[start:], command[start - 1])
    return ChildOutput(status, output.getvalue(), "")


@pytest.fixture(scope="session")
def exported(trained, tmp_path_factory):
    """Export of `trained` in all available formats, not to be changed: (folder, its events).

    The project contains images of every kind: large, 16 bits, turned by EXIF, damaged.
    """

    def make(folder: Path) -> None:
        project_root = shutil.copytree(trained.project_root, folder / "project")
        images = project_root / "pictures"
        generator = np.random.default_rng(3)
        image, _ = scratched(generator, 400, 300, defects=9)
        write_png(images / "large.png", image)
        write_png(images / "deep.png", scratched(generator)[0].astype(np.uint16) * 257)
        turned = Image.fromarray(scratched(generator)[0])
        turned.getexif()[0x0112] = 6
        turned.save(images / "turned.jpg", exif=turned.getexif())
        (images / "broken.png").write_bytes(b"nothing")
        run = project_root / "runs" / trained.name
        choices = ("--formats", ",".join(EXPORTED), "--seconds", 0.1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("workbench.training.export.latency._SIDES", MEASURED_SIDES)
            patch.setattr("workbench.training.export.latency.run_captured", run_benchmark)
            one = run_inside("export", run, "--out", folder / "出口 [1]", *choices)
        assert one.end() == 0, one.lines[-1:]
        (folder / "events.jsonl").write_text("".join(one.lines), "utf-8")

    folder = shared_folder(tmp_path_factory, "exported", make)
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    return folder / "出口 [1]", [event for line in lines if (event := decode(line)) is not None]


LINE_SHAPE = (96, 128)  # rows, columns


class LineExport(NamedTuple):
    """Export with a line model of `LINE_SHAPE` and all layouts, not to be changed, and the result of its event."""

    out: Path
    result: dict[str, Any]


def _line_export(tmp_path_factory, run: Run, name: str, folder_name: str) -> LineExport:
    def make(folder: Path) -> None:
        formats = ",".join(["onnx-line", *LAYOUTS])
        choices = ("--formats", formats, "--seconds", 0, "--shape", "{}x{}".format(*LINE_SHAPE))
        one = run_inside("export", run.root, "--out", folder / folder_name, *choices)
        assert isinstance(one.last, Finished), one.lines[-1:]
        troubles = [event.what for event in one.events if isinstance(event, Trouble)]
        assert all("with the training images" in what for what in troubles), troubles
        (folder / "result.json").write_text(json.dumps(one.last.result), "utf-8")

    folder = shared_folder(tmp_path_factory, name, make)
    return LineExport(folder / folder_name, json.loads((folder / "result.json").read_text("utf-8")))


@pytest.fixture(scope="session")
def unet_export(trained, tmp_path_factory) -> LineExport:
    return _line_export(tmp_path_factory, trained, "unet-export", "出口 [1]")


@pytest.fixture(scope="session")
def resnet_export(trained_resnet, tmp_path_factory) -> LineExport:
    return _line_export(tmp_path_factory, trained_resnet, "resnet-export", "verdicts")


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load

    return load(path.read_bytes())


def state_of(run: Run) -> dict[str, Any]:
    return json.loads((run.last / "state.json").read_text("utf-8"))


def small_learner(
    widths: Sequence[int] = (4, 8),
    *,
    kind: str = "adamw",
    precision: Any = None,
    loss: Any = None,
    average: float = 0.9,
):
    """Return a learner of a small UNet for gray images with one class. kind: of the optimizer."""
    import paddle

    from workbench.training.learner import Learner
    from workbench.training.losses import segmentation_loss
    from workbench.training.networks import UNet
    from workbench.training.optimizers import Precision, PrecisionChoice, make_optimizer

    paddle.seed(0)
    net, mean = (UNet(1, 2, widths, contrast=False) for _ in range(2))
    return Learner(
        net,
        mean,
        loss or functools.partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0),
        precision or Precision(PrecisionChoice("fp32", "")),
        make_optimizer(net, kind, weight_decay=0.01),
        grad_clip=1.0,
        average=average,
    )


def small_batch(count: int = 4, side: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Return images of noise, float32 (count, 1, side, side), and their bright pixels, uint8 (count, side, side)."""
    images = np.random.default_rng(0).normal(size=(count, 1, side, side)).astype(np.float32)
    return images, (images[:, 0] > 0.5).astype(np.uint8)


@pytest.fixture
def simulated_gpu(monkeypatch):
    """Make Paddle report a GPU, also to its loss scaler; everything is computed on the CPU."""
    import paddle
    from paddle.amp.auto_cast import amp_global_state

    cuda = paddle.device.cuda
    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: True)
    monkeypatch.setattr(cuda, "device_count", lambda: 1)
    monkeypatch.setattr(cuda, "get_device_capability", lambda number: (8, 0))
    monkeypatch.setattr(cuda, "get_device_name", lambda number: "A card")
    monkeypatch.setattr(paddle, "set_device", lambda name: None)
    emptied = []
    monkeypatch.setattr(cuda, "empty_cache", lambda: emptied.append(1))
    place = types.SimpleNamespace(is_gpu_place=lambda: True)
    module = __import__("paddle.amp.grad_scaler", fromlist=["x"])
    monkeypatch.setattr(module, "_dygraph_tracer", lambda: types.SimpleNamespace(_expected_place=place))
    monkeypatch.setattr(amp_global_state(), "amp_dtype", "float32")  # as in a process without any cast
    return emptied


@pytest.fixture
def gpu_training(simulated_gpu, project, monkeypatch, short_end):
    """Train in this process as on a GPU: 16-bit gradients, a loss scale that is too large at first, little memory."""
    from workbench.training import losses, optimizers, training_loop
    from workbench.training.losses import segmentation_loss
    from workbench.training.optimizers import LossScaler
    from workbench.training.reporter import Clock, ControlChannel, Reporter

    keys = fill_project(project, 7, good=3)
    for key in (keys[0], keys[-1]):  # of so few images, none is chosen for validation
        annotation.save_note(project, key, annotation.Note(status="done", pin="val"))
    run = make_run(
        project,
        device="gpu",
        precision="fp16",
        epochs=1,
        widths=[4, 8],
        stem=1,
        patch=32,
        batch=4,
        validations=1,
        average=0.5,
    )
    monkeypatch.setattr(training_loop, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(
        optimizers, "LossScaler", lambda **options: LossScaler(**{**options, "init_loss_scaling": gpu_run.scale})
    )

    def loss(answer, truth, **weights):
        if len(answer) > gpu_run.fits or answer.shape[-1] > gpu_run.side:
            raise MemoryError("ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 1GB memory.")
        return segmentation_loss(answer.astype("float16").astype("float32"), truth, **weights)

    monkeypatch.setattr(losses, "segmentation_loss", loss)

    def train(*, resume: bool = False) -> list:
        before = len(list(run.events()))
        clock = Clock()
        report = Reporter(None, clock, run.events_path)
        report(training_loop.train(run, report, ControlChannel(None), clock, resume=resume))
        return list(run.events())[before:]

    gpu_run = types.SimpleNamespace(run=run, train=train, scale=2.0**36, fits=2, side=1000, emptied=simulated_gpu)
    return gpu_run


def paint_second_class(project: Project) -> None:
    """Add the class "dent" and paint it on an image: a class that is painted nowhere is not trained."""
    project.add_class("dent")
    key = project.images()[0]
    mask = annotation.load_mask(project, key)
    mask[:6, :6] = project.classes[1].id
    annotation.save_mask(project, key, mask)
