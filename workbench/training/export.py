"""From a run to a folder that works without the workbench, and is offered only if it gives what the run gives."""

from __future__ import annotations

import dataclasses
import os
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.core.events import Finished, Progress, Trouble
from workbench.core.problems import (
    BadRecipe,
    CannotWrite,
    ExportExists,
    ParityFailed,
    RunBroken,
    RunUnusable,
    WorkerFailed,
)
from workbench.core.project import Project
from workbench.core.run import Run
from workbench.core.storage import write_json, write_text
from workbench.inference.checks import write_checks
from workbench.inference.embed import embed
from workbench.inference.engines import EngineError, load_engine
from workbench.inference.golden import self_test, write_golden
from workbench.inference.predictor import Predictor
from workbench.inference.reading import write_png
from workbench.inference.settings import MODEL_FILE, ModelSettings, SettingsError, load_settings, save_settings
from workbench.training import checkpoint, device, networks, onnx, witnesses
from workbench.training.evaluate import DygraphEngine
from workbench.training.learner import load_weights
from workbench.training.parity import LEAST_AGREEMENT, MOST_DIFFERENCE, Parity, compare
from workbench.training.readme import environment, readme
from workbench.training.reporter import Reporter

FILES = {"onnx": "network.onnx", "paddle": "paddle/network.json"}


class _Cancelled(Exception):
    pass


