"""Export of a run to a self-contained folder, offered only if it reproduces the results of the run. A weak model, which
marks more regions than anyone can inspect, is reported first.
"""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.adoption.adopted_run import refresh_dataset
from workbench.core.documents.run_blocks import not_compared
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.operating_point import origin, summary
from workbench.core.messages import Message, join, stored_text, with_messages
from workbench.core.problems import CannotWrite, ExportExists, ModelNotReady, ParityFailed, Problem, WorkerFailed
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import check_links, holding_part, write_json
from workbench.core.resources import SOURCE_LANGUAGE
from workbench.core.runs.events import Finished, Progress, Trouble
from workbench.core.runs.export_options import LAYOUTS, LINE_FORMAT, ExportOptions, engines_of
from workbench.core.runs.release import RELEASE_FILE, image_sums, release_record
from workbench.core.runs.run import Run
from workbench.inference.batch.export_package import self_test, write_checks, write_package
from workbench.inference.engines import Engine, EngineError, load_engine
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.file_access import discard_tree, make_folder, replace_path
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, SettingsError, load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.training import device
from workbench.training.export import export_images, latency, parity
from workbench.training.export.export_formats import (
    AdoptedNetwork,
    FormatWriter,
    TrainedNetwork,
    check_source,
    present_settings,
    remove,
)
from workbench.training.export.export_images import MOST_PIXELS, ParitySample, calibration_batches
from workbench.training.export.export_metadata import add_metadata, environment
from workbench.training.export.layouts import LayoutSource, write_layout
from workbench.training.export.line_export import (
    LINE_FOLDER,
    LINE_MODEL,
    usual_line_shape,
    write_examples,
    write_line_model,
)
from workbench.training.export.line_graph import LineModelRefused, pixel_type
from workbench.training.export.parity import Output, Parity, check_cost, compare, measure_regions, network_output
from workbench.training.model_card import CARD_SECONDS, write_card
from workbench.training.reporter import Reporter

_INTERVAL = 0.5  # seconds between two reports of one stage
_MOST_REGIONS = 1000  # predicted on one image
_TIMES_LABELED = 10  # more than so many times the labeled ones; a texture may have thousands of pores
_IMAGES = 2


def export(run: Run, out: Path, options: ExportOptions, report: Reporter, *, cancelled: Callable[[], bool]) -> Finished:
    """Export the best weights of a run to `out`. Raises a Problem; then, and if canceled, no files are left."""
    out = out.absolute()
    options.check()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportExists(path=str(out))
    check_source(run, options)
    if out.is_relative_to(run.project_root):
        check_links(run.project_root, out)
    part = out.parent / f".{out.name[:80]}.{secrets.token_hex(4)}.part"
    try:
        with holding_part(part):
            make_folder(part)
            result = _Builder(run, part, options, report, cancelled).build()
            if out.exists():
                out.rmdir()
            replace_path(part, out)
        return Finished(result={"path": str(out), **result})
    except ExportCancelled:
        return Finished(why="stopped")
    except ParityFailed as problem:
        path = out.parent / f"{out.name}.parity.json"
        write_json(path, problem.fields["report"])
        raise ParityFailed(why=problem.fields["why"], report=str(path)) from problem
    except OSError as error:
        where = error.filename or str(out)
        raise CannotWrite.of(where, error) from error


