"""Project with a UNet run without training, whose network detects dark and bright areas."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from tests.conftest import scratched
from tests.inference.conftest import gray_settings, write_onnx
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings

MISSED, FALSE = "test/p00.png", "test/p01.png"  # a label without a defect; a bright spot without a label
SPOT = (slice(5, 15), slice(60, 74))
COUNTS = {"train": 6, "val": 5, "test": 8}
CLASSES = (ClassSettings(1, "scratch", "#e69f00"), ClassSettings(2, "pit", "#56b4e9"))


def make_mask_project(root: Path, **changes) -> Run:
    """Write dark blobs of class 1 on all but two images of each split. changes: settings of the model."""
    rng = np.random.default_rng(4)
    items = []
    with Project.create(root, classes=["scratch", "pit"]) as project:
        for split, count in COUNTS.items():
            for number in range(count):
                image, mask = scratched(rng, defects=1 if number < count - 2 else 0)
                mask[mask > 0], key = 1, f"{split}/p{number:02d}.png"
                if key == MISSED:
                    image[SPOT], mask[SPOT] = 150, 2
                if key == FALSE:
                    image[SPOT] = 250
                write_png(project.image_path(key), image)
                annotation.save_mask(project, key, mask)
                annotation.save_note(project, key, annotation.Note(status="done"))
                digest = hashlib.sha256(project.mask_path(key).read_bytes()).hexdigest()[:16]
                ids = [id for id in annotation.ids_in(mask) if id]
                items.append(
                    Item(
                        key=key,
                        split=split,
                        group=f"{split}{number // 2}",
                        width=96,
                        height=80,
                        classes=ids,
                        mask_hash=digest,
                    )
                )
        data = Dataset(model="unet", classes=project.classes, items=items)
    run = Run(root / "runs" / "20261121-080000-unet")
    write_onnx(run.best / "network.onnx", np.array([[0.0], [-20.0], [20.0]]), np.array([0.0, -1.0, -12.0]))
    chosen = {"thresholds": (0.5, 0.5), "min_area": (9, 9), "um_per_pixel": None, **changes}
    save_settings(gray_settings(classes=CLASSES, run=run.name, **chosen), run.best / "model.json")
    write_json(run.dataset_path, data.model_dump(mode="json"))
    write_json(run.settings_path, TrainingSettings(model="unet").model_dump(mode="json"))
    return run
