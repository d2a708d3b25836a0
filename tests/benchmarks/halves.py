"""Metrics on parts that no training image shows, beside what training reported and forecast for them.

    python tests/benchmarks/halves.py [--sets steel,verdicts,tiles,kinds,cracks,boards,welds] [--minutes 5]
        [--seeds 0,1,2] [--directions forward,back] [--rivals masks,texture,resnet18] [--set KEY=VALUE ...]
        [--per-kind 5,10] [--out RESULTS.jsonl]

Of each kind of images the parts with low numbers form one half, those with high numbers the other (see
`image_sets.halves`). A model is trained on one half with the public commands and evaluated on the other, in both
directions. Columns: reported metric on held-out images of the training half (accuracy, or Dice of any defect), range
forecast for other parts, metric on the other half, and whether the range contains it. The last line counts these. For
verdicts the same half is learned by two baselines: texture features with extra trees (texture.py), and ResNet-18 with
usual settings (textbook_verdicts.py) for the same time. Who "masks": a UNet trained on the masks of the same images,
whose verdict is the class with the greatest anomaly score, good within a budget of 10 false alarms in 100. With
--per-kind, that many training images of each kind are drawn by the seed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from sklearn.metrics import accuracy_score, f1_score  # noqa: E402

from tests.benchmarks import image_sets as sets  # noqa: E402
from tests.benchmarks.image_sets import SetImage  # noqa: E402
from tests.benchmarks.quality import SOURCES, Failed, workbench  # noqa: E402

HERE = Path(__file__).resolve().parent
VERDICTS = ("steel", "verdicts")
RIVALS = {"texture": "texture.py", "resnet18": "textbook_verdicts.py"}
CROPS_GAP = 10  # numbers between the halves of a set whose images are overlapping crops


def make_project(root: Path, name: str, items: list[SetImage]) -> None:
    """Create a project of a set's images with their labels."""
    workbench("create", root)
    source = root.with_name(f"{root.name}-source")
    if name in VERDICTS:
        workbench("import", root, sets.write_kind_folders(items, source), "--format", "folders")
    elif name == "kinds":
        folder = sets.write_kind_folders(items, source, masks=True)
        workbench("import", root, folder, "--format", "png", "--threshold", "128")
    else:
        folder = sets.write_folders(items, source)
        workbench("import", root, folder, "--format", "png", "--threshold", "128", "--class", "defect")


def value_of(result: dict[str, Any], name: str) -> float | None:
    """Return the metric that is compared: accuracy, or Dice of any defect. None if no images were held out."""
    return result.get("accuracy") if name in VERDICTS else result.get("any_defect", {}).get("dice")


def ours(name: str, training: list[SetImage], test: list[SetImage], place: Path, options: list[str]) -> dict[str, Any]:
    """Return what training reported and forecast, and the metric on the other half."""
    project, other = place / "project", place / "other"
    make_project(project, name, training)
    make_project(other, name, test)
    model = "resnet" if name in VERDICTS else "unet"
    reported = workbench("train", project, "--model", model, *options)
    evaluated = workbench("evaluate", project, "--run", reported["run"], "--against", other)
    forecast, true = reported["forecast"] or {"low": None, "high": None}, value_of(evaluated, name)
    low, high = forecast["low"], forecast["high"]
    return {
        "reported": value_of(reported["metrics"], name),
        "low": low,
        "high": high,
        "true": true,
        "inside": None if low is None else low <= true <= high,
        "macro_f1": evaluated.get("macro_f1"),
        "auroc": evaluated.get("image_auroc"),
        "worst_lighting": ((reported["lighting"] or {}).get("worst") or {}).get("value"),
        "steps": reported["steps"],
    }


def by_masks(training: list[SetImage], test: list[SetImage], place: Path, options: list[str]) -> dict[str, Any]:
    """Return accuracy and macro F1 of verdicts that are derived from the regions of a UNet."""
    project, good = place / "masks-project", next(item.kind for item in training if item.mask is None)
    make_project(project, "kinds", training)
    run = workbench("train", project, "--model", "unet", *options)["run"]
    rule = ("--verdict-rule", "budget=10", "--verdict-names", f"{good},class", "--store-rule")
    workbench("evaluate", project, "--run", run, "--split", "val", *rule)
    folder = sets.copy_images(test, place / "masks-test")
    found = workbench("predict", project / "runs" / run, folder, "--out", place / "masks-results")["pictures"]
    verdicts = {Path(entry["path"]).stem: entry["verdict"] for entry in found}
    true, predicted = [item.kind for item in test], [verdicts[item.name] for item in test]
    kinds = sorted(set(true))
    return {
        "true": accuracy_score(true, predicted),
        "macro_f1": f1_score(true, predicted, labels=kinds, average="macro", zero_division=0),
        "f1": dict(zip(kinds, f1_score(true, predicted, labels=kinds, average=None, zero_division=0).tolist())),
    }


