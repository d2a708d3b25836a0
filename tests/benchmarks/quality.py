"""Quality of models trained for some minutes, on withheld images of public sets, in comparison with usual baselines.

    python tests/benchmarks/quality.py [--sets tiles,kinds,cracks,welds,boards,steel,verdicts,few]
        [--minutes 15] [--seeds 0,1,2] [--folds 0] [--of 4] [--rivals textbook,forest,optimizer=adamw]
        [--labels 5,10,20,40,80] [--by-picture] [--out RESULTS.jsonl] [--keep FOLDER]

Our models are made with the public commands: create, import, train, predict, evaluate. The images are those of
../shared/data or WORKBENCH_DATA. Groups of images that show one part are withheld together and are not in the project.
--by-picture withholds single images, as publications do: other images of the same part are then training images. The
textbook UNet (textbook.py) is trained for the same time in our environment, so that training settings are compared
rather than libraries; its threshold, and that of the forest (random_forest.py), are fitted on a part of the training
images. A competitor KEY=VALUE is our model with that training setting. Each row is printed when it is complete and
appended to --out; rows that are there are not repeated. The tables at the end are means over seeds and folds.

    tiles     magnetic-tile, defect or not        kinds     magnetic-tile with its five kinds of defects
    cracks    crackforest                         welds     gdxray-welds, films of 5,000 pixels
    steel     neu-det, six kinds (ResNet)         verdicts  folders of magnetic-tile as verdicts (ResNet), unbalanced
    boards    deeppcb, boxes of all faults
    few       tiles with 5 to 80 labeled images, --few-minutes each
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from tests.benchmarks import image_sets as sets  # noqa: E402
from tests.benchmarks.image_sets import SetImage  # noqa: E402
from tests.core.evaluation.mask_counts import figures_of  # noqa: E402
from workbench.core.evaluation.figure_texts import mask_report  # noqa: E402
from workbench.core.runs.launch import worker_environment  # noqa: E402
from workbench.inference.cpu_environment import cores  # noqa: E402

HERE = Path(__file__).resolve().parent
MINUTES = dict.fromkeys(("tiles", "kinds"), 15.0)
MINUTES |= dict.fromkeys(("cracks", "welds", "boards", "steel", "verdicts"), 10.0)
SOURCES: dict[str, tuple[str, Callable[[Path, Path], list[SetImage]]]] = {
    "tiles": ("magnetic-tile", sets.magnetic_tile),
    "kinds": ("magnetic-tile", sets.magnetic_tile),
    "few": ("magnetic-tile", sets.magnetic_tile),
    "verdicts": ("magnetic-tile", sets.magnetic_tile),
    "cracks": ("crackforest", sets.crackforest),
    "welds": ("gdxray-welds", sets.gdxray_welds),
    "boards": ("deeppcb", sets.deeppcb),
    "steel": ("neu-det", sets.neu_det),
}
NEAR = 2  # pixels by which a crack may lie beside its label


class Failed(Exception):
    """Failure of a competitor, with the reason."""


# --- competitors ------------------------------------------------------------------------------------------


def workbench(*arguments: object) -> dict[str, Any]:
    """Run a command of the public command line with --json."""
    command = [sys.executable, "-m", "workbench", *map(str, arguments), "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(sets.ROOT), "PYTHONUTF8": "1"}
    )
    if done.returncode:
        raise Failed(f"{arguments[0]}: {(done.stderr.strip().splitlines() or ['it ended without a word'])[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def most_memory(command: list[str], place: Path) -> tuple[str, float]:
    """Return the output of a command, and the peak memory in megabytes of it and its children."""
    output_text = place / "output.txt"  # not a pipe, which would be full before it is read
    with output_text.open("wb") as stream:
        child = psutil.Popen(
            command, stdout=stream, env={**os.environ, "PYTHONPATH": str(sets.ROOT), "PYTHONUTF8": "1"}
        )
        most = 0.0
        while child.poll() is None:
            try:
                family = [child, *child.children(recursive=True)]
                most = max(most, sum(item.memory_info().rss for item in family) / 2**20)
            except psutil.Error:
                pass
            time.sleep(0.05)
    if child.returncode:
        raise Failed(f"predict ended with {child.returncode}")
    return output_text.read_text("utf-8"), most


def ours(
    place: Path, source: Path, test: Sequence[SetImage], args: RowOptions, *extra: str
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the masks of the withheld images by name, and the description of the run. extra: options of import."""
    project = place / "project"
    workbench("create", project)
    workbench("import", project, source, *extra)
    reported = workbench("train", project, "--model", "unet", "--minutes", args.minutes, *settings(args))
    test_folder = sets.copy_images(test, place / "look")
    command = [
        sys.executable,
        "-m",
        "workbench",
        "predict",
        str(reported["path"]),
        str(test_folder),
        "--out",
        str(place / "out"),
        "--no-overlays",
        "--json",
    ]
    output, most = most_memory(command, place)
    entries = json.loads(output.strip().splitlines()[-1])["pictures"]
    ids = {info["id"]: info["name"] for info in json.loads((project / "project.json").read_text("utf-8"))["classes"]}
    masks = {Path(entry["path"]).stem: sets.read_gray(Path(entry["mask"])) for entry in entries}
    milliseconds = float(np.median([entry["milliseconds"] for entry in entries]))
    return masks, {
        "classes": ids,
        "seconds": reported["seconds"],
        "steps": reported["steps"],
        "predict_mb": most,
        "milliseconds": milliseconds,
        "troubles": reported["troubles"],
    }


