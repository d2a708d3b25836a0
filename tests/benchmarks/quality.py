"""How good the models are that some minutes give, on withheld pictures of real sets, beside what others would use.

    python tests/benchmarks/quality.py [--sets tiles,kinds,cracks,welds,boards,steel,verdicts,few]
        [--minutes 15] [--seeds 0,1,2] [--folds 0] [--of 4] [--rivals textbook,forest,optimizer=adamw]
        [--labels 5,10,20,40,80] [--by-picture] [--out RESULTS.jsonl] [--keep FOLDER]

Every model of ours is made by the commands that a person has: create, import, train, predict, evaluate. The pictures
are those of ../shared/data or WORKBENCH_DATA; groups of pictures that show one part are withheld together, and nothing
of them is in the project. --by-picture deals them out one by one, as publications do: of the part on a withheld one
other pictures are learned from. The textbook's UNet (textbook.py) gets the same minutes, and the environment of ours,
so that recipes are compared and not libraries; its threshold, and the forest's (forest.py), come from a part of what
they learned from. A rival KEY=VALUE is ours again, with that setting of the recipe. Each row is printed as soon as it
is there, and kept in --out; rows that are in it already are not done again. The tables at the end are means over seeds
and folds.

    tiles     magnetic-tile, defect or not        kinds     the same with its five kinds of defects
    cracks    crackforest                         welds     gdxray-welds, films of 5,000 pixels
    steel     neu-det, six kinds (ResNet)         verdicts  magnetic-tile's folders as verdicts (ResNet), unbalanced
    boards    deeppcb, the boxes of all faults
    few       tiles again, from 5 to 80 labelled pictures, --few-minutes each
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
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, which has names of Python's own

from tests.benchmarks import real_sets as sets  # noqa: E402
from tests.benchmarks.real_sets import Shown  # noqa: E402
from workbench.core.evaluation.metrics import SegmentationMeter  # noqa: E402
from workbench.core.runs.launch import worker_environment  # noqa: E402
from workbench.inference.cpu_environment import cores  # noqa: E402

HERE = Path(__file__).resolve().parent
MINUTES = dict.fromkeys(("tiles", "kinds"), 15.0)
MINUTES |= dict.fromkeys(("cracks", "welds", "boards", "steel", "verdicts"), 10.0)
SOURCES: dict[str, tuple[str, Callable[[Path, Path], list[Shown]]]] = {
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
    """A contestant that came to nothing; the text says why."""


# --- contestants ------------------------------------------------------------------------------------------


def workbench(*arguments: object) -> dict[str, Any]:
    """A command as a person gives it, with --json."""
    command = [sys.executable, "-m", "workbench", *map(str, arguments), "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(sets.ROOT), "PYTHONUTF8": "1"}
    )
    if done.returncode:
        raise Failed(f"{arguments[0]}: {(done.stderr.strip().splitlines() or ['it ended without a word'])[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def most_memory(command: list[str], place: Path) -> tuple[str, float]:
    """What a command prints, and the most megabytes that it and its children have held."""
    heard = place / "heard.txt"  # not a pipe, which would be full before it is read
    with heard.open("wb") as stream:
        child = psutil.Popen(
            command, stdout=stream, env={**os.environ, "PYTHONPATH": str(sets.ROOT), "PYTHONUTF8": "1"}
        )
        most = 0.0
        while child.poll() is None:
            try:
                family = [child, *child.children(recursive=True)]
                most = max(most, sum(each.memory_info().rss for each in family) / 2**20)
            except psutil.Error:
                pass
            time.sleep(0.05)
    if child.returncode:
        raise Failed(f"predict ended with {child.returncode}")
    return heard.read_text("utf-8"), most


def ours(
    place: Path, source: Path, test: Sequence[Shown], wishes: Wishes, *extra: str
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Masks of the withheld pictures by name, and what is to be said of the run. extra: options of import."""
    project = place / "project"
    workbench("create", project)
    workbench("import", project, source, *extra)
    told = workbench("train", project, "--model", "unet", "--minutes", wishes.minutes, *settings(wishes))
    look = sets.copy_pictures(test, place / "look")
    command = [
        sys.executable,
        "-m",
        "workbench",
        "predict",
        str(told["path"]),
        str(look),
        "--out",
        str(place / "out"),
        "--no-overlays",
        "--json",
    ]
    said, most = most_memory(command, place)
    entries = json.loads(said.strip().splitlines()[-1])["pictures"]
    ids = {info["id"]: info["name"] for info in json.loads((project / "project.json").read_text("utf-8"))["classes"]}
    masks = {Path(entry["path"]).stem: sets.read_grey(Path(entry["mask"])) for entry in entries}
    milliseconds = float(np.median([entry["milliseconds"] for entry in entries]))
    return masks, {
        "classes": ids,
        "seconds": told["seconds"],
        "steps": told["steps"],
        "predict_mb": most,
        "milliseconds": milliseconds,
        "troubles": told["troubles"],
    }


