"""Keys of the JSON objects that the verbs about projects and labels print with --json; `--help` lists them.

Counts are numbers of images unless a row states otherwise. Keys are added, never renamed or removed.
"""

from __future__ import annotations

_SKIPPED = "list of {path, why}"
_CONFLICT_LIST = "list of {key, kept: mine or theirs}, for images that both projects label differently"

# Verb -> option that selects another object, "" for the usual one -> key -> meaning.
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
            "classes": "list of {id, name, pictures, regions, pixels, splits, area_px, length_px}, and with the "
            "pixel scale area_mm2 and length_mm; areas and lengths have min, median, p90, max, mean",
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
            "skipped": "files that vanished while packing",
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
