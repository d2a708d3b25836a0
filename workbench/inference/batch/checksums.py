"""Integrity check of an export: checks.json, which maps file names to SHA-256.

SHA256SUMS lists every file in the format of `sha256sum -c`, for users and other programs, and for predict.py, which
verifies the code before importing it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from ..io.atomic_write import write_atomic  # noqa: TID252
from ..io.json_io import JsonError, read_json  # noqa: TID252
from ..model_settings import MODEL_FILE, ModelSettings, load_settings  # noqa: TID252

CHECKS_FILE = "checks.json"
SUMS_FILE = "SHA256SUMS"
GOLDEN_FOLDER = "golden"


def write_checks(folder: Path | str) -> None:
    """Write checks.json and SHA256SUMS for an otherwise complete export. Raises OSError, SettingsError.

    checks.json covers everything except code that determines a result: settings, networks and golden images. The code's
    behavior is checked by the golden images. SHA256SUMS covers every file.
    """
    folder = Path(folder)
    hashes = {path.relative_to(folder).as_posix(): _sha256(path) for path in _checked_files(folder)}
    text = json.dumps(hashes, indent=2, ensure_ascii=False, sort_keys=True)
    write_atomic(folder / CHECKS_FILE, f"{text}\n".encode())
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    lines = [f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in files if path.name != SUMS_FILE]
    write_atomic(folder / SUMS_FILE, "".join(lines).encode())


def verify_checks(folder: Path | str) -> list[str]:
    """Return what is missing or changed, one sentence each; empty if the export is intact."""
    folder = Path(folder)
    try:
        hashes = read_json(folder / CHECKS_FILE)
    except (FileNotFoundError, JsonError):
        return [f"{CHECKS_FILE} is missing or cannot be read."]
    if not isinstance(hashes, dict) or MODEL_FILE not in hashes:
        return [f"{CHECKS_FILE} is not a list of files."]
    problems = []
    for name, expected in sorted(hashes.items()):
        path = folder / name
        if not _can_be_name(name):
            problems.append(f"{CHECKS_FILE} names a file that cannot exist.")
        elif not path.resolve().is_relative_to(folder.resolve()):
            problems.append(f"{CHECKS_FILE} names a file outside the folder: {name}.")
        elif not path.is_file():
            problems.append(f"{name} is missing.")
        else:
            try:
                same = _sha256(path) == expected
            except OSError as error:
                problems.append(f"{name} cannot be opened: {error.strerror or error}.")
                continue
            if not same:
                problems.append(f"{name} has been changed since the export was written.")
    return problems


def _can_be_name(name: str) -> bool:
    return len(name) < 4000 and all(len(part.encode()) < 256 for part in Path(name).parts)


def network_files(settings: ModelSettings) -> list[str]:
    """Return the files of a model's networks, relative to its folder, including Paddle's separate weight files."""
    names = []
    for name in dict.fromkeys(settings.files.values()):
        names.append(name)
        if Path(name).suffix in (".json", ".pdmodel"):
            names.append(Path(name).with_suffix(".pdiparams").as_posix())
    return names


def _checked_files(folder: Path) -> list[Path]:
    settings = load_settings(folder / MODEL_FILE)
    golden = sorted(path for path in (folder / GOLDEN_FOLDER).rglob("*") if path.is_file())
    return [folder / MODEL_FILE, *(folder / name for name in network_files(settings)), *golden]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