def write_image_list(place: Path, training: Sequence[SetImage], test: Sequence[SetImage]) -> Path:
    """Write the file that textbook.py and random_forest.py read; a fifth of the groups serves for their thresholds."""
    groups = sorted({item.group for item in training}, key=lambda group: zlib.crc32(f"val {group}".encode()))
    val = set(groups[: len(groups) // 5])
    pairs = {item: [str(item.path), str(sets.mask_file(item, place))] for item in training}
    content = {
        # With too few groups the threshold is fitted on the training images.
        "train": [pair for item, pair in pairs.items() if item.group not in val],
        "val": [pair for item, pair in pairs.items() if item.group in val or not val],
        "look": [str(item.path) for item in test],
    }
    listed = place / "pictures.json"
    listed.write_text(json.dumps(content), "utf-8")
    return listed


def competitor(
    name: str, place: Path, training: Sequence[SetImage], test: Sequence[SetImage], args: RowOptions
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the masks and the description of another program."""
    listed = write_image_list(place, training, test)
    command = [sys.executable, str(HERE / f"{name}.py"), str(listed), str(place / "out"), "--seed", str(args.seed)]
    if name == "textbook":
        command += ["--minutes", str(args.minutes), "--rate", str(args.rate)]
    environment = dict(os.environ)
    if name == "textbook":  # one copy of it on all cores, where ours has a copy a core
        environment = {**worker_environment("cpu"), "MKL_NUM_THREADS": str(cores())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise Failed(f"{name}: {(done.stderr.strip().splitlines() or ['killed, most likely for its memory'])[-1]}")
    reported = json.loads(done.stdout.strip().splitlines()[-1])
    folder = place / "out" / str(reported["look"])
    return {item.name: sets.read_gray(folder / f"{item.name}.png") for item in test}, reported


# --- scores -----------------------------------------------------------------------------------------------


def truth_of(item: SetImage) -> np.ndarray:
    return sets.read_gray(item.mask) > 0 if item.mask else np.zeros(sets.read_gray(item.path).shape, bool)


def defect_metrics(masks: dict[str, np.ndarray], test: Sequence[SetImage]) -> dict[str, float | None]:
    """Return the metrics for defect or not.

    Dice pooled over the images with defects, and over all images (if most of an image is defective, marking everything
    gives a high value of the former); detected defects; false alarms per good image; F1 with tolerance for lines.
    """
    bad, every = [], []
    near_predicted = predicted_total = near_real = real_in_all = 0
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * NEAR + 1, 2 * NEAR + 1))
    for item in test:
        real, output = truth_of(item), masks[item.name] > 0
        every.append((real.astype(np.uint8), output.astype(np.uint8)))
        if real.any():
            bad.append(every[-1])
            around_real, around_predicted = (cv2.dilate(part.astype(np.uint8), disc) > 0 for part in (real, output))
            near_predicted, predicted_total = (
                near_predicted + int((output & around_real).sum()),
                predicted_total + int(output.sum()),
            )
            near_real, real_in_all = near_real + int((real & around_predicted).sum()), real_in_all + int(real.sum())
    reported = mask_report(figures_of(every, {1: "defect"}))
    regions = reported["regions"]
    precision, recall = near_predicted / max(1, predicted_total), near_real / max(1, real_in_all)
    return {
        "dice": figures_of(bad, {1: "defect"}).get("dice").value or 0.0,
        "dice_all": reported["any_defect"]["dice"] or 0.0,
        "recall": regions["recall"],
        "alarms_good": regions["false_per_good_picture"],
        "f1_near": 2 * precision * recall / max(1e-9, precision + recall),
    }


def class_metrics(masks: dict[str, np.ndarray], test: Sequence[SetImage], names: dict[int, str]) -> dict[str, float]:
    """Return the mean IoU over the background and the withheld kinds, pooled over all images, and the IoU of each.

    "miou_defective" is the mean over the images with a defect, without the false alarms on good ones.
    """
    ids = {name: id for id, name in names.items()}
    # (images, all or defective; intersection and union; class)
    counts, labeled = np.zeros((2, 2, 256), np.int64), set()
    for item in test:
        real, output = truth_of(item).astype(np.uint8) * ids.get(item.kind, 0), masks[item.name]
        labeled.update(np.unique(real).tolist())
        both, *single = (
            np.bincount(part, minlength=256) for part in (real[real == output], real.ravel(), output.ravel())
        )
        counts[0] += (both, sum(single) - both)
        if real.any():
            counts[1] += (both, sum(single) - both)
    shown = sorted(labeled)
    iou, of_defective = (intersection[shown] / np.maximum(1, union[shown]) for intersection, union in counts)
    by_class = {f"iou {names.get(id, 'background')}": float(value) for id, value in zip(shown, iou)}
    return {"miou": float(iou.mean()), "miou_defective": float(of_defective.mean()), **by_class}


# --- sets -------------------------------------------------------------------------------------------------


class RowOptions(argparse.Namespace):
    """Options of one row (minutes, seed, rate, competitor), and the common ones as `main` takes them."""


def settings(args: RowOptions) -> list[str]:
    own = ["--set", args.who] if "=" in args.who else []
    return ["--set", f"seed={args.seed}", *own]


def segmentation(name: str, training: list[SetImage], test: list[SetImage], place: Path, args: RowOptions) -> dict:
    if args.who != "ours" and "=" not in args.who:
        masks, about = competitor(args.who, place, training, test, args)
    elif name == "kinds":
        source = sets.write_kind_folders(training, place / "source", masks=True)
        masks, about = ours(place, source, test, args, "--format", "png", "--threshold", "128")
    else:
        source = sets.write_folders(training, place / "source")
        options = ("--format", "png", "--threshold", "128", "--class", "defect")
        masks, about = ours(place, source, test, args, *options)
    scores = defect_metrics(masks, test)
    if name == "kinds":
        scores.update(class_metrics(masks, test, about["classes"]))
    return {**scores, **{key: value for key, value in about.items() if key not in ("classes", "look")}}


def verdicts(name: str, training: list[SetImage], test: list[SetImage], place: Path, args: RowOptions) -> dict:
    project, other = place / "project", place / "withheld"
    for root, items in ((project, training), (other, test)):
        workbench("create", root)
        workbench("import", root, sets.write_kind_folders(items, place / f"{root.name}-source"), "--format", "folders")
    reported = workbench("train", project, "--model", "resnet", "--minutes", args.minutes, *settings(args))
    result = workbench("evaluate", project, "--run", reported["run"], "--against", other)
    return {
        "accuracy": result["accuracy"],
        "macro_f1": result["macro_f1"],
        "seconds": reported["seconds"],
        "steps": reported["steps"],
        "troubles": reported["troubles"],
    }


def rows_of(name: str, args: RowOptions) -> list[dict[str, Any]]:
    """Return the measurements of a set: one entry for each competitor, seed and fold."""
    alone = name in ("kinds", "steel", "verdicts")
    competitors = [tool for tool in args.rivals if not alone or "=" in tool]
    counts = args.labels if name == "few" else [None]
    minutes = args.few_minutes if name == "few" else args.minutes or MINUTES[name]
    return [
        {
            "set": name,
            "labels": count,
            "who": tool,
            "seed": seed,
            "fold": fold,
            "of": args.of,
            "by_picture": args.by_picture,
            "minutes": minutes if tool != "forest" else None,
        }
        for fold in args.folds
        for seed in args.seeds
        for count in counts
        for tool in ("ours", *competitors)
    ]


def measure(row: dict[str, Any], args: RowOptions, place: Path) -> dict[str, Any]:
    folder, reader = SOURCES[row["set"]]
    source = args.data / folder
    if not source.is_dir():
        return {"why": f"{source} is not there"}
    items = reader(source, place)
    if row["by_picture"]:
        items = [replace(item, group=item.name) for item in items]
    training, test = sets.split_images(
        items, row["fold"], row["of"], crops=row["set"] == "steel" and not row["by_picture"]
    )
    if row["labels"]:
        training = sets.few_labeled(training, row["labels"], row["seed"])
    if args.pictures:
        training, test = (
            training[:: max(1, len(training) // args.pictures)],
            test[:: max(1, len(test) // args.pictures)],
        )
    own = RowOptions(**{**vars(args), "minutes": row["minutes"], "seed": row["seed"], "who": row["who"]})
    work = verdicts if row["set"] in ("steel", "verdicts") else segmentation
    try:
        result = work(row["set"], training, test, place, own)
    except Failed as error:
        return {"why": str(error)}
    return {"learned": len(training), "withheld": len(test), **result}


# --- tables -----------------------------------------------------------------------------------------------

SHOWN = (
    "dice",
    "dice_all",
    "f1_near",
    "recall",
    "alarms_good",
    "miou",
    "miou_defective",
    "accuracy",
    "macro_f1",
    "milliseconds",
    "predict_mb",
    "seconds",
)


def tables(rows: list[dict[str, Any]]) -> str:
    """Return tables in Markdown: mean (minimum to maximum) over seeds and folds."""
    lines = []
    for name, singly in dict.fromkeys((row["set"], row["by_picture"]) for row in rows):
        of_set = [row for row in rows if (row["set"], row["by_picture"]) == (name, singly)]
        columns = [key for key in SHOWN if any(row.get(key) is not None for row in of_set)]
        how = ", split by image" if singly else ""
        lines += [f"\n{name}, {SOURCES[name][0]}{how}\n"]
        lines.append("| who | labels | minutes | runs | " + " | ".join(columns) + " |")
        lines.append("|---|---:|---:|---:|" + "---:|" * len(columns))
        kinds = dict.fromkeys((row["labels"], row["who"], row["minutes"]) for row in of_set)
        for labels, tool, minutes in kinds:
            same = [row for row in of_set if (row["labels"], row["who"], row["minutes"]) == (labels, tool, minutes)]
            done = [row for row in same if "why" not in row]
            cells = [_cell([row[key] for row in done if row.get(key) is not None]) for key in columns]
            failed = next((f" ({row['why']})" for row in same if "why" in row), "")
            head = f"| {tool}{failed} | {labels or ''} | {'' if minutes is None else f'{minutes:g}'} | {len(done)} |"
            lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    if not values:
        return "–"
    form = ".0f" if max(values) >= 20 else ".3f"
    mean = f"{np.mean(values):{form}}"
    return mean if len(values) == 1 else f"{mean} ({min(values):{form}} to {max(values):{form}})"


def _rivals(text: str) -> list[str]:
    """Split names at commas; commas within brackets belong to the list of a setting."""
    return re.split(r",(?![^\[]*\])", text) if text else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words, numbers = (lambda text: text.split(",") if text else []), (lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--sets", type=words, default=list(SOURCES))
    parser.add_argument("--minutes", type=float, help=f"of each; default: {MINUTES}")
    parser.add_argument("--few-minutes", type=float, default=3.0)
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--folds", type=numbers, default=[0])
    parser.add_argument("--of", type=int, default=4, help="into how many folds the groups are dealt")
    parser.add_argument("--by-picture", action="store_true", help="split by image instead of by part")
    parser.add_argument("--rivals", type=_rivals, default=["textbook", "forest"])
    parser.add_argument("--rate", type=float, default=1e-3, help="the textbook's; 1e-4 is the other one in use")
    parser.add_argument("--labels", type=numbers, default=[5, 10, 20, 40, 80])
    parser.add_argument("--pictures", type=int, default=0, help="maximum number of images of a set, for a trial run")
    parser.add_argument("--data", type=Path, default=sets.data_folder())
    parser.add_argument("--out", type=Path, help="a file of rows; those in it are not measured again")
    parser.add_argument("--keep", type=Path, help="a new folder for projects and masks, which are else thrown away")
    args = parser.parse_args(namespace=RowOptions())
    known = args.out.read_text("utf-8").splitlines() if args.out and args.out.exists() else []
    rows = [json.loads(line) for line in known]
    for row in [row for name in args.sets for row in rows_of(name, args)]:
        if any(row.items() <= {key: old.get(key) for key in row}.items() and "why" not in old for old in rows):
            continue
        with tempfile.TemporaryDirectory() as folder:
            name = "-".join(str(part) for part in row.values() if part is not None)
            place = args.keep / name if args.keep else Path(folder)
            place.mkdir(parents=True, exist_ok=not args.keep)
            rows.append({**row, **measure(row, args, place)})
        print(json.dumps(rows[-1]), flush=True)
        if args.out:
            with args.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(tables(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
