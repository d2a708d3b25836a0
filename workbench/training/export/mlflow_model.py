"""MLflow model: the folder of the export is one, with `MLmodel` in it.

`mlflow.onnx.load_model(EXPORT)` returns the network. `mlflow.pyfunc.load_model(EXPORT)`, and thereby `mlflow models
serve -m EXPORT`, predict images with all steps of the export: regions and mask, or the verdict.
"""

from __future__ import annotations

import json
import platform
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import onnx
import yaml

from workbench.inference.engines.registry import KINDS
from workbench.inference.io.file_access import write_atomic
from workbench.inference.model_settings import ModelSettings
from workbench.training.export.layouts import LayoutSource, facts
from workbench.training.export.parity import Parity

MODEL_FILE, ENVIRONMENT_FILE, LOADER = "MLmodel", "python_env.yaml", "mlflow_loader"
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


def write_model(folder: Path, settings: ModelSettings, source: LayoutSource) -> Parity:
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
