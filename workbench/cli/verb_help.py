"""Help of the verbs: examples, defaults, line breaks, and the keys of the JSON objects that they print with --json.

`--help`, the guide and the man page show the same.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Mapping

_SKIPPED = "list of {path, why}"
_CONFLICT_LIST = "list of {key, kept: mine or theirs}, for images that both projects label differently"

# Verb -> option that selects another object, "" for the usual one -> key -> meaning. Counts are numbers of images
# unless a row states otherwise. Keys are added, never renamed or removed.
JSON_KEYS: dict[str, dict[str, dict[str, str]]] = {
    "import": {
        "": {
            "format": "format of the labels; project if PATH is one, which is merged: then found, boxes, ignored and "
            "notes are absent, and conflicts is as of the verb merge",
            "found": "object: recognized format -> number of labels",
            "pictures": "images found, with or without a label",
            "labelled": "images that got a label",
            "copied": "images that were new in the project",
            "boxes": "number of bounding boxes that became regions",
            "background": "images without a label; with --background they are imported as images without defects",
            "ledger": "object: images, label_files, entries: {seen, used, kept, refused, not_understood}; other_files "
            "(number); complete: false if anything is refused or not understood, then the exit "
            "status is 1",
            "unfinished": "keys of labeled images that are not marked as done, because something that may belong to "
            "them is not used",
            "encodings": "object: text file -> {encoding, examples}, for files whose encoding was guessed",
            "concerns": "what is not plausible: list of {kind, text, image, class}",
            "pairings": "answers to questions about masks: list of {rule for --pair, text, count, examples: list of "
            "[image or null, mask]}",
            "skipped": _SKIPPED,
            "classes": "names of all classes of the project",
            "added_classes": "names of new classes",
            "added_verdicts": "new verdicts",
            "ignored": "patterns that exclude masks and copies from the images of a source",
            "notes": "sentences on content that was not imported, summed over all images, and on decisions",
        },
        "--dry-run": {
            "format": "format of the labels",
            "found": "object: recognized format -> number of labels",
            "pictures": "images found, with or without a label",
            "matched": "of these, images of the project",
            "new": "of these, images that would be copied",
            "missing": "number of labels whose image was not found",
            "labelled": "images that would get a label",
            "conflicts": "of these, images that have one already",
            "boxes": "number of bounding boxes",
            "background": "as without --dry-run",
            "classes": "list of {name, target: class in the project, null if ignored, known, pictures, regions, boxes}",
            "verdicts": "list of {name, target, known, pictures}",
            "splits": "object: train, val, test -> images",
            "ledger": "as without --dry-run",
            "unfinished": "as without --dry-run",
            "encodings": "as without --dry-run",
            "pairings": "as without --dry-run",
            "concerns": "as without --dry-run",
            "skipped": _SKIPPED,
            "ignored": "as without --dry-run",
            "notes": "as without --dry-run",
        },
        "--undo": {
            "undone": "path that was imported",
            "pictures": "images that are as before the import",
            "kept": "keys of images that were changed since, and stay as they are",
        },
    },
    "adopt": {
        "": {
            "run": "name of the run",
            "path": "folder of the run",
            "classes": "names of the classes that the model predicts",
            "added_classes": "names of new classes of the project",
            "channels": "channels of the input, 1 or 3",
            "tile": "side of the tiles in pixels",
            "multiple": "number of which the sides of a tile are multiples",
            "labelled": "labeled images, which are the test images of the run",
        }
    },
    "use": {
        "": {
            "in_use": "name of the run that is used without --run, null without a model; also in the objects of "
            "train, evaluate, predict and export",
            "automatic": "true if no run was chosen, so that it is the best comparable one",
        }
    },
    "release": {
        "": {
            "path": "folder of the export, which is unchanged; otherwise the exit status is 1",
            "predecessors": "list of {export, run, state: unchanged, changed or not found}, the newest first",
        },
    },
    "inbox": {
        "": {
            "pictures": "list of {path, kept, verdict, time, taken: it is in the project}",
            "taken": "with --take: keys of the new images",
            "skipped": "list of {path, why}",
        },
    },
    "drift": {
        "": {
            "shifts": "list of {from, pictures, OK, NG, rework, unsure, ERROR, unlike, checked: images compared with "
            "the training images, classes: class -> images, runs, changes: rate -> {value, before: of the reference, "
            "expected: range by it, why: it has none, moved}}",
            "hours": "the same of each hour",
            "shifts_text": "sentence on what has moved",
            "hours_text": "sentence on what has moved",
            "reference": "{from, to, hours, pictures, text}",
            "stations": "object: computer -> results",
            "runs": "object: run -> images",
            "notes": "sentences on damaged lines, several stations and models, and the like",
            "last": "list of {time, name, result, verdict, classes, path}: last images that are not OK",
        }
    },
    "area": {
        "": {
            "areas": 'list of {folder: "" for all images without an own area, width, height, polygons: list of '
            "{points, excluded, zone}, in pixels, reference: null, or {image, most_shift, most_angle} if it moves}",
            "not_found": "files of labeled images in which the part was not found",
            "outside": "with --set or --clear: number of labeled defects that lie outside",
            "cut": "of those that lie partly outside",
            "pictures": "keys of the images that show them",
        }
    },
    "evaluate": {
        "": {
            "run": "name of the run",
            "in_use": "name of the model in use, see the verb use",
            "model": "unet or resnet",
            "split": "evaluated images",
            "figures": "list of {id, scope, of, value, unit, interval, method, why, counted}: all figures, of scope "
            "any, class, mean, good, size or verdict, the 95% interval by part, or why there is none",
            "dice": "mean of the classes that are labeled, also as dice_mean; a key with _interval is the interval of "
            "the key without it, one with _counted its numbers of images and parts, one with _why why it has no "
            "interval or is not measured",
            "iou": "mean of the classes that are labeled",
            "boundary_iou": "mean of the classes that are labeled",
            "dice_any": "of any defect, the class not counted",
            "iou_any": "of any defect",
            "boundary_iou_any": "of any defect",
            "pixel_precision_any": "of the pixels of any defect",
            "pixel_recall_any": "of the pixels of any defect",
            "any_defect": "object of the metrics of the pixels of any defect",
            "recall_any": "share of the labeled defects that are detected, with any class",
            "recall_right_class": "share of them that are detected with their class",
            "region_precision_any": "share of the predicted regions that touch a defect",
            "region_precision_right_class": "share of them whose class is that of the defect",
            "false_alarms_any": "predicted regions that touch no defect, per image",
            "missed_images": "share of the defective images without a detected defect",
            "false_alarm_images": "share of the good images with a false alarm",
            "per_class": "object of the metrics of each class or verdict; of a UNet, precision and recall count "
            "pixels, recall_defects counts defects",
            "regions": "object of the counts of regions",
            "region_confusion": "{labeled, predicted, rows}: classes and background, classes and missed, regions",
            "by_size": "list of the recall of any defect by area",
            "accuracy": "of a ResNet",
            "macro_f1": "of a ResNet, mean of the verdicts that are labeled",
            "confusion": "of a ResNet, {names, rows}",
            "calibration_error": "of a ResNet",
            "unsure": "of a ResNet with a reject probability",
            "pictures": "evaluated images",
            "good_pictures": "of these, images without a defect",
            "parts": "number of parts that they show",
            "only_background": "true if no defect is predicted although there are defects",
            "alerts": "list of only_background, everything, every_good_picture, one_class, wrong_class",
            "image_auroc": "area under the ROC curve of the anomaly score",
            "image_auroc_interval": "its 95% interval by part; null with a reason in image_auroc_interval_why",
            "recall_at_false_alarms": "object of the recall of defective images by share of rejected good images",
            "recall_at_false_alarms_why": "object of the reasons where there are too few images",
            "verdict_border": "pixels along the border that do not count for the verdict",
            "verdict_rule": "rule of the image verdicts, with its result",
            "forecast": "range expected on other parts, measured at the end of the training",
            "lighting": "metrics under changed lighting, measured at the end of the training",
            "fitted": "which network for verdicts is used and why, or the check of a model of good images; else null",
            "milliseconds": "median time of a prediction, null if all were cached",
            "leaks": "list of {path, learned, why}, images that resemble training images",
            "changed_labels": "number of labels changed after the training",
            "skipped": _SKIPPED,
            "notes": "sentences on the evaluated images",
        }
    },
    "parts": {
        "": {
            "run": "name of the run",
            "split": "evaluated images",
            "confidence": "in %",
            "good": "verdict of good parts, of a ResNet",
            "missed": "{bound, errors, parts, upper_limit, reached, needed_without_errors, needed_at_rate, text}: "
            "wanted bound in %, missed and all defective parts, proven bound in % (null without parts), whether it is "
            "the wanted one, number of parts that prove it without an error and with errors as frequent as so far "
            "(null: no number, or more than 10,000)",
            "alarms": "the same for parts with a false alarm and parts with good images",
            "new_parts": "parts of which no image is labeled",
            "pictures": "list of {path, why}: an image of each of these parts, in the order in which to label them",
            "notes": "sentences on the evaluated images",
        }
    },
    "gauge": {
        "": {
            "run": "name of the run",
            "pictures": "predicted images",
            "parts": "number of parts that they show",
            "raters": "model, as an empty name, and inspectors",
            "figures": "list of {id: same_verdict or kappa, scope: pair, of: two raters, the same for repeats, value, "
            "unit, interval, method, why, counted}",
            "differing": "list of {part, verdicts}: parts with different verdicts",
            "learned": "of the images, training images of the run",
            "skipped": _SKIPPED,
            "notes": "sentences on the study",
        }
    },
    "labels": {
        "": {
            "path": "folder of the export",
            "format": "format of the labels",
            "labels": "images with a label",
            "images": "copied image files",
            "renamed": "sentences on names that differ in the export",
            "lost": "sentences on content that the format cannot hold",
            "losses": "object: image -> kind of content -> count",
            "skipped": _SKIPPED,
        }
    },
    "check": {"": {"pictures": "images checked", "findings": "list of {kind, key: image or null, detail, advice}"}},
    "statistics": {
        "": {
            "pictures": "images of the project",
            "broken": "images that cannot be read",
            "masks": "images with a mask",
            "um_per_pixel": "pixel scale in µm, null if unknown",
            "status": "object: status -> images",
            "verdicts": "object: verdict, empty for none -> images",
            "sizes": "list of {width, height, pictures}",
            "splits": "object: unet, resnet -> set -> images",
            "pixels": "object: all, ignored, not_labelled -> number of pixels",
            "classes": "list of {id, name, pictures, regions, pixels, splits, area_px, length_px, "
            "feret_max, feret_min}, and with the pixel scale area_mm2, length_mm, feret_max_mm, feret_min_mm; each has "
            "min, median, p90, max, mean; length: longest side of the bounding box, feret_max: maximum Feret diameter",
        }
    },
    "sources": {
        "": {
            "sources": "list of {name: empty for the project's own images, path, relative, missing, pictures}",
            "added": "with add: name of the source",
            "removed": "with remove: name of the removal, for `remove --restore`",
            "located": "with locate: name of the source",
        }
    },
    "remove": {
        "": {
            "removed": "with IMAGE: name of the removal",
            "kept": "with --restore: copies of files that exist again, which were not replaced",
            "pictures": "images of the project",
            "removals": "list of {name, when, pictures: keys, source: name or null} that can be restored",
        }
    },
    "merge": {
        "": {
            "ledger": "as of the verb import; entries are the labels of the other project",
            "pictures": "images of the other project",
            "matched": "of these, images of both projects",
            "copied": "of these, new images",
            "taken": "labels taken over",
            "kept": "labels kept",
            "equal": "labels that are equal in both projects",
            "conflicts": _CONFLICT_LIST,
            "skipped": _SKIPPED,
            "added_classes": "names of new classes",
            "added_verdicts": "new verdicts",
        }
    },
    "pack": {
        "": {
            "path": "zip file",
            "pictures": "images in it",
            "files": "number of files in it",
            "bytes": "size of the zip file",
            "missing": "names of sources whose folder is not available",
            "skipped": "files that vanished while packing, or whose names are not UTF-8",
        }
    },
    "spots": {
        "": {
            "pictures": "list of {path, spots: list of {x, y, radius, strength}, strongest first}, in pixels of the "
            "image; strength is 1 for a median place of the image",
            "labelled": "images with painted defects; spots that deviate as some of them do come first",
            "skipped": _SKIPPED,
        }
    },
    "unpack": {"": {"project": "folder of the project", "pictures": "images of the project"}},
}


def describe_keys(verb: str) -> str:
    """Return the description of a verb's JSON objects for `--help`, "" if it has none."""
    lines = []
    for option, keys in JSON_KEYS.get(verb, {}).items():
        lines.append(f"JSON object of {option} --json:" if option else "JSON object of --json:")
        width = max(map(len, keys)) + 2
        lines += [f"  {key:{width}}{meaning}" for key, meaning in keys.items()]
    return "\n".join(lines)