def rival(
    tool: str, training: list[SetImage], test: list[SetImage], place: Path, row: dict[str, Any]
) -> dict[str, Any]:
    """Return accuracy and macro F1 of another program on the other half."""
    listed = place / "images.json"
    content = {part: [[str(i.path), i.kind] for i in items] for part, items in (("train", training), ("test", test))}
    listed.write_text(json.dumps(content), "utf-8")
    command = [sys.executable, str(HERE / RIVALS[tool]), str(listed), "--seed", str(row["seed"])]
    if tool == "resnet18":
        command += ["--minutes", str(row["minutes"])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{tool}: {(done.stderr.strip().splitlines() or ['ended without an error message'])[-1]}")
    result = json.loads(done.stdout.strip().splitlines()[-1])
    best = result.get("trees", result)
    return {"true": best["accuracy"], "macro_f1": best["macro_f1"]}


def few_of_each(training: list[SetImage], count: int, seed: int) -> list[SetImage]:
    """Return `count` images of each kind; a larger selection contains the smaller one."""
    drawn = sorted(training, key=lambda item: zlib.crc32(f"{seed} {item.name}".encode()))
    return [item for kind in sorted({i.kind for i in drawn}) for item in [i for i in drawn if i.kind == kind][:count]]


def measure(row: dict[str, Any], data: Path, settings: list[str], place: Path) -> dict[str, Any]:
    name = row["set"]
    folder, reader = SOURCES[name]
    if not (data / folder).is_dir():
        return {"why": f"{data / folder} does not exist"}
    both = sets.halves(reader(data / folder, place), gap=CROPS_GAP if name == "steel" else 0)
    training, test = both if row["direction"] == "forward" else both[::-1]
    if row["per_kind"]:
        training = few_of_each(training, row["per_kind"], row["seed"])
    options = ["--minutes", str(row["minutes"]), "--set", f"seed={row['seed']}"]
    options += [part for text in settings for part in ("--set", text)]
    try:
        if row["who"] == "ours":
            result = ours(name, training, test, place, options)
        elif row["who"] == "masks":
            result = by_masks(training, test, place, options)
        else:
            result = rival(row["who"], training, test, place, row)
    except Failed as error:
        return {"why": str(error)}
    return {"training": len(training), "test": len(test), **result}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as Markdown, and the number of ranges that contain the metric."""
    head = (
        "set",
        "direction",
        "per_kind",
        "seed",
        "who",
        "minutes",
        "reported",
        "low",
        "high",
        "true",
        "macro_f1",
        "auroc",
    )
    lines = [f"| {' | '.join((*head, 'inside'))} |", "|---|---|---:|---:|---|" + "---:|" * 8]
    for row in rows:
        cells = [row.get(key) for key in head]
        shown = [
            f"{cell:.3f}" if isinstance(cell, float) and key != "minutes" else "" if cell is None else f"{cell}"
            for key, cell in zip(head, cells, strict=True)
        ]
        inside = {True: "yes", False: "no", None: row.get("why", "")}[row.get("inside")]
        lines.append(f"| {' | '.join((*shown, inside))} |")
    stated = [row["inside"] for row in rows if row.get("inside") is not None]
    return "\n".join([*lines, f"\n{sum(stated)} of {len(stated)} ranges contain the metric on the other half"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words, numbers = (lambda text: text.split(",") if text else []), (lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--sets", type=words, default=[*VERDICTS, "tiles", "kinds", "cracks", "boards", "welds"])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--directions", type=words, default=["forward", "back"])
    parser.add_argument("--per-kind", type=numbers, default=[0], help="training images of each kind; 0 for all")
    parser.add_argument("--rivals", type=words, default=["masks", *RIVALS], help="for the sets with verdicts")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--data", type=Path, default=sets.data_folder())
    parser.add_argument("--out", type=Path, help="file of rows; those in it are not measured again")
    args = parser.parse_args()
    known = args.out.read_text("utf-8").splitlines() if args.out and args.out.exists() else []
    rows = [json.loads(line) for line in known]
    for seed, count, name, direction in itertools.product(args.seeds, args.per_kind, args.sets, args.directions):
        rivals = [rival for rival in args.rivals if name == "verdicts" or (name == "steel" and rival != "masks")]
        for who in ("ours", *rivals):
            row = {"set": name, "direction": direction, "seed": seed, "who": who, "minutes": args.minutes}
            row["per_kind"] = count
            if any(row.items() <= {"per_kind": 0, **old}.items() and "why" not in old for old in rows):
                continue
            with tempfile.TemporaryDirectory() as folder:
                rows.append({**row, **measure(row, args.data, args.settings, Path(folder))})
            print(json.dumps(rows[-1]), flush=True)
            if args.out:
                with args.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
