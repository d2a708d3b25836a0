"""Model repository for NVIDIA Triton Inference Server: `tritonserver --model-repository=EXPORT/triton`.

triton/NAME/config.pbtxt        inputs, outputs, and as parameters the metadata and the preprocessing
triton/NAME/labels.txt          of a ResNet: names of the verdicts, for Triton's classification requests
triton/NAME/1/model.onnx        copy of the network; the client normalizes images and applies thresholds
triton/NAME-line/               the self-contained model, if the export has one; all steps are included
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx

from workbench.inference.engines.registry import KINDS
from workbench.inference.io.file_access import make_folder, read_regular, write_atomic
from workbench.inference.model_settings import ModelSettings
from workbench.training.export.layouts import LayoutSource, preprocessing, safe_name
from workbench.training.export.line_export import LINE_FOLDER, LINE_MODEL
from workbench.training.export.parity import Parity

_ESCAPES = {**{chr(code): f"\\{code:03o}" for code in range(32)}, "\n": "\\n", '"': '\\"', "\\": "\\\\"}
_BATCH = 4  # largest batch that Triton may form, as its own default
FOLDER, LABELS = "triton", "labels.txt"
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
    _write_model(folder / FOLDER / name, folder / KINDS["onnx"].file, settings, preprocessing(settings))
    line = folder / LINE_FOLDER / LINE_MODEL
    if line.exists():
        _write_model(folder / FOLDER / f"{name}-line", line, settings, {})
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