# --- text below the options -----------------------------------------------------------------------


EXAMPLES: Mapping[str, tuple[str, str]] = {
    "demo": ("demo sample-project", "demo sample-project --minutes 0.5"),
    "create": ("create my-project --images images --classes scratch,pit", "create verdicts --verdicts OK,NG"),
    "import": (
        "import my-project labeled --format png --threshold 128",
        "import my-project delivery.zip --dry-run",
    ),
    "labels": ("labels my-project coco-labels --format coco", "labels my-project yolo-data --format yolo --images"),
    "check": ("check my-project --fail", "check my-project --csv findings.csv"),
    "statistics": ("statistics my-project", "statistics my-project --regions regions.csv"),
    "sources": ("sources my-project add lot2", "sources my-project locate lot2 moved/lot2"),
    "remove": ("remove my-project lot1/a.png", "remove my-project --list"),
    "merge": ("merge my-project copy-of-a-colleague --dry-run", "merge my-project other --conflicts mine"),
    "pack": ("pack my-project my-project.zip", "pack my-project images.zip --no-runs"),
    "unpack": ("unpack my-project.zip", "unpack my-project.zip projects"),
    "train": ("train my-project --model unet --minutes 5", "train my-project --model unet --from last --plan"),
    "release": (
        "release verify my-project/exports/20261120-101500-unet",
        "release reproduce line/v2 --project my-project",
    ),
    "inbox": ("inbox plates /data/line/inbox", "inbox plates /data/line/inbox --take --kept NG"),
    "drift": ("drift log.jsonl", "drift logs --shifts 06:00,18:00 --reference 16 --report shifts.html"),
    "area": ("area my-project", "area my-project --set area.json --folder lot1"),
    "use": ("use my-project", "use my-project best"),
    "adopt": (
        "adopt network.onnx --project my-project --classes scratch,pit",
        "adopt network.onnx --project my-project --output sigmoid --white 255",
    ),
    "log": ("log my-project --to tensorboard --out logs", "log my-project --to mlflow --out mlruns --follow"),
    "spots": ("spots my-project", "spots my-project lot1/a.png --count 3"),
    "queue": ("queue my-project --count 10", "queue my-project --errors"),
    "evaluate": ("evaluate my-project --report report.html", "evaluate my-project --compare last"),
    "parts": ("parts my-project", "parts my-project --missed 1 --alarms 5"),
    "gauge": ("gauge my-project repeats --repeats folder", "gauge my-project --inspectors verdicts.csv"),
    "predict": (
        "predict my-project new-images --out results",
        "predict line-model incoming --watch --log-csv results.csv",
    ),
    "export": ("export my-project --out line-model", "export my-project --out line-model --formats onnx,openvino"),
    "serve": ("serve line-model", "serve line-model --port 8200 --workers 2"),
    "doctor": ("doctor", "doctor --gpu"),
}