class _Builder:
    """Builder of one export, in a temporary folder."""

    def __init__(
        self, run: Run, folder: Path, options: ExportOptions, report: Reporter, cancelled: Callable[[], bool]
    ) -> None:
        self.run, self.folder, self.options, self.report, self.cancelled = run, folder, options, report, cancelled
        self.formats = engines_of(options.formats)
        self.layouts: list[str] = []  # those that were written
        self.line: dict[str, Any] | None = None
        self.project = Project.open(run.project_root, write=False, trusted=True)
        self.dataset = refresh_dataset(self.project, run)
        self.point = origin(run, self.dataset, options.point)
        self.parity: dict[str, Parity] = {}
        self.weakness: Message | None = None
        self.known: dict[str, Output] = {}  # results of the trained network on some images

    def build(self) -> dict[str, Any]:
        chosen = export_images.choose(self.project, self.dataset)
        plan = planned_stages(self.options, self.formats, chosen, len(self.dataset.of("val", "test")))
        self.stages = ProgressStages(plan, self.report, self.cancelled)
        self.stages.begin(Message("progress.preparing"))
        images = export_images.readable(chosen)
        chosen = [sample for sample in chosen if sample.key in dict(images)]
        place = device.choose_beside_training()
        network = AdoptedNetwork(self.run) if self.run.complete else TrainedNetwork(self.run, self.dataset)
        reference = network.engine
        trained = present_settings(self.run, self.project, self.dataset, self.formats)
        self.report_not_compared(trained)
        self.check_readiness(trained, reference, chosen)
        batches = partial(calibration_batches, self.project, self.dataset, trained)
        maker = FormatWriter(self.run, network, self.folder, tick=self.stages.check, calibration=batches)
        for name, why in maker.make(self.formats, self.stages.begin).items():
            self.parity[name] = Parity(why=why, reduced=KINDS[name].reduced)
        settings = self.move_thresholds(trained, reference)
        for file in self.folder.glob("*.onnx"):
            add_metadata(file, settings)
        self.compare(settings, reference, images)
        settings = self.keep_passed(settings)
        if LINE_FORMAT in self.options.formats:
            self.make_line(settings, network, chosen, images)
        save_settings(settings, self.folder / MODEL_FILE)
        references = export_images.reference_files(export_images.choose_references(chosen), self.folder)
        write_package(self.folder, ())
        settings, measured = self.measure(settings, reference, chosen, references)
        save_settings(settings, self.folder / MODEL_FILE)
        write_package(self.folder, settings.order or list(settings.files))
        write_examples(self.folder)
        self.write_layouts(settings, network.net, images)
        self.stages.begin(Message("progress.checking"))
        self.write_references(settings, references)
        self.write_reports(place.name, measured)
        formats = [*(settings.order or settings.files), *([LINE_FORMAT] if self.line else []), *self.layouts]
        return {
            "formats": formats,
            "parity": {name: found.summary() for name, found in self.parity.items()},
            "latency": {name: latency.p50(found) for name, found in measured.get("engines", {}).items()},
            "point": summary(settings, self.point),
            "line": self.line,
            "ready": self.weakness is None,
            **with_messages(
                {
                    "note": stored_text(measured, "note"),
                    "not_ready": self.weakness or "",
                    "not_compared": join("list.sentences", not_compared(settings, formats)),
                }
            ),
        }

    def report_not_compared(self, settings: ModelSettings) -> None:
        """Report what compares no image with the training images, before anything is written."""
        for text in not_compared(settings, self.options.formats):
            self.report(Trouble(what=text, done=""))

    def check_readiness(
        self, settings: ModelSettings, reference: Engine, chosen: list[export_images.ParitySample]
    ) -> None:
        """Report a weakness of the model before anything takes time. Raises ModelNotReady if that is requested."""
        self.stages.begin(Message("progress.checking_model"))
        tick = partial(self.stages.share, 0.5)
        self.weakness, self.known = find_weakness(self.project, settings, reference, chosen, tick)
        if self.weakness is None:
            return
        if self.options.require_ready:
            raise ModelNotReady(why=self.weakness)
        self.report(Trouble(what=Message("export.not_ready", why=self.weakness), done=Message("export.goes_on")))

    def move_thresholds(self, settings: ModelSettings, reference: Engine) -> ModelSettings:
        point = self.options.point
        if point in ("more", "fewer"):
            self.stages.begin(Message("progress.choosing_thresholds"))
        items, _ = export_images.measure_effects(self.dataset)
        moved = export_images.move_thresholds(point, settings, reference, self.project, items, tick=self.stages.share)
        if moved.thresholds == settings.thresholds or moved.verdict_rule is None:
            return moved
        rule = operating_point.read(self.run).rule
        return export_images.refit_rule(rule, moved, reference, self.project, items)

    def compare(self, settings: ModelSettings, reference: Engine, images: list[Any]) -> None:
        self.stages.begin(Message("progress.comparing"))
        engines = {}
        for name in self.formats:
            if name not in self.parity:
                try:
                    engines[name] = load_engine(name, self.folder, settings)
                except EngineError as error:
                    self.parity[name] = Parity(why=Message.of(error), reduced=KINDS[name].reduced)

        def on_image(done: float) -> None:
            self.stages.share(done / len(images))

        self.parity.update(compare(settings, reference, engines, images, on_image, self.known))
        self.known = {}
        reduced = [name for name in engines if KINDS[name].reduced]
        if not reduced:
            return
        self.stages.begin(Message("progress.reduced_precision"))
        items, note = export_images.measure_effects(self.dataset)
        whole = next((engines[name] for name in engines if not KINDS[name].reduced), reference)
        effects = export_images.measure(
            self.project,
            self.dataset,
            {"": whole, **{name: engines[name] for name in reduced}},
            settings,
            items,
            cancelled=self.cancelled,
            progress=self.stages.share,
        )
        self.stages.check()
        for name in reduced:
            check_cost(self.parity[name], effects.get("", {}), effects.get(name), note)

    def make_line(
        self,
        settings: ModelSettings,
        network: TrainedNetwork | AdoptedNetwork,
        chosen: list[export_images.ParitySample],
        images: list[Any],
    ) -> None:
        """Write the line model, or report why it is left out. Raises ParityFailed if nothing else was requested."""
        self.stages.begin(Message("progress.line_model"))
        shape = self.options.shape or usual_line_shape([sample.size for sample in chosen])
        try:
            onnx_network = network.line_network(settings)
            result = write_line_model(
                self.folder, settings, onnx_network, shape, network.engine, images, self.stages.share
            )
        except LineModelRefused as refusal:
            result = Parity(why=refusal.args[0])
        self.parity[LINE_FORMAT] = result
        if result.passed:
            path = (Path(LINE_FOLDER) / LINE_MODEL).as_posix()
            self.line = {"path": path, "shape": list(shape), "pixel_type": pixel_type(settings).name}
        else:
            self.leave_out(LINE_FORMAT)

    def write_layouts(self, settings: ModelSettings, net: Any, images: list[Any]) -> None:
        """Write the files for other programs, or report why some are left out. Raises ParityFailed as `make_line`."""
        for name in [name for name in LAYOUTS if name in self.options.formats]:
            self.stages.check()
            source = LayoutSource(net, images, self.parity, self.stages.check)
            result = write_layout(name, self.folder, settings, source)
            self.parity[name] = result
            if result.passed:
                self.layouts.append(name)
            else:
                self.leave_out(name)

    def leave_out(self, name: str) -> None:
        """Report why a format besides the engines is left out. Raises ParityFailed if no other one was requested."""
        if set(self.options.formats) == {name}:
            raise ParityFailed(why=self.parity[name].why, report=parity.report(self.parity, "", environment()))
        self.report_left_out(name)

    def report_left_out(self, name: str) -> None:
        self.report(Trouble(what=left_out_text(name, self.parity[name]), done=Message("export.left_out")))

    def keep_passed(self, settings: ModelSettings) -> ModelSettings:
        """Return settings that name only the formats that passed; remove the files of the others."""
        passed = [name for name in KINDS if name in self.formats and self.parity[name].passed]
        for name in self.formats:
            if name not in passed:
                self.report_left_out(name)
        if not passed:
            why = "; ".join(f"{name}: {result.why.rstrip('.')}" for name, result in self.parity.items())
            raise ParityFailed(why=why, report=parity.report(self.parity, "", environment()))
        passed_files = {KINDS[name].file for name in passed}
        for file in {KINDS[name].file for name in self.formats} - passed_files:
            remove(self.folder, file)
        return dataclasses.replace(settings, files={name: KINDS[name].file for name in passed})

    def measure(
        self,
        settings: ModelSettings,
        reference: Engine,
        chosen: list[export_images.ParitySample],
        references: list[tuple[str, Path]],
    ) -> tuple[ModelSettings, dict[str, Any]]:
        """Return settings with the engine order and tuning measured here, and the content of latency.json."""
        if not self.options.seconds or not references:
            return settings, {}
        self.stages.begin(Message("progress.measuring_speed"))
        began = self.stages.clock()

        def tick() -> None:
            self.stages.share((self.stages.clock() - began) / (self.options.seconds * len(settings.files)))

        usual = latency.usual_size([sample.size for sample in chosen])
        image, options = references[-1][1], self.options
        timed = latency.measure_package(self.folder, settings, image, usual, options, tick)
        if not self.run.complete:
            timed.content["dygraph"] = latency.time_dygraph(settings, reference, image, usual)
        return dataclasses.replace(settings, order=timed.order, engines=timed.tunings), timed.content

    def write_references(self, settings: ModelSettings, images: list[tuple[str, Path]]) -> None:
        """Write reference results of the first 32-bit engine; each must reproduce them, or its own if reduced."""
        export_images.store_references(self.folder, settings, images)
        discard_tree(self.folder / export_images.REFERENCE_PARTS)
        for name in settings.files:
            self.stages.check()
            wrong = self_test(self.folder, Predictor.open(self.folder, engine=name))
            if wrong:
                why = Message("export.golden_differs", file=name, why=wrong[0])
                raise ParityFailed(why=why, report=parity.report(self.parity, why, environment()))

    def write_reports(self, place: str, measured: dict[str, Any]) -> None:
        write_json(self.folder / "parity.json", parity.report(self.parity, place, environment()))
        if measured:
            write_json(self.folder / latency.LATENCY_FILE, measured)
        self.stages.begin(Message("progress.model_card"))
        summaries = {name: found.summary() for name, found in self.parity.items()}
        try:
            measured_card = write_card(
                self.folder,
                self.run,
                self.project,
                summaries,
                environment(),
                language=self.options.language or SOURCE_LANGUAGE,
                point=self.point,
                tick=self.stages.share,
            )
            record = release_record(
                self.run.project_root,
                self.run.root,
                load_settings(self.folder / MODEL_FILE),
                parity=summaries,
                figures=measured_card.figures,
                images=image_sums(self.project, [item.key for item in self.dataset.current]),
                environment=environment(),
            )
            write_json(self.folder / RELEASE_FILE, record)
            write_checks(self.folder)
        except (SettingsError, EngineError) as error:
            raise WorkerFailed(what=Message("process.export"), why=Message.of(error), log=str(self.folder)) from error


