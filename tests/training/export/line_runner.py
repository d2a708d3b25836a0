"""Run a line model for `csharp_stand_in.cs`: line_runner.py MODEL FOLDER."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

model, folder = sys.argv[1], Path(sys.argv[2])
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
image = session.get_inputs()[0]
kind = np.dtype(image.type.removeprefix("tensor(").removesuffix(")"))
if not (folder / "input").exists():
    for key, value in session.get_modelmeta().custom_metadata_map.items():
        (folder / f"property.{key}").write_text(value, "utf-8")
    (folder / "outputs").write_text("\n".join(output.name for output in session.get_outputs()))
    (folder / "shape").write_text(" ".join(map(str, (kind.name, *image.shape))))
else:
    pixels = np.frombuffer((folder / "input").read_bytes(), kind).reshape(image.shape)
    names = [output.name for output in session.get_outputs()]
    for name, values in zip(names, session.run(names, {"image": pixels})):
        (folder / f"output.{name}").write_bytes(np.ascontiguousarray(values).tobytes())