def listed_for_rivals(place: Path, learn: Sequence[Shown], test: Sequence[Shown]) -> Path:
    """The file that textbook.py and forest.py read; a fifth of the groups is for their thresholds."""
    groups = sorted({each.group for each in learn}, key=lambda group: zlib.crc32(f"val {group}".encode()))
    val = set(groups[: len(groups) // 5])
    pairs = {each: [str(each.path), str(sets.mask_file(each, place))] for each in learn}
    content = {
        # Where nothing can be spared the threshold has to come from what was learned from.
        "train": [pair for each, pair in pairs.items() if each.group not in val],
        "val": [pair for each, pair in pairs.items() if each.group in val or not val],
        "look": [str(each.path) for each in test],
    }
    listed = place / "pictures.json"
    listed.write_text(json.dumps(content), "utf-8")
    return listed


def rival(
    name: str, place: Path, learn: Sequence[Shown], test: Sequence[Shown], wishes: Wishes
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The same of a program beside this one."""
    listed = listed_for_rivals(place, learn, test)
    command = [sys.executable, str(HERE / f"{name}.py"), str(listed), str(place / "out"), "--seed", str(wishes.seed)]
    if name == "textbook":
        command += ["--minutes", str(wishes.minutes), "--rate", str(wishes.rate)]
    environment = dict(os.environ)
    if name == "textbook":  # one copy of it on all cores, where ours has a copy a core
        environment = {**worker_environment("cpu"), "MKL_NUM_THREADS": str(cores())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise Failed(f"{name}: {(done.stderr.strip().splitlines() or ['killed, most likely for its memory'])[-1]}")
    told = json.loads(done.stdout.strip().splitlines()[-1])
    folder = place / "out" / str(told["look"])
    return {each.name: sets.read_grey(folder / f"{each.name}.png") for each in test}, told


# --- scores -----------------------------------------------------------------------------------------------


def truth_of(each: Shown) -> np.ndarray:
    return sets.read_grey(each.mask) > 0 if each.mask else np.zeros(sets.read_grey(each.path).shape, bool)


def any_defect(masks: dict[str, np.ndarray], test: Sequence[Shown]) -> dict[str, float | None]:
    """Pooled Dice over pictures with defects, and over all: where much of them is defective, who marks everything does
    well on the former; defects found; false alarms a good picture; F1 with room for lines.
    """
    bad, every = SegmentationMeter({1: "defect"}), SegmentationMeter({1: "defect"})
    near_said = said_in_all = near_real = real_in_all = 0
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * NEAR + 1, 2 * NEAR + 1))
    for each in test:
        real, said = truth_of(each), masks[each.name] > 0
        every.add(real.astype(np.uint8), said.astype(np.uint8))
        if real.any():
            bad.add(real.astype(np.uint8), said.astype(np.uint8))
            around_real, around_said = (cv2.dilate(part.astype(np.uint8), disc) > 0 for part in (real, said))
            near_said, said_in_all = near_said + int((said & around_real).sum()), said_in_all + int(said.sum())
            near_real, real_in_all = near_real + int((real & around_said).sum()), real_in_all + int(real.sum())
    told = every.report()
    regions = told["regions"]
    precision, recall = near_said / max(1, said_in_all), near_real / max(1, real_in_all)
    return {
        "dice": bad.report()["any_defect"]["dice"] or 0.0,
        "dice_all": told["any_defect"]["dice"] or 0.0,
        "recall": regions["recall"],
        "alarms_good": regions["false_per_good_picture"],
        "f1_near": 2 * precision * recall / max(1e-9, precision + recall),
    }


def six_classes(masks: dict[str, np.ndarray], test: Sequence[Shown], names: dict[int, str]) -> dict[str, float]:
    """Mean IoU over the background and the kinds that are withheld, pooled over all pictures; and that of each."""
    ids = {name: id for id, name in names.items()}
    hit, either, labelled = defaultdict(int), defaultdict(int), set()
    for each in test:
        real, said = truth_of(each).astype(np.uint8) * ids.get(each.kind, 0), masks[each.name]
        labelled.update(np.unique(real).tolist())
        for id in (0, *names):
            hit[id] += int(((real == id) & (said == id)).sum())
            either[id] += int(((real == id) | (said == id)).sum())
    iou = {names.get(id, "background"): hit[id] / max(1, either[id]) for id in sorted(labelled)}
    return {"miou": float(np.mean(list(iou.values()))), **{f"iou {name}": value for name, value in iou.items()}}


# --- sets -------------------------------------------------------------------------------------------------


class Wishes(argparse.Namespace):
    """Of one row: minutes, seed, rate, who; and of all of them, as `main` takes them."""


def settings(wishes: Wishes) -> list[str]:
    own = ["--set", wishes.who] if "=" in wishes.who else []
    return ["--set", f"seed={wishes.seed}", *own]


def segmentation(name: str, learn: list[Shown], test: list[Shown], place: Path, wishes: Wishes) -> dict:
    if wishes.who != "ours" and "=" not in wishes.who:
        masks, about = rival(wishes.who, place, learn, test, wishes)
    elif name == "kinds":
        source = sets.lay_out_by_kind(learn, place / "source", masks=True)
        masks, about = ours(place, source, test, wishes, "--format", "png", "--threshold", "128")
    else:
        source = sets.lay_out(learn, place / "source")
        options = ("--format", "png", "--threshold", "128", "--class", "defect")
        masks, about = ours(place, source, test, wishes, *options)
    scores = any_defect(masks, test)
    if name == "kinds":
        scores.update(six_classes(masks, test, about["classes"]))
    return {**scores, **{key: value for key, value in about.items() if key not in ("classes", "look")}}


def verdicts(name: str, learn: list[Shown], test: list[Shown], place: Path, wishes: Wishes) -> dict:
    project, other = place / "project", place / "withheld"
    for root, shown in ((project, learn), (other, test)):
        workbench("create", root)
        workbench("import", root, sets.lay_out_by_kind(shown, place / f"{root.name}-source"), "--format", "folders")
    told = workbench("train", project, "--model", "resnet", "--minutes", wishes.minutes, *settings(wishes))
    found = workbench("evaluate", project, "--run", told["run"], "--against", other)
    return {
        "accuracy": found["accuracy"],
        "macro_f1": found["macro_f1"],
        "seconds": told["seconds"],
        "steps": told["steps"],
        "troubles": told["troubles"],
    }


def rows_of(name: str, wishes: Wishes) -> list[dict[str, Any]]:
    """What is to be measured of a set: one entry for each contestant, seed and fold."""
    alone = name in ("kinds", "steel", "verdicts")
    rivals = [who for who in wishes.rivals if not alone or "=" in who]
    counts = wishes.labels if name == "few" else [None]
    minutes = wishes.few_minutes if name == "few" else wishes.minutes or MINUTES[name]
    return [
        {
            "set": name,
            "labels": count,
            "who": who,
            "seed": seed,
            "fold": fold,
            "of": wishes.of,
            "by_picture": wishes.by_picture,
            "minutes": minutes if who != "forest" else None,
        }
        for fold in wishes.folds
        for seed in wishes.seeds
        for count in counts
        for who in ("ours", *rivals)
    ]


def measure(row: dict[str, Any], wishes: Wishes, place: Path) -> dict[str, Any]:
    folder, reader = SOURCES[row["set"]]
    source = wishes.data / folder
    if not source.is_dir():
        return {"why": f"{source} is not there"}
    shown = reader(source, place)
    if row["by_picture"]:
        shown = [replace(each, group=each.name) for each in shown]
    learn, test = sets.deal(shown, row["fold"], row["of"], crops=row["set"] == "steel" and not row["by_picture"])
    if row["labels"]:
        learn = sets.few(learn, row["labels"], row["seed"])
    if wishes.pictures:
        learn, test = learn[:: max(1, len(learn) // wishes.pictures)], test[:: max(1, len(test) // wishes.pictures)]
    own = Wishes(**{**vars(wishes), "minutes": row["minutes"], "seed": row["seed"], "who": row["who"]})
    work = verdicts if row["set"] in ("steel", "verdicts") else segmentation
    try:
        found = work(row["set"], learn, test, place, own)
    except Failed as error:
        return {"why": str(error)}
    return {"learned": len(learn), "withheld": len(test), **found}


# --- tables -----------------------------------------------------------------------------------------------

SHOWN = (
    "dice",
    "dice_all",
    "f1_near",
    "recall",
    "alarms_good",
    "miou",
    "accuracy",
    "macro_f1",
    "milliseconds",
    "predict_mb",
    "seconds",
)


def tables(rows: list[dict[str, Any]]) -> str:
    """Markdown: mean (least to greatest) over seeds and folds."""
    lines = []
    for name, singly in dict.fromkeys((row["set"], row["by_picture"]) for row in rows):
        of_set = [row for row in rows if (row["set"], row["by_picture"]) == (name, singly)]
        columns = [key for key in SHOWN if any(row.get(key) is not None for row in of_set)]
        how = ", picture by picture" if singly else ""
        lines += [f"\n{name}, {SOURCES[name][0]}{how}\n"]
        lines.append("| who | labels | minutes | runs | " + " | ".join(columns) + " |")
        lines.append("|---|---:|---:|---:|" + "---:|" * len(columns))
        kinds = dict.fromkeys((row["labels"], row["who"], row["minutes"]) for row in of_set)
        for labels, who, minutes in kinds:
            same = [row for row in of_set if (row["labels"], row["who"], row["minutes"]) == (labels, who, minutes)]
            done = [row for row in same if "why" not in row]
            cells = [_cell([row[key] for row in done if row.get(key) is not None]) for key in columns]
            failed = next((f" ({row['why']})" for row in same if "why" in row), "")
            head = f"| {who}{failed} | {labels or ''} | {'' if minutes is None else f'{minutes:g}'} | {len(done)} |"
            lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    if not values:
        return "–"
    form = ".0f" if max(values) >= 20 else ".3f"
    mean = f"{np.mean(values):{form}}"
    return mean if len(values) == 1 else f"{mean} ({min(values):{form}} to {max(values):{form}})"


def _rivals(text: str) -> list[str]:
    """The names between commas; those within brackets belong to a setting's list."""
    return re.split(r",(?![^\[]*\])", text) if text else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words, numbers = (lambda text: text.split(",") if text else []), (lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--sets", type=words, default=list(SOURCES))
    parser.add_argument("--minutes", type=float, help=f"of each; if not said: {MINUTES}")
    parser.add_argument("--few-minutes", type=float, default=3.0)
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--folds", type=numbers, default=[0])
    parser.add_argument("--of", type=int, default=4, help="into how many folds the groups are dealt")
    parser.add_argument("--by-picture", action="store_true", help="in place of part by part")
    parser.add_argument("--rivals", type=_rivals, default=["textbook", "forest"])
    parser.add_argument("--rate", type=float, default=1e-3, help="the textbook's; 1e-4 is the other one in use")
    parser.add_argument("--labels", type=numbers, default=[5, 10, 20, 40, 80])
    parser.add_argument("--pictures", type=int, default=0, help="at most about so many of a set, to try this program")
    parser.add_argument("--data", type=Path, default=sets.data_folder())
    parser.add_argument("--out", type=Path, help="a file of rows; those in it are not measured again")
    parser.add_argument("--keep", type=Path, help="a new folder for projects and masks, which are else thrown away")
    wishes = parser.parse_args(namespace=Wishes())
    known = wishes.out.read_text("utf-8").splitlines() if wishes.out and wishes.out.exists() else []
    rows = [json.loads(line) for line in known]
    for row in [row for name in wishes.sets for row in rows_of(name, wishes)]:
        if any(row.items() <= {key: old.get(key) for key in row}.items() and "why" not in old for old in rows):
            continue
        with tempfile.TemporaryDirectory() as folder:
            name = "-".join(str(part) for part in row.values() if part is not None)
            place = wishes.keep / name if wishes.keep else Path(folder)
            place.mkdir(parents=True, exist_ok=not wishes.keep)
            rows.append({**row, **measure(row, wishes, place)})
        print(json.dumps(rows[-1]), flush=True)
        if wishes.out:
            with wishes.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(tables(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