def planned_stages(
    options: ExportOptions, formats: Sequence[str], chosen: list[ParitySample], held_out: int
) -> list[tuple[str, float]]:
    """Return the planned stages with their estimated seconds.

    formats: engines to write. chosen: images to compare. held_out: number of validation and test images.
    """
    pixels = sum(min(sample.pixels, MOST_PIXELS) for sample in chosen) / 1e6
    reduced = any(KINDS[name].reduced for name in formats)
    largest = 2 * max((min(sample.pixels, MOST_PIXELS) for sample in chosen), default=0) / 1e6
    stages = [(Message("progress.preparing"), 2.0), (Message("progress.checking_model"), 0.5 + largest)]
    stages.append((Message("progress.converting"), 3.0))
    if "int8" in formats:
        stages.append((Message("progress.measuring_ranges"), 8.0))
    if options.point in ("more", "fewer"):
        stages.append((Message("progress.choosing_thresholds"), 10.0))
    stages.append((Message("progress.comparing"), 1.0 + pixels * (1 + len(formats)) / 2))
    if reduced:
        stages.append((Message("progress.reduced_precision"), 20.0))
    if LINE_FORMAT in options.formats:
        stages.append((Message("progress.line_model"), 2.0 + pixels))
    if options.seconds:
        stages.append((Message("progress.measuring_speed"), options.seconds * len(formats)))
    seconds = min(CARD_SECONDS, 1.0 + pixels / max(1, len(chosen)) * held_out / 4)
    return [*stages, (Message("progress.checking"), 3.0), (Message("progress.model_card"), seconds)]


