"""Labeled images of a project for other programs: access to image, class map, verdict, data split and group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.core.images import image_files
from workbench.core.problems import NotInProject
from workbench.core.project import annotation, grouping
from workbench.core.project.project import Project
from workbench.core.runs.run import Run, find_run
from workbench.inference.io.opencv import cv2
from workbench.inference.overlay_drawing import to_display

IGNORED = 255  # target value for the `ignore_index` of a loss of Paddle or PyTorch


class Sample:
    """Image of a project with its label. key: name of the image in the project. project: the project.

    Files are read on access, and each access may raise a Problem: an image or mask each time, the note once.
    """

    def __init__(self, project: LabeledProject, key: str) -> None:
        self.project, self.key = project, key

    def __repr__(self) -> str:
        return f"Sample({self.key!r})"

    @property
    def path(self) -> Path:
        """Path of the image file."""
        return self.project.files.image_path(self.key)

    @property
    def pixels(self) -> np.ndarray:
        """Pixels as stored, upright: (H, W) gray or (H, W, 3) RGB; uint8, uint16 or float32."""
        return image_files.read(self.path)

    @property
    def image(self) -> np.ndarray:
        """Pixels for display, uint8 of the same shape; other types are stretched to the range of their values."""
        return to_display(self.pixels)

    @property
    def class_map(self) -> np.ndarray | None:
        """Class ids, uint8 (H, W): 0 background, 254 ignored, also outside of the inspection area, 255 not
        labeled. None if the image has no mask.
        """
        return annotation.load_truth(self.project.files, self.key, image_files.image_size(self.path))

    @property
    def verdict(self) -> str | None:
        """Verdict of the user, None without one."""
        return self._note.verdict

    @property
    def done(self) -> bool:
        """True if the user has marked the label as done."""
        return self._note.status == "done"

    @property
    def split(self) -> Literal["train", "val", "test"] | None:
        """Data split of the image in the project's run; without a run, the split that the user has assigned."""
        if self.project.run is None:
            return self._note.pin
        item = self.project.items.get(self.key)
        return None if item is None else item.split

    @property
    def group(self) -> str:
        """Group of images of the same part: of the project's run, else by the note or the grouping rule."""
        item = self.project.items.get(self.key)
        return item.group if item is not None else self._note.group or self.project.groups[self.key]

    @cached_property
    def _note(self) -> annotation.Note:
        return annotation.load_note(self.project.files, self.key)


class LabeledProject:
    """Images of a project as samples in natural order: `len`, iteration, access by number or by key.

    Read-only and without a lock, so that the project may be open in a window. The list of images is that of the
    construction, or of the last `refresh`. Pickled as its path. Raises NotAProject, ProjectBroken, UnknownRun,
    RunBroken.

    root: folder. class_names: class id -> name. verdicts: names. keys: of all images. run: the run whose data split
    the samples have (a run, its name or path, "last" or "best"), or None.
    """

    def __init__(self, root: Path | str, run: Run | Path | str | None = None) -> None:
        self.root = Path(root).absolute()
        self.run = None if run is None else find_run(self.root, str(run.root if isinstance(run, Run) else run))
        self.items = {} if self.run is None else {item.key: item for item in self.run.dataset().current}
        self.refresh()

    def refresh(self) -> None:
        """Read images, classes and verdicts of the project again."""
        self.files = Project.open(self.root, write=False)
        self.class_names = {info.id: info.name for info in self.files.classes}
        self.verdicts = list(self.files.file.verdicts)
        self.keys = self.files.images()
        self.groups = grouping.groups_by_name(self.keys, self.files.file.grouping, {})

    def __repr__(self) -> str:
        of_run = "" if self.run is None else f", run={self.run.name!r}"
        names = ", ".join(self.class_names.values())
        return f"<Project {str(self.root)!r}{of_run}: {len(self)} images, classes {names or 'none'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return LabeledProject, (self.root, None if self.run is None else self.run.root)

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Sample]:
        return (Sample(self, key) for key in self.keys)

    def __getitem__(self, which: int | str) -> Sample:
        if isinstance(which, str) and which not in self.groups:
            raise NotInProject(name=which)
        return Sample(self, which if isinstance(which, str) else self.keys[which])


class MapDataset:
    """Map-style dataset: `__len__` and `__getitem__`, which the data loaders of Paddle and PyTorch require.

    Images are read on access, also in worker processes. An item is `transform(image, target)`, by default the pair:
    image, float32 (channels, H, W), 0..1 of the range of its stored type; target, int64 (H, W) for "class_map" or ()
    for "verdict": a position in `names`, or IGNORED where the label is ignored, not labeled or missing. A batch
    requires images of one size, for example through a crop in `transform`.

    samples: images in their order. names: "background" and the classes, or the verdicts.
    """

    def __init__(
        self,
        samples: Iterable[Sample],
        target: Literal["class_map", "verdict"] = "class_map",
        *,
        channels: Literal[1, 3] = 1,
        transform: Callable[[np.ndarray, np.ndarray], Any] | None = None,
    ) -> None:
        self.samples, self.target, self.channels, self.transform = list(samples), target, channels, transform
        project = self.samples[0].project if self.samples else None
        self._table = np.full(256, IGNORED, np.int64)
        self._table[0] = 0
        self.names: list[str] = []
        if project is not None and target == "class_map":
            self._table[list(project.class_names)] = np.arange(1, 1 + len(project.class_names))
            self.names = ["background", *project.class_names.values()]
        elif project is not None:
            used = {sample.verdict for sample in self.samples} - {None, *project.verdicts}
            self.names = [*project.verdicts, *sorted(filter(None, used))]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Any:
        sample = self.samples[index]
        image, target = self._image(sample.pixels), self._target(sample)
        return (image, target) if self.transform is None else self.transform(image, target)

    def _image(self, pixels: np.ndarray) -> np.ndarray:
        if pixels.ndim == 3 and self.channels == 1:
            pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        full_scale = {"uint8": 255, "uint16": 65535}.get(pixels.dtype.name, 1)
        planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
        values = np.divide(planes, full_scale, dtype=np.float32, order="C")
        return values if len(values) == self.channels else values.repeat(self.channels, axis=0)

    def _target(self, sample: Sample) -> np.ndarray:
        if self.target == "verdict":
            return np.array(IGNORED if sample.verdict is None else self.names.index(sample.verdict), np.int64)
        class_map = sample.class_map
        if class_map is None:
            width, height = image_files.image_size(sample.path)
            return np.full((height, width), IGNORED, np.int64)
        return self._table[class_map]
