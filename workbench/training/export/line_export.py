"""Line model of an export: its files, and the images on which it is compared with the run.

line/model.onnx             the model, see `line_graph`
line/model.json             its metadata
line/reference.pgm, .ppm    reference image, gray or RGB
line/reference_map.pgm      class map of the reference image, of a UNet
line/reference.txt          expected results, one line each: `area CLASS_ID PIXELS`, or `verdict INDEX` and
                            `probability INDEX VALUE`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from workbench.core import resources
from workbench.core.project.storage import write_json
from workbench.core.runs.export_options import LINE_SIDES
from workbench.inference.engines.onnx_engine import session_options
from workbench.inference.io.file_access import make_folder, read_regular, write_atomic
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import EngineOptions, ModelSettings
from workbench.inference.predictor import Engine
from workbench.training.export import line_graph
from workbench.training.export.export_metadata import line_metadata, set_metadata
from workbench.training.export.latency import usual_size
from workbench.training.export.parity import Parity, compare_line

LINE_FOLDER, EXAMPLES_FOLDER = "line", "examples"
LINE_MODEL = "model.onnx"
_MOST_IMAGES = 40

_USUAL_SIDE = 4096  # limit of a size that was not requested

Images = Sequence[tuple[str, Callable[[], np.ndarray]]]


class LineModel:
    """Line model run by ONNX Runtime on the CPU: image (H,W) or (H,W,3) to outputs by name."""

    def __init__(self, model: bytes) -> None:
        options = session_options(EngineOptions())
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._names = [output.name for output in self._session.get_outputs()]

    def __call__(self, image: np.ndarray) -> dict[str, np.ndarray]:
        batch = image[None, ..., None] if image.ndim == 2 else image[None]
        values = self._session.run(None, {line_graph.IMAGE: np.ascontiguousarray(batch)})
        return {name: np.asarray(value) for name, value in zip(self._names, values)}


def usual_line_shape(sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the usual size of the project's images within the limits of a line model. sizes: (height, width) each."""
    least, most = LINE_SIDES[0], _USUAL_SIDE
    height, width = (min(most, max(least, side)) for side in usual_size(sizes))
    return height, width


def write_line_model(
    folder: Path,
    settings: ModelSettings,
    network: onnx.ModelProto,
    shape: tuple[int, int],
    reference: Engine,
    images: Images,
    on_image: Callable[[float], None] = lambda share: None,
) -> Parity:
    """Write the line model of an export if it gives the results of `reference`; otherwise no file remains.

    network: with its softmax and free sizes. shape: height and width. images: name, and a function that returns the
    pixels. on_image(share): called after each comparison; may raise to stop. Raises OSError.
    """
    try:
        model = line_graph.line_model(settings, network, shape)
    except line_graph.LineModelRefused as refusal:
        return Parity(why=refusal.args[0])
    values = line_metadata(settings, shape)
    set_metadata(model, values)
    content = model.SerializeToString()
    run = LineModel(content)
    fitted = list(_fitted_images(images, settings, shape))[:_MOST_IMAGES]
    parity = compare_line(settings, reference, run, fitted, lambda done: on_image(done / len(fitted)))
    if parity.passed:
        target = folder / LINE_FOLDER
        make_folder(target)
        write_atomic(target / LINE_MODEL, content)
        write_json(target / "model.json", values)
        rows = [row["regions"] for row in parity.rows]
        image = fitted[int(np.argmax(rows))][1]()
        _write_reference(target, settings, image, run(image))
    return parity


# --- images of the shape and number type of the line model --------------------------------------------


def _fitted_images(images: Images, settings: ModelSettings, shape: tuple[int, int]) -> Iterator[tuple[str, Any]]:
    """Yield name and reader of the images: resized for verdicts, otherwise two opposite corners of larger images."""
    for name, read in images:
        height, width = read().shape[:2]
        larger = settings.task == "segmentation" and (height > shape[0] or width > shape[1])
        for number in range(2 if larger else 1):
            yield name, lambda read=read, last=bool(number): fit_image(read(), settings, shape, last=last)


def fit_image(image: np.ndarray, settings: ModelSettings, shape: tuple[int, int], *, last: bool = False) -> np.ndarray:
    """Return an image (H,W) or (H,W,3) in the number type, the colors and the size of a line model.

    For verdicts it is resized. Otherwise it is cut, from its lower right corner if `last`, and mirrored beyond its
    border where it is smaller.
    """
    image = _to_colors(_to_type(image, line_graph.pixel_type(settings)), settings.channels)
    if settings.task == "classification":
        return cv2.resize(image, shape[::-1], interpolation=cv2.INTER_AREA)
    top, left = (max(0, have - need) if last else 0 for have, need in zip(image.shape, shape))
    part = image[top : top + shape[0], left : left + shape[1]]
    missing = [(0, need - have) for have, need in zip(part.shape, shape)]
    return np.ascontiguousarray(np.pad(part, [*missing, (0, 0)][: image.ndim], "symmetric"))


def _to_type(image: np.ndarray, target: np.dtype) -> np.ndarray:
    if image.dtype == target:
        return image
    full = float(np.iinfo(image.dtype).max) if image.dtype.kind == "u" else 1.0
    values = np.nan_to_num(image.astype(np.float64) / full)
    return np.rint(np.clip(values, 0, 1) * np.iinfo(target).max).astype(target)


def _to_colors(image: np.ndarray, channels: int) -> np.ndarray:
    if channels == 3 and image.ndim == 2:
        return np.repeat(image[..., None], 3, axis=2)
    return cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if channels == 1 and image.ndim == 3 else image


def write_examples(folder: Path) -> None:
    """Copy the C++ and C# programs that run a line model into an export. Raises OSError."""
    source = resources.path(EXAMPLES_FOLDER)
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        target = folder / EXAMPLES_FOLDER / path.relative_to(source)
        make_folder(target.parent)
        write_atomic(target, read_regular(path))


# --- reference ----------------------------------------------------------------------------------------


def _write_reference(folder: Path, settings: ModelSettings, image: np.ndarray, outputs: dict[str, np.ndarray]) -> None:
    write_atomic(folder / ("reference.pgm" if image.ndim == 2 else "reference.ppm"), netpbm(image))
    if settings.task == "classification":
        lines = [f"verdict {int(outputs[line_graph.VERDICT][0])}"]
        lines += [f"probability {n} {value:.6f}" for n, value in enumerate(outputs[line_graph.PROBABILITIES][0])]
    else:
        write_atomic(folder / "reference_map.pgm", netpbm(outputs[line_graph.CLASS_MAP][0]))
        lines = [f"area {entry.id} {area}" for entry, area in zip(settings.classes, outputs[line_graph.CLASS_AREAS][0])]
    write_atomic(folder / "reference.txt", ("\n".join(lines) + "\n").encode())


def netpbm(image: np.ndarray) -> bytes:
    """Return a binary PGM or PPM file, a format that needs no library. image: uint8 or uint16, (H,W) or (H,W,3) RGB."""
    kind = "P5" if image.ndim == 2 else "P6"
    header = f"{kind}\n{image.shape[1]} {image.shape[0]}\n{np.iinfo(image.dtype).max}\n"
    return header.encode() + image.astype(image.dtype.newbyteorder(">")).tobytes()