def epilog(verb: str) -> str:
    """Return the text below the options of a verb: examples, and the keys of its JSON objects."""
    lines = ["Examples:", *(f"  workbench {example}" for example in EXAMPLES[verb])]
    keys = describe_keys(verb)
    return "\n".join([*lines, "", keys] if keys else lines)


def default_text(action: argparse.Action) -> str:
    """Return the default of an option as text, "" if it has none or its help states it."""
    value, stated = action.default, action.help or ""
    if action.nargs == 0 or value in (None, "", [], (), argparse.SUPPRESS) or not action.option_strings:
        return ""
    text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return "" if "default" in stated or f"({text}" in stated or f"{text})" in stated else text


class HelpFormatter(argparse.HelpFormatter):
    """Formatter that states defaults, keeps the lines of a text that has several, and wraps their ends."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        default = default_text(action).replace("%", "%%")
        return f"{action.help or ''} (default: {default})".strip() if default else action.help

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = [part for line in text.splitlines() for part in self._wrapped(line, width)]
        return "\n".join(indent + line for line in lines)

    @staticmethod
    def _wrapped(line: str, width: int) -> list[str]:
        start = line[: len(line) - len(line.lstrip())]
        key = re.match(r" +\S+ +", line)
        return textwrap.wrap(line, width, subsequent_indent=" " * len(key[0]) if key else start) or [""]
