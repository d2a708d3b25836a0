"""Checkpoints of a run: the state in `last/` from which training resumes, and weights for use.

`last/` is switched from one state to the next by replacing one file, state.json, which names the others: at any
time, also after kill -9, it describes a complete state. Weights are safetensors, which cannot execute code.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as decode
from safetensors.numpy import save as encode

from workbench.core.json_files import load_object
from workbench.core.messages import Message
from workbench.core.problems import RunBroken
from workbench.core.project.storage import write_bytes, write_json
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.json_io import parse_json

Arrays = dict[str, np.ndarray]
WEIGHTS = "weights.safetensors"
_FORMAT = 1
_METADATA_KEY = "about"


def save_last(run: Run, step: int, tensors: dict[str, Arrays], state: dict[str, Any]) -> None:
    """Save a state to `last/`. tensors: file stem ("weights", "optimiser", "average") to arrays by name.

    Raise CannotWrite; the previous state is then intact.
    """
    previous = _read_state(run.last / "state.json") if run.resumable else {}
    # Two alternating sets of file names: files of the previous state are not touched until the switch.
    turn = 0 if previous.get("turn", 1) == 1 else 1
    files = {}
    for stem, arrays in tensors.items():
        files[stem] = f"{stem}.{turn}.safetensors"
        write_bytes(run.last / files[stem], encode(arrays))
    write_json(run.last / "state.json", {"format": _FORMAT, "step": step, "turn": turn, "files": files, **state})
    for name in (Path(name).name for name in previous.get("files", {}).values() if isinstance(name, str)):
        if name.endswith(".safetensors") and name not in files.values():  # only our files in `last/`
            with contextlib.suppress(OSError):  # held open by a reader; the next save but one overwrites it
                (run.last / name).unlink(missing_ok=True)


def load_last(run: Run) -> tuple[dict[str, Arrays], dict[str, Any]]:
    """Return the tensors and the state of `last/`. Raise RunBroken."""
    state = _read_state(run.last / "state.json")
    try:
        names = {str(stem): Path(name).name for stem, name in state["files"].items()}
        return {stem: load_arrays(run.last / name) for stem, name in names.items()}, state
    except (KeyError, TypeError, AttributeError) as error:
        raise RunBroken(
            path=str(run.last / "state.json"), why=Message("checkpoint.file_damaged", name=error)
        ) from error


def save_arrays(path: Path, arrays: Arrays, metadata: dict[str, Any]) -> None:
    """Save arrays and the metadata `metadata` in one file, so that neither exists without the other."""
    write_bytes(path, encode(arrays, metadata={_METADATA_KEY: json.dumps(metadata)}))


def about_arrays(path: Path) -> dict[str, Any]:
    """Return the metadata given to `save_arrays`; empty if there is none or the file cannot be read."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = parse_json((file.metadata() or {}).get(_METADATA_KEY, "{}"))
    except (OSError, SafetensorError, ValueError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


def load_arrays(path: Path) -> Arrays:
    """Return arrays by name. Raise RunBroken."""
    try:
        return decode(path.read_bytes())
    except (OSError, SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise RunBroken(path=str(path), why=why) from error


def settings_hash(settings: TrainingSettings) -> str:
    """Return a hash of the training settings without their reasons."""
    text = json.dumps(settings.model_dump(mode="json", exclude={"reasons"}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = load_object(path, RunBroken, finite=False)
    except FileNotFoundError as error:
        raise RunBroken(path=str(path), why=Message("file.missing")) from error
    stored_format = state.get("format")
    if (
        not isinstance(stored_format, int)
        or isinstance(stored_format, bool)
        or not isinstance(state.get("files"), dict)
    ):
        raise RunBroken(path=str(path), why=Message("checkpoint.no_state"))
    if stored_format > _FORMAT:
        raise RunBroken(path=str(path), why=Message("file.newer"))
    return state