def left_out_text(name: str, found: Parity) -> Message:
    """Return why a format is left out of an export. found: its comparison with the run."""
    why = found.why
    if name == LINE_FORMAT and not found.images:
        return Message("export.line_impossible", why=why)
    if name in LAYOUTS and not found.images:
        return Message("export.layout_impossible", name=name, why=why)
    return Message("export.not_reproduced" if found.images else "export.cannot_make", name=name, why=why)


class ExportCancelled(Exception):
    """Task that was canceled."""


class ProgressStages:
    """Reporter of stages. plan: (text, seconds) in the order of the calls of `begin`. Reports in tenths of a second."""

    def __init__(
        self, plan: list[tuple[str, float]], report: Reporter, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._plan, self._report, self._cancelled = plan, report, cancelled
        self._stage = -1
        self._last_report = 0.0

    def begin(self, what: str) -> None:
        """Begin a stage; those between the last one and this one are skipped. Raises ExportCancelled."""
        names = [name for name, _ in self._plan]
        self._stage = names.index(what, self._stage + 1)
        self._send(0.0)

    def share(self, done: float) -> None:
        """Report the done share of the stage, 0..1. Raises ExportCancelled."""
        if time.monotonic() - self._last_report > _INTERVAL:
            self._send(min(1.0, done))
        else:
            self.check()

    @staticmethod
    def clock() -> float:
        return time.monotonic()

    def check(self) -> None:
        if self._cancelled():
            raise ExportCancelled

    def _send(self, done: float) -> None:
        self.check()
        self._last_report = time.monotonic()
        what, seconds = self._plan[self._stage]
        elapsed = sum(seconds for _, seconds in self._plan[: self._stage])
        total = sum(seconds for _, seconds in self._plan)
        self._report(Progress(what=what, done=round(10 * (elapsed + done * seconds)), total=max(1, round(10 * total))))


def find_weakness(
    project: Project,
    settings: ModelSettings,
    engine: Engine,
    samples: Sequence[ParitySample],
    tick: Callable[[], None],
) -> tuple[Message | None, dict[str, Output]]:
    """Return why a model is not ready to be exported, None if nothing speaks against it, and `compare`'s `known`.

    The two largest images of `samples` are predicted, labeled ones first; of a very large one its central part. tick:
    called before each call of the network and each step after it; it may raise to stop.
    """
    if settings.task == "classification":
        return None, {}
    known: dict[str, Output] = {}
    rows = [(_labeled_regions(project, sample, settings), sample) for sample in samples]
    rows.sort(key=lambda row: (row[0] is None, -min(row[1].pixels, MOST_PIXELS)))
    for labeled, sample in rows[:_IMAGES]:
        known[sample.key] = network_output(settings, engine, sample.read(), tick)
        regions = len(known[sample.key].regions)
        if regions > max(_MOST_REGIONS, _TIMES_LABELED * (labeled or 0)):
            return Message("export.too_many_regions", n=f"{regions:,}", name=sample.key), known
    return None, known


def _labeled_regions(project: Project, sample: ParitySample, settings: ModelSettings) -> int | None:
    """Return the number of labeled regions of an image, None without a label."""
    try:
        mask = annotation.load_truth(project, sample.key)
    except Problem:
        return None
    return None if mask is None else len(measure_regions(settings, mask))