def export(
    run: Run, out: Path, formats: Sequence[str], report: Reporter, *, cancelled: Callable[[], bool]
) -> Finished:
    """Build the folder `out` of a run's best weights. Raises a Problem; then, and if cancelled, nothing is left."""
    out = out.absolute()
    for name in formats:
        if name not in FILES:
            raise BadRecipe(key="formats", value=name, why=f"an export can hold {' and '.join(FILES)}")
    if not formats:
        raise BadRecipe(key="formats", value="nothing", why=f"an export needs at least one of {', '.join(FILES)}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportExists(path=str(out))
    if not (run.best / checkpoint.WEIGHTS).exists():
        run.need_usable()
        raise RunUnusable(name=run.name, why="its weights are missing")
    part = out.parent / f".{out.name[:80]}.{secrets.token_hex(4)}.part"
    try:
        part.mkdir(parents=True)
        builder = _Builder(run, part, report, cancelled)
        result = builder.build(dict.fromkeys(formats))
        if out.exists():
            out.rmdir()
        os.replace(part, out)
        return Finished(result={"path": str(out), **result})
    except _Cancelled:
        return Finished(why="stopped")
    except ParityFailed as problem:
        kept = out.parent / f"{out.name}.parity.json"
        write_json(kept, problem.fields["report"])
        raise ParityFailed(why=problem.fields["why"], report=str(kept)) from problem
    except OSError as error:
        where = error.filename or str(out)
        raise CannotWrite(path=str(where), why=error.strerror or str(error)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Builder:
    """One export in the making, in a folder that nobody else knows yet."""

    def __init__(self, run: Run, folder: Path, report: Reporter, cancelled: Callable[[], bool]) -> None:
        self.run, self.folder, self.report, self.cancelled = run, folder, report, cancelled
        self.recipe, self.dataset = run.recipe(), run.dataset()
        self.project = Project.open(run.project_root, write=False)
        self.done, self.total = 0, 1

    def build(self, formats: dict[str, None]) -> dict[str, Any]:
        chosen = witnesses.choose(self.project, self.dataset)
        pictures = witnesses.readable(chosen)
        self.total = 3 + len(pictures)
        self.tell("Preparing the network")
        place = device.choose("auto")
        settings = self.settings()
        net = networks.build(self.recipe, self.dataset)
        path = self.run.best / checkpoint.WEIGHTS
        load_weights(net, checkpoint.load_arrays(path), str(path))
        net.eval()
        parity: dict[str, Parity] = {}
        self.save_networks(net, formats, parity)
        self.tell("Comparing with the run")

        def on_picture(done: int) -> None:
            self.tell("Comparing with the run")

        engines = self.load_engines(formats, settings, parity)
        parity.update(compare(settings, DygraphEngine(net), engines, pictures, on_picture))
        settings = self.keep_passed(settings, parity, formats)
        save_settings(settings, self.folder / MODEL_FILE)
        embed(self.folder)
        self.write_golden(settings, witnesses.for_golden([w for w in chosen if w.key in dict(pictures)]), parity)
        settings = load_settings(self.folder / MODEL_FILE)
        self.write_reports(settings, parity, place.name)
        self.tell("Checking")
        return {
            "formats": list(settings.files),
            "parity": {name: found.summary() for name, found in parity.items()},
        }

    def tell(self, what: str) -> None:
        if self.cancelled():
            raise _Cancelled
        self.report(Progress(what=what, done=self.done, total=self.total))
        self.done += 1

    def settings(self) -> ModelSettings:
        """As in best/model.json, where validation has chosen them; else as the recipe has them."""
        path = self.run.best / MODEL_FILE
        name, files = self.project.file.name, dict(FILES)
        if not path.exists():
            scale = self.project.file.um_per_pixel
            return networks.settings(
                self.recipe, self.dataset, name=name, run=self.run.name, um_per_pixel=scale, files=files
            )
        try:
            return dataclasses.replace(load_settings(path), files=files)
        except SettingsError as error:
            raise RunBroken(path=str(path), why=str(error)) from error

    def save_networks(self, net: Any, formats: dict[str, None], parity: dict[str, Parity]) -> None:
        stem = self.folder / "paddle" / "network"
        onnx.save_program(net, self.recipe, stem)
        if "onnx" in formats:
            conversion = onnx.Conversion(stem, self.folder / FILES["onnx"])
            while not conversion.done():
                if self.cancelled():
                    conversion.cancel()
                    raise _Cancelled
                time.sleep(0.05)
            try:
                conversion.finish()
            except onnx.ConversionError as error:
                parity["onnx"] = Parity(why=f"it could not be converted: {error}")
        stem.with_name("converter.txt").unlink(missing_ok=True)
        if "paddle" not in formats:
            shutil.rmtree(stem.parent)

    def load_engines(
        self, formats: dict[str, None], settings: ModelSettings, parity: dict[str, Parity]
    ) -> dict[str, Any]:
        engines = {}
        for name in formats:
            if name not in parity:
                try:
                    engines[name] = load_engine(name, self.folder, settings, settings.threads)
                except EngineError as error:
                    parity[name] = Parity(why=str(error))
        return engines

    def keep_passed(
        self, settings: ModelSettings, parity: dict[str, Parity], formats: dict[str, None]
    ) -> ModelSettings:
        """Settings that name only the formats that passed; the files of the others are removed."""
        for name, found in parity.items():
            if not found.passed:
                self.drop(name)
                done = "This format is left out of the export."
                self.report(Trouble(what=f"The network in {name} does not reproduce the run: {found.why}.", done=done))
        files = {name: FILES[name] for name in FILES if name in formats and parity[name].passed}
        if not files:
            why = "; ".join(f"{name}: {found.why}" for name, found in parity.items())
            raise ParityFailed(why=why, report=parity_report(parity, ""))
        return dataclasses.replace(settings, files=files)

    def drop(self, name: str) -> None:
        path = self.folder / FILES[name]
        if name == "paddle":
            shutil.rmtree(path.parent, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def write_golden(self, settings: ModelSettings, chosen: list[witnesses.Witness], parity: dict[str, Parity]) -> None:
        """Golden pictures from the first engine; every engine must then reproduce them."""
        pictures, crops = [], self.folder / ".crops"
        for witness in chosen:
            path = witness.path
            if witness.pixels > witnesses.MOST_PIXELS:
                path = crops / f"{len(pictures)}.png"
                picture = witness.read()
                if picture.dtype.kind == "f":
                    continue  # a PNG cannot hold it, and the whole is too large to travel
                write_png(path, picture)
            pictures.append((witness.key, path))
        write_golden(self.folder, Predictor.open(self.folder), pictures)
        shutil.rmtree(crops, ignore_errors=True)
        for name in settings.files:
            wrong = self_test(self.folder, Predictor.open(self.folder, engine=name))
            if wrong:
                why = f"{name} does not give its own golden results: {wrong[0]}"
                raise ParityFailed(why=why, report=parity_report(parity, why))

    def write_reports(self, settings: ModelSettings, parity: dict[str, Parity], place: str) -> None:
        write_json(self.folder / "parity.json", parity_report(parity, place))
        write_text(self.folder / "README.md", readme(self.run, self.dataset, settings, parity))
        try:
            write_checks(self.folder)
        except SettingsError as error:
            raise WorkerFailed(what="export", why=str(error), log=str(self.folder)) from error


def parity_report(parity: dict[str, Parity], place: str) -> dict[str, Any]:
    """The content of parity.json."""
    return {
        "reference": f"Paddle, 32 bits, {place}".rstrip(", "),
        "limits": {"max_abs": MOST_DIFFERENCE, "mask_agreement": LEAST_AGREEMENT, "same_regions": True},
        "formats": {name: {**found.summary(), "rows": found.rows} for name, found in parity.items()},
        "environment": environment(),
    }
