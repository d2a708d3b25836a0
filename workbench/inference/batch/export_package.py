"""Copy of this package for an export: its sources, predict.py and requirements.txt.

Checks of an export: checksums of its files, and comparison of a model's results with those recorded at export.

checks.json maps file names to SHA-256. SHA256SUMS lists every file in the format of `sha256sum -c`, for users and other
programs, and for predict.py, which verifies the code before importing it.

Of the golden images, integer arithmetic (thresholds, minimum areas, regions) must reproduce a mask byte for byte. The
network's probabilities are floating-point sums whose order differs between CPUs and engines, so at few pixels a score
may round to the neighboring one of 256 levels. Engines with reduced precision have expected results of their own and
wider tolerances, because tiny differences before a rounding become whole levels.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..engines import EngineError
from ..engines.registry import KINDS
from ..input_guard import is_withheld
from ..inspection_area import AreaMaps, area_of
from ..io import file_access
from ..io.file_access import open_file, read_regular, write_atomic
from ..io.image_io import ReadError, decode_image, read_image, write_png
from ..io.json_io import JsonError, read_json
from ..model_settings import MODEL_FILE, UNSURE, ModelSettings, load_settings, settings_hash
from ..part_position import is_lost
from ..predictor import Prediction, Predictor, apply_thresholds
from ..regions import image_verdict, measure_classes, select_regions, verdict_table

CHECKS_FILE = "checks.json"
SUMS_FILE = "SHA256SUMS"
GOLDEN_FOLDER = "golden"
_FORMAT = 1
_UNLIKE_TOLERANCE = 0.05  # of an unlike score near its limit 1
_PROBABILITY_TOLERANCE = 1e-4
_PIXEL_TOLERANCE = 0.01  # share of scores that may differ by one level; rounding affects far fewer
_REDUCED_PROBABILITY = 0.02  # for engines with reduced precision
_REDUCED_LEVELS = 8  # of 255; smaller differences of scores are not counted
_MOST_REGIONS = 10_000  # stored of an image; a weak network marks hundreds of thousands
_REDUCED_MEAN = 0.25  # levels, mean over all scores; detects another network, which changes most scores slightly


def write_checks(folder: Path | str) -> None:
    """Write checks.json and SHA256SUMS for an otherwise complete export. Raises OSError, SettingsError.

    checks.json covers everything except code that determines a result: settings, networks and golden images. The code's
    behavior is checked by the golden images. SHA256SUMS covers every file.
    """
    folder = Path(folder)
    hashes = {path.relative_to(folder).as_posix(): file_sum(path) for path in _checked_files(folder)}
    text = json.dumps(hashes, indent=2, ensure_ascii=False, sort_keys=True)
    write_atomic(folder / CHECKS_FILE, f"{text}\n".encode())
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    lines = [f"{file_sum(path)}  {path.relative_to(folder).as_posix()}\n" for path in files if path.name != SUMS_FILE]
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
                same = file_sum(path) == expected
            except OSError as error:
                problems.append(f"{name} cannot be opened: {file_access.reason(error)}.")
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


def file_sum(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises OSError."""
    digest = hashlib.sha256()
    with open_file(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write_reference_results(
    folder: Path | str, predictor: Predictor, images: Sequence[tuple[str, Path | str]], *, apart: str = ""
) -> None:
    """Store images, byte for byte, and their results from `predictor` in the sub-folder golden.

    images: (display name, file). apart: engine whose results are stored in a folder of their own. Raises ReadError,
        EngineError, OSError.
    """
    images_folder = Path(folder) / GOLDEN_FOLDER
    golden = images_folder / apart
    entries = []
    for number, (name, path) in enumerate(images, start=1):
        data = read_regular(Path(path))
        image = decode_image(data, str(path))
        result = predictor.predict(image, keep_probabilities=True, most_regions=_MOST_REGIONS)
        entry: dict[str, Any] = {
            "name": name,
            "picture": f"{number}{Path(path).suffix.lower()}",
            "pixels": int(image.shape[0] * image.shape[1]),
        }
        write_atomic(images_folder / entry["picture"], data)
        if result.mask is not None and result.class_scores is not None:
            entry.update(mask=f"{number}.mask.png", scores=f"{number}.scores.png")
            write_png(golden / entry["mask"], result.mask)
            # The class planes are stacked vertically, since a PNG cannot hold a 3-D array.
            write_png(golden / entry["scores"], result.class_scores.reshape(-1, image.shape[1]))
        entry["expected"] = f"{number}.json"
        expected = {key: value for key, value in result.to_json().items() if key != "milliseconds"}
        expected["left_out"] = result.left_out
        write_atomic(golden / entry["expected"], _json(expected))
        entries.append(entry)
    content = {"format": _FORMAT, "settings": settings_hash(predictor.settings), "pictures": entries}
    write_atomic(golden / "golden.json", _json(content))


def self_test(folder: Path | str, predictor: Predictor, quick: bool = False) -> list[str]:
    """Return the differences from the expected results, one sentence each; empty if there are none.

    quick: test only the smallest golden image.
    """
    images_folder = Path(folder) / GOLDEN_FOLDER
    engine_folder = images_folder / _engine_name(predictor)
    golden = engine_folder if (engine_folder / "golden.json").is_file() else images_folder
    problems = []
    try:
        content = read_json(golden / "golden.json")
        if content["format"] != _FORMAT:
            return [f"The reference results have the format {content['format']}, not {_FORMAT}."]
        entries = sorted(content["pictures"], key=lambda entry: entry["pixels"])
        if not entries:
            return ["There are no reference results."]
        if content["settings"] != settings_hash(predictor.settings):
            problems.append("The settings in model.json are not those that the model was exported with.")
        for entry in entries[:1] if quick else entries:
            problems += [
                f"{entry['name']}: {problem}" for problem in _differences(images_folder, golden, entry, predictor)
            ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, ReadError) as error:
        problems.append(f"The reference results cannot be read: {error}")
    except EngineError as error:
        problems.append(str(error))
    return problems


def _engine_name(predictor: Predictor) -> str:
    name = getattr(predictor.engine, "name", "")
    return name if name in KINDS else ""


def _differences(images_folder: Path, golden: Path, entry: dict[str, Any], predictor: Predictor) -> list[str]:
    image = read_image(_file_inside(images_folder, entry["picture"]))
    expected = read_json(_file_inside(golden, entry["expected"]))
    result = predictor.predict(image, keep_probabilities=True, most_regions=0)
    if result.mask is None:
        return _verdict_differences(expected, result, _is_reduced(predictor))
    mask = read_image(_file_inside(golden, entry["mask"]))
    stack = read_image(_file_inside(golden, entry["scores"]))
    class_scores = stack.reshape(-1, *mask.shape)
    tolerance = _REDUCED_LEVELS if _is_reduced(predictor) else 0
    return _mask_differences(expected, mask, class_scores, result, predictor.settings, tolerance)


def _is_reduced(predictor: Predictor) -> bool:
    name = _engine_name(predictor)
    return bool(name and KINDS[name].reduced)


def _score_decides(expected: dict[str, Any], result: Prediction) -> bool:
    """Return True if the verdict depends on an unlike score that this engine has not, or on the other side of 1."""
    given = (expected.get("input") or {}).get("unlike")
    own = None if result.input is None else result.input.unlike
    if given is None or own is None:
        return given is not None and given > 1
    return (given > 1) != (own > 1) and abs(given - own) <= _UNLIKE_TOLERANCE


def _verdict_differences(expected: dict[str, Any], result: Prediction, reduced: bool) -> list[str]:
    assert result.probabilities is not None
    withheld = UNSURE in (result.verdict, expected["verdict"]) and _score_decides(expected, result)
    if result.verdict != expected["verdict"] and not withheld:
        return [f"the verdict is {result.verdict}, not {expected['verdict']}."]
    if set(result.probabilities) != set(expected["probabilities"]):
        return ["the verdicts have other names."]
    largest = max(abs(expected["probabilities"][name] - p) for name, p in result.probabilities.items())
    allowed = _REDUCED_PROBABILITY if reduced else _PROBABILITY_TOLERANCE
    return [f"a probability differs by {largest:.2g}."] if largest > allowed else []


def _mask_differences(
    expected: dict[str, Any],
    mask: np.ndarray,
    class_scores: np.ndarray,
    result: Prediction,
    settings: ModelSettings,
    tolerance: int,
) -> list[str]:
    assert result.mask is not None and result.class_scores is not None
    if result.class_scores.shape != class_scores.shape:
        return [f"the scores have the shape {result.class_scores.shape}, not {class_scores.shape}."]
    problems = []
    distance = np.abs(result.class_scores.astype(np.int16) - class_scores)
    deviating = int(np.count_nonzero(distance > tolerance))
    shifted = distance.mean() > _REDUCED_MEAN if tolerance else distance.max() > 1
    if shifted or deviating > 4 + _PIXEL_TOLERANCE * distance.size:
        worst = int(distance.max())
        problems.append(f"the network's scores differ at {deviating} pixels, by up to {worst} of 255.")
    expected_mask, scores = apply_thresholds(class_scores, settings)
    differing = np.count_nonzero(expected_mask != mask)
    if not differing and not deviating:
        differing = np.count_nonzero(result.mask != mask)
    if differing:
        problems.append(f"the mask differs at {differing} pixels.")
    measured = measure_classes(expected_mask, scores, settings)
    # Older exports store all regions.
    found, left_out = select_regions(measured, settings, _MOST_REGIONS if "left_out" in expected else None)
    regions = [region.to_json() for region in found]
    known = [
        {name: value for name, value in region.items() if name in entry}  # older exports store fewer values per region
        for region, entry in zip(regions, expected["regions"])
    ]
    counts = (len(regions), left_out) == (len(expected["regions"]), expected.get("left_out", 0))
    if not counts or known != expected["regions"]:
        problems.append("the regions differ.")
    if "verdict_reason" in expected:  # older exports give no verdict for a segmentation
        area = area_of(settings.areas, "")
        moved = area if area is None or result.placement is None else area.moved(result.placement)
        maps = AreaMaps.of(moved, expected_mask.shape)
        verdict = image_verdict(verdict_table(expected_mask, scores, measured, settings, maps), settings)
        name, reason = (None, None) if verdict is None else (verdict.name, verdict.reason)
        if is_withheld(settings.input, result.input) or is_lost(result.placement):
            name, reason = UNSURE, None
        withheld = UNSURE in (name, expected["verdict"]) and _score_decides(expected, result)
        if (name, reason) != (expected["verdict"], expected["verdict_reason"]) and not withheld:
            problems.append(f"the verdict is {name}, not {expected['verdict']}, or has another reason.")
    return problems


def _file_inside(golden: Path, name: str) -> Path:
    path = golden / name
    if Path(name).name != name or path.resolve().parent != golden.resolve():
        raise ValueError(f"{name!r} is not the name of a file beside it")
    return path


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


_SOURCE_FOLDER = Path(__file__).resolve().parents[1]
_PACKAGE_NAME = "inference"

# Source of predict.py. It verifies the code before importing it, so it is short and uses only the standard library.
_SCRIPT = '''"""Run this model: python predict.py IMAGES... --out results (or: from predict import Predictor)."""

import sys


def open_log():
    """Return the log of a program without a console: predict.log in the folder of results, or a temporary file."""
    import argparse
    import tempfile
    import time
    from pathlib import Path

    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--out", type=Path, default=Path("results"))
    how = {"encoding": "utf-8", "errors": "backslashreplace", "buffering": 1}
    try:
        folder = parser.parse_known_args()[0].out
        folder.mkdir(parents=True, exist_ok=True)
        log = open(folder / "predict.log", "a", **how)
    except (OSError, SystemExit):
        log = tempfile.NamedTemporaryFile("a", prefix="predict-", suffix=".log", delete=False, **how)
    print(time.strftime("%Y-%m-%d %H:%M:%S"), ascii(sys.argv[1:]), file=log)
    return log


def replace_missing_streams():
    """Open the log in place of a missing stdout or stderr, as in pythonw, services and scheduled tasks."""
    import os

    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the next file would get this number, and with it what libraries write to a console
            os.open(os.devnull, os.O_RDWR)
    missing = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    log = open_log() if missing else None
    for name in missing:
        setattr(sys, name, log)


def refuse(why):
    """End the program with one sentence on stderr, and with --json as an object on stdout too."""
    why = why if why.isprintable() else ascii(why)[1:-1]
    if "--json" in sys.argv:
        import json

        print(json.dumps({"error": why}), flush=True)
    sys.exit(why)


if __name__ == "__main__":
    replace_missing_streams()
    no_memory = "There is not enough memory. Close other programs, or use smaller images."
    sys.excepthook = lambda kind, error, trace: refuse(
        no_memory if issubclass(kind, MemoryError) else f"Unexpected: {kind.__name__}: {error}"
    )

import hashlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def damage():
    """Return a sentence about the first file of code that is not as it was exported, or "" if there is none."""
    try:
        lines = (HERE / "SHA256SUMS").read_bytes().decode("utf-8", "replace").split("\\n")
    except OSError:
        return "This export is damaged: SHA256SUMS is missing or cannot be read."
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines) if name.endswith(".py")}
    if not {"predict.py", "inference/batch/runner.py"} <= set(sums):
        return "This export is damaged: SHA256SUMS does not list the code."
    for name in sorted(sums):
        try:
            found = hashlib.sha256((HERE / name).read_bytes()).hexdigest()
        except (OSError, ValueError):
            return f"This export is damaged: {name} is missing or cannot be read."
        if found != sums[name]:
            return f"This export is damaged: {name} has been changed since the export was written."
    return ""


def main():
    if sys.version_info < (3, 10):
        refuse("This needs Python 3.10 or newer.")
    why = "" if "--skip-self-test" in sys.argv else damage()
    if why:
        refuse(why)
    try:
        from inference.batch import runner
        from inference.io.opencv import import_opencv

        import_opencv()
    except ImportError as error:
        needed = HERE / "requirements.txt"
        refuse(f'{error}. Install what is needed: "{sys.executable}" -m pip install -r "{needed}"')
    return runner.main(sys.argv[1:], HERE)


def Predictor(folder=HERE, **options):
    """The model in `folder`. Predictor().predict(array), gray or RGB, gives .mask, .regions, .verdict."""
    why = damage()
    if why:
        raise ImportError(why)
    from inference import predictor

    return predictor.Predictor.open(folder, **options)


if __name__ == "__main__":
    sys.exit(main())
'''

_DEFAULT_ENGINE = "onnx"  # small, fast on all platforms, and used by the application
_COMMON_REQUIREMENTS = ("numpy>=2", "opencv-python-headless>=4.10")
_OPTIONAL_REQUIREMENTS = """\
# TIFF kinds that OpenCV cannot decode:
# tifffile>=2024.1.30
"""


def write_package(folder: Path | str, engines: Sequence[str] = ("onnx",)) -> None:
    """Write the code of an export into `folder`: inference/, predict.py, requirements.txt.

    engines: engines of the export, fastest first. requirements.txt is for the engine that runs everywhere; others with
        different requirements get a requirements-NAME.txt.

    Raises OSError, also if the sources are missing because the application was packaged without them.
    """
    folder = Path(folder)
    sources = sorted(_SOURCE_FOLDER.rglob("*.py"))
    if _SOURCE_FOLDER / "batch" / "runner.py" not in sources:
        raise FileNotFoundError(f"the sources of the export's runner are missing from {_SOURCE_FOLDER}")
    for source in sources:
        write_atomic(folder / _PACKAGE_NAME / source.relative_to(_SOURCE_FOLDER), source.read_bytes())
    write_atomic(folder / "predict.py", _SCRIPT.encode())
    for name, file in requirement_files(engines).items():
        write_atomic(folder / file, _requirements(name, engines).encode())


def requirement_files(engines: Sequence[str]) -> dict[str, str]:
    """Return engine name to requirements file, requirements.txt first; engines covered by another's file are omitted.

    engines: engines of an export, fastest first.
    """
    if not engines:
        return {}
    main = _DEFAULT_ENGINE if _DEFAULT_ENGINE in engines else engines[0]
    files = {main: "requirements.txt"}
    for name in engines:
        if not _file_for(name, files):
            files[name] = f"requirements-{name}.txt"
    return files


def _file_for(name: str, files: Mapping[str, str]) -> str:
    """Return the requirements file that covers an engine, possibly another engine's; "" if there is none."""
    return next(
        (file for other, file in files.items() if set(KINDS[name].requirements) <= set(KINDS[other].requirements)), ""
    )


def _requirements(name: str, engines: Sequence[str]) -> str:
    """Return the text of an engine's requirements file, with references to those of the other engines."""
    files = requirement_files(engines)
    lines = "\n".join([*_COMMON_REQUIREMENTS, *KINDS[name].requirements])
    others = [file for other, file in files.items() if other != name]
    comments = f"# For other engines: {', '.join(others)}\n" if others else ""
    fastest_file = _file_for(engines[0], files)
    if fastest_file != files[name]:
        comments += f"# The quickest where this was made: {engines[0]}, {fastest_file}\n"
    return f"{lines}\n{_OPTIONAL_REQUIREMENTS}{comments}"
