"""Adopted run: run folder of a segmentation network that was trained elsewhere.

It has the files of a trained run without weights for training, and adopted.json with the origin of the network. All
labeled images of the project are its test images; the list is renewed before an evaluation.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.adoption.adapter_graph import adapt_file
from workbench.core.adoption.network_file import AdoptionOptions
from workbench.core.messages import Message
from workbench.core.problems import BadSettings, CannotWrite, ModelFileRefused, Problem
from workbench.core.project.grouping import group
from workbench.core.project.project import ClassInfo, Project, matching_class
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset, add_items
from workbench.core.runs.events import Finished, encode
from workbench.core.runs.good_images import present_dataset
from workbench.core.runs.network_process import NetworkCancelled
from workbench.core.runs.onnx_files import NetworkRefused
from workbench.core.runs.run import Run, new_run_folder, write_settings
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.file_access import discard_tree, make_folder, read_regular, write_atomic
from workbench.inference.model_settings import MODEL_FILE, ClassSettings, ModelSettings, SettingsError, save_settings

NETWORK_FILE = "network.onnx"
_PIXELS_PER_BATCH = 1 << 20
_MAX_OVERLAP = 64  # pixels


class AdoptionCancelled(Exception):
    """Adoption stopped because the caller's `cancelled` returned true. Nothing was changed."""


def adopt(
    project: Project, path: Path, options: AdoptionOptions, *, cancelled: Callable[[], bool] = lambda: False
) -> Run:
    """Add the network in an ONNX file to the project as a run. Classes that the project lacks are added to it.

    Runs the network in a child process and reads labels: not for the GUI thread. Raises BadSettings, ModelFileRefused,
    BadClass, AdoptionCancelled, and the problems of a project that cannot be written; nothing is changed then.
    """
    project.need_write(Message("what.run"))
    options.check()
    try:
        network = adapt_file(path, options, cancelled)
    except NetworkRefused as refusal:
        raise ModelFileRefused(path=str(path), why=refusal.why) from refusal
    except NetworkCancelled as error:
        raise AdoptionCancelled from error
    classes = _project_classes(project, options)
    mean, std = options.normalization(network.channels)
    overlap = min(_MAX_OVERLAP, network.tile // 4)
    run = new_run_folder(project, "onnx")
    try:
        settings = ModelSettings(
            task="segmentation",
            name=project.file.name,
            run=run.name,
            classes=tuple(ClassSettings(info.id, info.name, info.color) for info in classes),
            channels=network.channels,
            mean=mean,
            std=std,
            scale=options.scale,
            tile=network.tile,
            overlap=overlap,
            multiple=network.multiple,
            thresholds=(options.threshold,) * len(classes),
            min_area=(0,) * len(classes),
            um_per_pixel=project.file.um_per_pixel,
            areas=tuple(project.file.inspection_areas),
            batch=max(1, _PIXELS_PER_BATCH // network.tile**2) if network.batch else 1,
            files={"onnx": NETWORK_FILE},
        )
        make_folder(run.best)
        write_atomic(run.best / NETWORK_FILE, network.content)
        save_settings(settings, run.best / MODEL_FILE)
        write_json(run.adopted_path, _origin(path, options))
        write_json(run.dataset_path, _dataset(project, classes).model_dump(mode="json"))
        write_atomic(run.events_path, (encode(Finished(result={"usable": True, "adopted": path.name})) + "\n").encode())
        write_settings(run, _training_settings(settings))
    except SettingsError as error:
        discard_tree(run.root)
        raise ModelFileRefused(path=str(path), why=Message.of(error)) from error
    except OSError as error:
        discard_tree(run.root)
        raise CannotWrite.of(run.root, error) from error
    except Problem:
        discard_tree(run.root)
        raise
    return run


def refresh_dataset(project: Project, run: Run) -> Dataset:
    """Return the dataset of a run. Of an adopted one, and of one of good images, renew its test images first.

    Reads labels: not for the GUI thread. A run that cannot be written keeps its earlier list. Raises RunBroken.
    """
    before = run.dataset()
    if not run.complete:
        return before
    now = _dataset(project, before.classes) if run.adopted else present_dataset(project, before)
    if now != before:
        with contextlib.suppress(Problem, OSError):
            write_json(run.dataset_path, now.model_dump(mode="json"), root=run.project_root)
    return now


def _project_classes(project: Project, options: AdoptionOptions) -> list[ClassInfo]:
    """Return the classes of the used channels; missing ones are added to the project."""
    project.refresh()
    known = [matching_class(name, project.classes) for name in options.used_classes]
    ids = [info.id for info in known if info is not None]
    if len(set(ids)) < len(ids):
        names = ",".join(options.classes)
        raise BadSettings(key="classes", value=names, why=Message("adopt.class_twice"))
    found = [
        project.add_class(name, save=False) if info is None else info for name, info in zip(options.used_classes, known)
    ]
    if None in known:
        project.save()
    return found


def _dataset(project: Project, classes: list[ClassInfo]) -> Dataset:
    """Return all labeled images as test images."""
    dataset = Dataset(model="unet", classes=classes)
    notes = add_items(dataset, project, project.images())
    for item in dataset.items:
        item.split = "test"
    if dataset.items:
        group(project, dataset.items, notes)
    dataset.held_out_note = Message("adopt.all_test" if dataset.items else "adopt.no_labels_yet")
    return dataset


def _origin(path: Path, options: AdoptionOptions) -> dict[str, Any]:
    """Return the content of adopted.json."""
    return {
        "format": 1,
        "file": path.name,
        "sha256": hashlib.sha256(read_regular(path)).hexdigest(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "options": dataclasses.asdict(options),
    }


def _training_settings(settings: ModelSettings) -> TrainingSettings:
    """Return the content of recipe.json, in which only the preparation of the images has a meaning."""
    return TrainingSettings(
        model="unet",
        channels=settings.channels,  # ty: ignore[invalid-argument-type]  1 or 3
        mean=list(settings.mean),
        std=list(settings.std),
        scale=min(settings.scale, 4.0),
        overlap=settings.overlap,
    )
