"""Layouts of an export for the programs of others.

A writer is a function (folder, settings, source) -> Parity. It returns the comparison with the run; a reason in it
means that no files were written.

NVIDIA Triton Inference Server, `tritonserver --model-repository=EXPORT/triton`:

triton/NAME/config.pbtxt        inputs, outputs, and as parameters the metadata and the preprocessing
triton/NAME/labels.txt          of a ResNet: names of the verdicts, for Triton's classification requests
triton/NAME/1/model.onnx        copy of the network; the client normalizes images and applies thresholds
triton/NAME-line/               the self-contained model, if the export has one; all steps are included

MLflow: the folder of the export is a model, with `MLmodel` in it. `mlflow.onnx.load_model(EXPORT)` returns the network.
`mlflow.pyfunc.load_model(EXPORT)`, and thereby `mlflow models serve -m EXPORT`, predict images with all steps of the
export: regions and mask, or the verdict.

PaddleSeg's and PaddleX' deployment tools: a Paddle program and the text file that describes its input.

paddlex/deploy.yaml             of a UNet, as PaddleSeg writes it; see `paddleseg.deploy.infer`
paddlex/inference.yml           of a ResNet, as PaddleX and PaddleClas write it
paddlex/inference.json          program, with inference.pdiparams

These tools read images as 8-bit RGB, and normalize them with a mean and a standard deviation. All other steps are in
the program: clipping, gray values, padding, mirrored passes, thresholds or temperature. Its outputs:

    class ids       int32 (N, H, W), first output of a UNet: thresholds are applied, small regions are not removed
    probabilities   float32 (N, 1 + classes, H, W), or (N, verdicts), the only output of a ResNet
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import platform
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import paddle
import yaml
from paddle import nn
from paddle.static import InputSpec

from workbench.core.messages import Message
from workbench.core.runs.export_options import LAYOUTS
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.file_access import ascii_folder, make_folder, read_regular, remove_tree, write_atomic
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import MIRRORED, ModelSettings
from workbench.inference.tiles import MAX_VALUE, MIN_VALUE
from workbench.training.evaluator import DygraphEngine
from workbench.training.export.export_metadata import metadata
from workbench.training.export.line_export import LINE_FOLDER, LINE_MODEL, Images, fit_image
from workbench.training.export.line_graph import CLASS_AREAS, CLASS_MAP, PROBABILITIES, UNSURE_INDEX, VERDICT
from workbench.training.export.parity import Parity, compare_line


@dataclass(frozen=True)
class LayoutSource:
    """Source of a layout.

    net: the trained network. images: name, and a function that returns the pixels. parity: of the engines. check:
    called between images; may raise to stop.
    """

    net: Any
    images: Images
    parity: Mapping[str, Parity]
    check: Callable[[], None]

    def copied(self, engine: str) -> Parity:
        """Return the comparison of a layout that contains the network file of an engine."""
        return replace(self.parity[engine], rows=[])


def write_layout(name: str, folder: Path, settings: ModelSettings, source: LayoutSource) -> Parity:
    """Write a layout of `LAYOUTS` with its writer, unless the engine that it contains was left out."""
    layout = LAYOUTS[name]
    if layout.engine and layout.engine not in settings.files:
        return source.copied(layout.engine)
    module, _, function = layout.code.partition(":")
    own = "." not in module  # others are those of plug-ins
    write = getattr(importlib.import_module(f"workbench.training.export.{module}" if own else module), function)
    return write(folder, settings, source)


def facts(settings: ModelSettings) -> dict[str, str]:
    """Return the metadata of the model, without the content of model.json, and the preprocessing, as texts by name."""
    values = metadata(settings)
    del values["settings"]
    return {**values, **preprocessing(settings)}


def preprocessing(settings: ModelSettings) -> dict[str, str]:
    """Return the steps from pixels to the input of the network, as texts by name."""
    values = {
        "color": "gray" if settings.channels == 1 else "RGB",
        "full_scale": str(settings.full_scale),
        "low": str(settings.low),
        "high": str(settings.high),
        "clip": f"{MIN_VALUE} {MAX_VALUE}",
        "mean": " ".join(map(str, settings.mean)),
        "std": " ".join(map(str, settings.std)),
        "mirrored": " ".join(settings.mirrored),
        "preprocessing": "input = (clip((pixel - low) / (high - low)) - mean) / std, with pixels of 0 to full_scale",
    }
    if settings.task == "classification":
        return {
            **values,
            "resize": f"{settings.input_size}x{settings.input_size}, area",
            "temperature": str(settings.temperature),
        }
    return {**values, "scale": str(settings.scale), "multiple": str(settings.multiple), "tile": str(settings.tile)}


def safe_name(settings: ModelSettings) -> str:
    """Return a name of the model of ASCII letters, digits, "-" and "_"."""
    name = re.sub(r"[^a-z0-9_-]+", "-", settings.name.lower(), flags=re.ASCII).strip("-")[:60]
    return name or ("defects" if settings.task == "segmentation" else "verdicts")


# --- NVIDIA Triton Inference Server ---------------------------------------------------------------

_ESCAPES = {**{chr(code): f"\\{code:03o}" for code in range(32)}, "\n": "\\n", '"': '\\"', "\\": "\\\\"}
_BATCH = 4  # largest batch that Triton may form, as its own default
TRITON_FOLDER, LABELS = "triton", "labels.txt"
_TYPES = {
    onnx.TensorProto.FLOAT: "TYPE_FP32",
    onnx.TensorProto.UINT8: "TYPE_UINT8",
    onnx.TensorProto.UINT16: "TYPE_UINT16",
    onnx.TensorProto.INT32: "TYPE_INT32",
    onnx.TensorProto.INT64: "TYPE_INT64",
}


def write_repository(folder: Path, settings: ModelSettings, source: LayoutSource) -> Parity:
    """Write the repository of an export. Raises OSError."""
    name = safe_name(settings)
    _write_model(folder / TRITON_FOLDER / name, folder / KINDS["onnx"].file, settings, preprocessing(settings))
    line = folder / LINE_FOLDER / LINE_MODEL
    if line.exists():
        _write_model(folder / TRITON_FOLDER / f"{name}-line", line, settings, {})
    return source.copied("onnx")


def _write_model(folder: Path, file: Path, settings: ModelSettings, parameters: dict[str, str]) -> None:
    content = read_regular(file)
    model = onnx.load_from_string(content)
    labels = LABELS if settings.task == "classification" else ""
    values = {entry.key: entry.value for entry in model.metadata_props if entry.key != "settings"}
    make_folder(folder / "1")
    write_atomic(folder / "1" / "model.onnx", content)
    text = model_config(folder.name, model, labels=labels, parameters={**values, **parameters})
    write_atomic(folder / "config.pbtxt", text.encode())
    if labels:
        write_atomic(
            folder / labels, "".join(f"{' '.join(verdict.split())}\n" for verdict in settings.verdicts).encode()
        )


def model_config(
    name: str, model: onnx.ModelProto, *, labels: str = "", parameters: dict[str, str] | None = None
) -> str:
    """Return the content of config.pbtxt: a text of the protobuf message ModelConfig.

    labels: file with the names of the elements
    of each output with one number per name.
    """
    graph = model.graph
    batched = all(not value.type.tensor_type.shape.dim[0].HasField("dim_value") for value in graph.input)
    lines = [
        f"name: {_text(name)}",
        'backend: "onnxruntime"',
        f"max_batch_size: {_BATCH if batched else 0}",
        *(line for value in graph.input for line in _tensor("input", value, batched, "")),
        *(line for value in graph.output for line in _tensor("output", value, batched, labels)),
        *(["dynamic_batching { }"] if batched else []),
    ]
    for key, value in (parameters or {}).items():
        lines.append(f"parameters {{ key: {_text(key)} value {{ string_value: {_text(value)} }} }}")
    return "\n".join(lines) + "\n"


def _tensor(field: str, value: onnx.ValueInfoProto, batched: bool, labels: str) -> Sequence[str]:
    tensor = value.type.tensor_type
    sizes = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim][batched:]
    lines = [f"{field} {{", f"  name: {_text(value.name)}", f"  data_type: {_TYPES[tensor.elem_type]}"]
    lines.append(f"  dims: [ {', '.join(map(str, sizes))} ]")
    if labels and tensor.elem_type == onnx.TensorProto.FLOAT and len(sizes) == (1 if batched else 2):
        lines.append(f"  label_filename: {_text(labels)}")
    return [*lines, "}"]


def _text(value: str) -> str:
    """Return a string of the protobuf text format, which has the escapes of C."""
    return '"' + "".join(_ESCAPES.get(char, char) for char in value) + '"'


MODEL_FILE, ENVIRONMENT_FILE, LOADER = "MLmodel", "python_env.yaml", "mlflow_loader"


# --- MLflow ---------------------------------------------------------------------------------------

_REQUIREMENTS = ("mlflow>=3", "onnx>=1.16", "-r requirements.txt")
# Source of mlflow_loader.py. MLflow imports it from the folder of the export.
_LOADER_SOURCE = '''"""Model of this export for MLflow: mlflow.pyfunc.load_model(FOLDER).predict(images)."""


class Model:
    """Prediction of batches of images.

    images: array (N,H,W) or (N,H,W,3) RGB, or a list of arrays (H,W) or (H,W,3). `predict` returns one object per
    image: regions, verdict, probabilities, and of a segmentation the mask, uint8 (H,W) of class ids.
    """

    def __init__(self, predictor):
        self._predictor = predictor

    def predict(self, images, params=None):
        return [self._predict(image) for image in images]

    def _predict(self, image):
        result = self._predictor.predict(image)
        return result.to_json() if result.mask is None else {**result.to_json(), "mask": result.mask}


def _load_pyfunc(path):
    from predict import Predictor

    return Model(Predictor(path))
'''


def write_mlflow(folder: Path, settings: ModelSettings, source: LayoutSource) -> Parity:
    """Write MLmodel, the loader and the environment into an export. Raises OSError."""
    file = KINDS["onnx"].file
    environment = {
        "python": platform.python_version(),
        "build_dependencies": ["pip", "setuptools", "wheel"],
        "dependencies": list(_REQUIREMENTS),
    }
    write_atomic(folder / f"{LOADER}.py", _LOADER_SOURCE.encode())
    write_atomic(folder / ENVIRONMENT_FILE, _yaml(environment))
    write_atomic(folder / MODEL_FILE, _yaml(_description(settings, file)))
    return source.copied("onnx")


def _description(settings: ModelSettings, file: str) -> dict[str, Any]:
    created = datetime.now(timezone.utc)
    environment = {"virtualenv": ENVIRONMENT_FILE}
    return {
        "flavors": {
            "onnx": {
                "data": file,
                "onnx_version": onnx.__version__,
                "providers": ["CPUExecutionProvider"],
                "code": None,
            },
            "python_function": {
                "loader_module": LOADER,
                "code": ".",
                "data": ".",
                "env": environment,
                "python_version": platform.python_version(),
            },
        },
        "model_uuid": uuid.uuid4().hex,
        "run_id": None,
        "utc_time_created": created.strftime("%Y-%m-%d %H:%M:%S.%f"),
        "signature": {"inputs": json.dumps([_input(settings)]), "outputs": None, "params": None},
        "metadata": facts(settings),
    }


def _input(settings: ModelSettings) -> dict[str, Any]:
    """Return the signature of a batch of images in the number type of the training images."""
    kinds = {255.0: "uint8", 65535.0: "uint16"}
    shape = [-1, -1, -1] if settings.channels == 1 else [-1, -1, -1, 3]
    return {"type": "tensor", "tensor-spec": {"dtype": kinds.get(settings.full_scale, "float32"), "shape": shape}}


def _yaml(content: dict[str, Any]) -> bytes:
    return yaml.safe_dump(content, allow_unicode=True, sort_keys=False).encode()


# --- PaddleSeg and PaddleX ------------------------------------------------------------------------

PADDLEX_FOLDER, STEM = "paddlex", "inference"
SEGMENTATION_FILE, CLASSIFICATION_FILE = "deploy.yaml", "inference.yml"
_LUMA = (0.299, 0.587, 0.114)
_NEVER = 1e6  # threshold that no value of 0..255 reaches: that of the background
_MOST_IMAGES = 20
_MODEL_NAME = "ResNet18"


def write_deployment(folder: Path, settings: ModelSettings, source: LayoutSource) -> Parity:
    """Write the folder if its program gives the results of the run; otherwise no file remains. Raises OSError."""
    if settings.task == "segmentation" and settings.scale != 1:
        return Parity(why=Message("layout.scaled", n=f"{settings.scale:g}"))
    target = folder / PADDLEX_FOLDER
    make_folder(target)
    layer = DeploymentLayer(source.net, settings)
    layer.eval()
    with ascii_folder(target) as place:
        save_layer(layer, settings, place / STEM)
        program = paddle.jit.load(str(place / STEM))
    program.eval()
    # PaddleSeg predicts an image in one pass. The comparison is on images of one tile, which the run does, too.
    eight_bits = dataclasses.replace(settings, full_scale=255.0)
    images = [(name, partial(_fitted, read, eight_bits)) for name, read in source.images[:_MOST_IMAGES]]
    result = compare_line(
        settings, DygraphEngine(source.net), partial(outputs_of, program, settings), images, lambda _: source.check()
    )
    if not result.passed:
        remove_tree(target)
        return result
    name = SEGMENTATION_FILE if settings.task == "segmentation" else CLASSIFICATION_FILE
    content = yaml.safe_dump(description(settings), allow_unicode=True, sort_keys=False)
    write_atomic(target / name, content.encode())
    return result


def normalization(settings: ModelSettings) -> tuple[list[float], list[float]]:
    """Return mean and standard deviation of the three channels, for pixels of 0 to 1."""
    span = (settings.high - settings.low) / settings.full_scale
    low = settings.low / settings.full_scale
    factor = 3 // settings.channels
    return [low + mean * span for mean in settings.mean] * factor, [std * span for std in settings.std] * factor


class DeploymentLayer(nn.Layer):
    """Network with the steps that deployment tools leave to the program. Input: float32 (N,3,H,W), normalized RGB."""

    def __init__(self, net: nn.Layer, settings: ModelSettings) -> None:
        super().__init__()
        self.net = net
        self._settings = settings
        mean, std = (np.array(values, np.float32) for values in (settings.mean, settings.std))
        bounds = ((MIN_VALUE - mean) / std, (MAX_VALUE - mean) / std)
        self._low, self._high = (paddle.to_tensor(values[None, :, None, None]) for values in bounds)
        self._luma = paddle.to_tensor(np.array(_LUMA, np.float32)[None, :, None, None])
        levels = [max(1, math.ceil(255 * threshold - 1e-9)) for threshold in settings.thresholds]
        self._levels = paddle.to_tensor(np.array([_NEVER, *levels], np.float32)[None, :, None, None])
        self._ids = paddle.to_tensor(np.array([0, *(entry.id for entry in settings.classes)], np.int32))

    def forward(self, x: paddle.Tensor) -> Any:
        settings = self._settings
        if settings.channels == 1:
            x = paddle.sum(x * self._luma, axis=1, keepdim=True)
        x = paddle.minimum(paddle.maximum(x, self._low), self._high)
        if settings.task == "classification":
            logits = paddle.log(paddle.clip(self._probabilities(x), min=1e-30)) / settings.temperature
            return nn.functional.softmax(logits, axis=1)
        height, width = paddle.shape(x)[2], paddle.shape(x)[3]
        x = paddle.index_select(x, _mirrored(height, settings.multiple), axis=2)
        x = paddle.index_select(x, _mirrored(width, settings.multiple), axis=3)
        probabilities = self._probabilities(x)[:, :, :height, :width]
        scores = paddle.round(probabilities * 255)
        kept = paddle.where(scores >= self._levels, scores, paddle.zeros_like(scores))
        index = paddle.argmax(kept, axis=1)  # the first of equals
        ids = paddle.gather(self._ids, paddle.flatten(index)).reshape(paddle.shape(index))
        return ids, probabilities

    def _probabilities(self, x: paddle.Tensor) -> paddle.Tensor:
        total = nn.functional.softmax(self.net(x), axis=1)
        for name in self._settings.mirrored:
            axes = list(MIRRORED[name])
            output = nn.functional.softmax(self.net(paddle.flip(x, axes)), axis=1)
            total = total + (paddle.flip(output, axes) if len(output.shape) == 4 else output)
        return total / (1 + len(self._settings.mirrored))


def _mirrored(length: paddle.Tensor, multiple: int) -> paddle.Tensor:
    """Return the indices that extend a side to the next multiple by mirroring, as `tiles.cut` does."""
    length = length.astype("int64")
    missing = (multiple - length % multiple) % multiple
    index = paddle.arange(0, length + missing, dtype="int64")
    reflected = paddle.where(index < length, index, 2 * (length - 1) - index)
    period = index % (2 * length)
    symmetric = paddle.where(period < length, period, 2 * length - 1 - period)
    return paddle.where(missing < length, reflected, symmetric)


def save_layer(layer: DeploymentLayer, settings: ModelSettings, stem: Path) -> None:
    """Write stem.json and stem.pdiparams, for batches of any size; a UNet also accepts images of any size."""
    sides = [None, None] if settings.task == "segmentation" else [settings.input_size] * 2
    paddle.jit.save(layer, str(stem), input_spec=[InputSpec([None, 3, *sides], "float32", name="x")])


def description(settings: ModelSettings) -> dict[str, Any]:
    """Return the content of deploy.yaml, or of inference.yml for a ResNet."""
    mean, std = normalization(settings)
    about = facts(settings)
    if settings.task == "classification":
        size = [settings.input_size] * 2
        steps = [
            {"ResizeImage": {"size": size, "interpolation": "AREA"}},
            {"NormalizeImage": {"channel_num": 3, "mean": mean, "std": std, "scale": 1 / 255, "order": ""}},
            {"ToCHWImage": None},
        ]
        topk = {"topk": min(5, len(settings.verdicts)), "label_list": list(settings.verdicts)}
        return {
            # PaddleX selects its image classifier by the name of one of its models.
            "Global": {"model_name": _MODEL_NAME},
            "PreProcess": {"transform_ops": steps},
            "PostProcess": {"Topk": topk},
            "Model": about,
        }
    return {
        "Deploy": {
            "model": f"{STEM}.json",
            "params": f"{STEM}.pdiparams",
            "transforms": [{"type": "Normalize", "mean": mean, "std": std}],
            "input_shape": [-1, 3, -1, -1],
            "output_op": "argmax",
            "output_dtype": "int32",
        },
        "Labels": {0: "background", **{entry.id: entry.name for entry in settings.classes}},
        "Model": about,
    }


# --- comparison with the run --------------------------------------------------------------------------


def _fitted(read: Any, settings: ModelSettings) -> np.ndarray:
    """Return an image as 8-bit gray values or RGB; for a UNet its upper left corner of at most one tile."""
    image = np.asarray(read())
    if settings.task == "segmentation":
        image = image[: settings.tile, : settings.tile]
        return fit_image(image, settings, image.shape[:2])
    return fit_image(image, settings, image.shape[:2])


def outputs_of(program: Any, settings: ModelSettings, image: np.ndarray) -> dict[str, np.ndarray]:
    """Return the outputs for an image (H,W) or (H,W,3), as the deployment tools compute them from a file."""
    pixels = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    if settings.task == "classification" and pixels.shape[:2] != (settings.input_size,) * 2:
        pixels = cv2.resize(pixels, (settings.input_size,) * 2, interpolation=cv2.INTER_AREA)
    mean, std = (np.array(values, np.float32) for values in normalization(settings))
    batch = ((pixels.astype(np.float32) / np.float32(255) - mean) / std).transpose(2, 0, 1)[None]
    with paddle.no_grad():
        outputs = program(paddle.to_tensor(np.ascontiguousarray(batch)))
    if settings.task == "classification":
        probabilities = outputs.numpy()
        best = int(probabilities[0].argmax())
        verdict = best if probabilities[0, best] >= settings.unsure else UNSURE_INDEX
        return {PROBABILITIES: probabilities, VERDICT: np.array([verdict])}
    ids, probabilities = (output.numpy() for output in outputs)
    areas = [int(np.count_nonzero(ids == entry.id)) for entry in settings.classes]
    return {CLASS_MAP: ids.astype(np.uint8), CLASS_AREAS: np.array([areas]), PROBABILITIES: probabilities}
