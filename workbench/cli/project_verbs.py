"""Verbs of a project: `create`, `check`, `statistics`, `sources`, `remove`, `pack`, `unpack`, and `labels`, which
exports labels in the file format of another tool. The keys of their JSON objects are in `verb_help`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, WrongUse, add_project
from workbench.core.images.image_files import count_unused, unused_texts
from workbench.core.problems import NotInProject, UntrustedPlaces
from workbench.core.project import trash
from workbench.core.project.exporting import EXPORT_FORMATS, export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.packing import pack, unpack
from workbench.core.project.plausibility import image_concerns
from workbench.core.project.project import Project, locate_source, source_reports
from workbench.core.project.sources import walk
from workbench.core.project.storage import write_bytes
from workbench.core.project_check import check, findings_csv, kind_texts
from workbench.core.project_statistics import (
    UM_PER_MM,
    ProjectStatistics,
    class_csv,
    csv_definitions,
    project_statistics,
    region_csv,
    summary,
    to_json,
)
from workbench.core.text_patterns import counted, fill, split_names
from workbench.inference.text_safety import SUFFIX

_SHOWN_FINDINGS = 10


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the findings to a CSV file")
    parser.add_argument("--fail", action="store_true", help="exit status 1 if there are findings, for automatic checks")


def run_check(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with console.progress("checking") as move:
        findings = check(project, move)
    if options.csv is not None:
        write_bytes(options.csv, findings_csv(findings))
    counts = Counter(finding.kind for finding in findings)
    images = len(project.images())
    if not findings:
        console.line(f"{counted(images, 'image')} checked. No problems found.")
    for kind, count in counts.items():
        title, advice = kind_texts()[kind]
        console.line(f"{title}: {count}. {advice}")
        for finding in [finding for finding in findings if finding.kind == kind][:_SHOWN_FINDINGS]:
            console.line(f"  {finding.key}: {finding.detail}")
        if count > _SHOWN_FINDINGS:
            console.line(f"  and {count - _SHOWN_FINDINGS} more (--json lists all)")
    return {
        "exit": int(options.fail and bool(findings)),
        "pictures": images,
        "findings": [
            {
                "kind": finding.kind,
                "key": finding.key,
                "detail": finding.detail,
                "advice": kind_texts()[finding.kind][1],
            }
            for finding in findings
        ],
    }


def add_statistics_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one line per class to a CSV file")
    parser.add_argument("--regions", type=Path, metavar="FILE", help="write one line per region to a CSV file")


def run_statistics(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with console.progress("reading labels") as move:
        result = project_statistics(project, move)
    for path, content in ((options.csv, class_csv), (options.regions, region_csv)):
        if path is not None:
            table = content(result)
            write_bytes(path, table)
            write_bytes(path.with_name(path.name + SUFFIX), csv_definitions(path.name, table))
    _print(result, console)
    return to_json(result)


def _print(result: ProjectStatistics, console: Console) -> None:
    console.line(f"{counted(result.images, 'image')}, {result.masked} with a mask, {result.broken} unreadable.")
    console.line("Status: " + _counts(result.statuses))
    if any(result.verdicts.values()):
        console.line("Verdicts: " + _counts({name or "none": n for name, n in result.verdicts.items()}))
    for model, counts in result.splits.items():
        console.line(f"Split for {'UNet' if model == 'unet' else 'ResNet'}: {_counts(counts)}")
    scale = result.um_per_pixel
    for entry in result.classes:
        text = f"{entry.name}: {counted(entry.images, 'image')}, {counted(entry.regions, 'region')}"
        areas = summary(entry.values("area"))
        if areas:
            text += f", area {areas['min']:.0f} to {areas['max']:.0f} px² (median {areas['median']:.0f})"
        if areas and scale is not None:
            factor = (scale / UM_PER_MM) ** 2
            text += f", {areas['min'] * factor:.3g} to {areas['max'] * factor:.3g} mm²"
        console.line(text)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())


_ARGUMENTS = {"list": 0, "add": 1, "remove": 1, "locate": 2}


def add_sources_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "action",
        nargs="?",
        choices=list(_ARGUMENTS),
        default="list",
        help="add FOLDER: use the images of a folder where they are; remove NAME: with the labels of its images, which "
        "`remove --restore` brings back; locate NAME FOLDER: after the folder was moved",
    )
    parser.add_argument("values", nargs="*", metavar="NAME|FOLDER", help="of the action")
    parser.add_argument(
        "--force", action="store_true", help="locate: accept a folder without any of the labeled images"
    )


def run_sources(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    action, values = options.action, options.values
    if len(values) != _ARGUMENTS[action]:
        raise WrongUse(f"{action} takes {_ARGUMENTS[action]} arguments, not {len(values)}")
    result: dict[str, Any] = {}
    with Project.open(options.project, write=action != "list") as project:
        if action == "add":
            result["added"] = project.add_source(Path(values[0])).name
        elif action == "remove":
            removal = trash.remove_source(project, values[0])
            result["removed"] = removal.name
            console.line(
                f"{values[0]} removed. Restore it with: workbench remove {project.root} --restore {removal.name}"
            )
        elif action == "locate":
            result["located"] = locate_source(project, values[0], Path(values[1]), check=not options.force).name
        reports = source_reports(project)
        for report in reports:
            state = "MISSING" if report.missing else counted(report.images, "image")
            console.line(f"{report.name or '(project)'}: {report.path} – {state}")
    result["sources"] = [
        {
            "name": report.name,
            "path": report.path,
            "relative": report.relative,
            "missing": report.missing,
            "pictures": report.images,
        }
        for report in reports
    ]
    return result


def add_remove_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("keys", nargs="*", metavar="IMAGE", help="path of an image in the project, as in 'lot1/a.png'")
    parser.add_argument("--restore", metavar="NAME", help="restore a removal (without NAME: see --list)")
    parser.add_argument("--delete", metavar="NAME", help="delete the files of a removal permanently")
    parser.add_argument("--list", action="store_true", help="list the removals that can be restored")


def run_remove(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    chosen = [bool(options.keys), options.restore is not None, options.delete is not None, options.list]
    if sum(chosen) != 1:
        raise WrongUse("name images, or use one of --restore, --delete and --list")
    result: dict[str, Any] = {}
    with Project.open(options.project, write=not options.list) as project:
        if options.keys:
            known = set(project.images())
            for key in options.keys:
                if key not in known:
                    raise NotInProject(name=key)
            removal = trash.remove_images(project, list(dict.fromkeys(options.keys)))
            result["removed"] = removal.name
            removed = fill("{n} {n:image|images} removed", n=len(removal.keys))
            console.line(f"{removed}. Undo: workbench remove {project.root} --restore {removal.name}")
        elif options.restore is not None:
            kept = trash.restore(project, options.restore)
            result["kept"] = kept
            console.line("Restored." + (f" Copies of files that exist again: {kept[0].parent}" if kept else ""))
        elif options.delete is not None:
            trash.delete_permanently(project, options.delete)
            console.line("Deleted.")
        removals = trash.removals(project)
        if options.list and not removals:
            console.line("There are no removed images.")
        if options.list:
            for removal in removals:
                images = fill("{n} {n:image|images}", n=len(removal.keys))
                what = f"source {removal.source.name}" if removal.source else images
                console.line(
                    fill("{name}: {what}, {n} {n:file|files}", name=removal.name, what=what, n=len(removal.files))
                )
        result["pictures"] = len(project.images())
    result["removals"] = [
        {
            "name": removal.name,
            "when": removal.when,
            "pictures": removal.keys,
            "source": removal.source.name if removal.source else None,
        }
        for removal in removals
    ]
    return result


_NAMED = 5  # files


def add_pack_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("out", type=Path, metavar="OUT.zip", help="file to write")
    parser.add_argument("--no-runs", dest="runs", action="store_false", help="leave the trained models out")


def run_pack(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with console.progress("packing") as move:
        report = pack(project, options.out, runs=options.runs, progress=move)
    assert report is not None
    console.line(
        f"{report.path}: {counted(report.images, 'image')}, {counted(report.files, 'file')}, "
        f"{report.nbytes / 1e6:.1f} MB."
    )
    if report.missing:
        console.line(f"Left out because their folders are not available: {', '.join(report.missing)}.")
    if report.skipped:
        console.line(
            f"{counted(len(report.skipped), 'file')} left out, removed meanwhile or with a name that is not UTF-8: "
            f"{', '.join(report.skipped[:_NAMED])}"
        )
    return {
        "path": report.path,
        "pictures": report.images,
        "files": report.files,
        "bytes": report.nbytes,
        "missing": report.missing,
        "skipped": report.skipped,
    }


def add_unpack_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="PROJECT.zip", help="packed project")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="FOLDER", help="parent folder (.)")


def run_unpack(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    with console.progress("unpacking") as move:
        root = unpack(options.path, options.folder.absolute(), progress=move)
    assert root is not None
    try:
        images = len(Project.open(root, write=False).images())
    except UntrustedPlaces as problem:
        console.line(f"Project {root}.")
        console.note(str(problem))
        return {"project": root, "pictures": None}
    console.line(f"Project {root} with {counted(images, 'image')}.")
    return {"project": root, "pictures": images}


_SHOWN = 20


def add_labels_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument("out", type=Path, metavar="OUT", help="empty or new folder")
    formats = "; ".join(f"{format.name}: {format.title}" for format in EXPORT_FORMATS.values())
    parser.add_argument("--format", choices=list(EXPORT_FORMATS), required=True, help=formats)
    parser.add_argument("--images", action="store_true", help="copy the images too (mvtec and folders always do)")
    choices = ", ".join(f"{format.name}: {format.shapes[0]}" for format in EXPORT_FORMATS.values() if format.shapes)
    parser.add_argument(
        "--shapes", choices=("polygon", "mask"), help=f"how to store regions, if the format has a choice ({choices})"
    )
    parser.add_argument("--no-split", dest="split", action="store_false", help="ignore the split into train, val, test")
    parser.add_argument(
        "--keep-ids", dest="contiguous", action="store_false", help="keep the class IDs instead of numbering from 1"
    )


def run_labels(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    chosen = LabelExportOptions(options.images, options.shapes, options.split, options.contiguous)
    with console.progress("exporting") as move:
        report = export_labels(
            project,
            options.out,
            format=options.format,
            options=chosen,
            warn=lambda renamed: console.note("\n".join(renamed)),
            progress=move,
        )
    console.line(f"{counted(report.labels, 'label')} and {counted(report.images, 'image')} written to {options.out}.")
    for sentence in report.lost:
        console.line(sentence)
    for path, why in report.skipped[:_SHOWN]:
        console.line(f"Skipped {path}: {why}")
    return {
        "path": report.path,
        "format": report.format,
        "labels": report.labels,
        "images": report.images,
        "renamed": report.renamed,
        "lost": report.lost,
        "losses": report.losses,
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
    }


def add_create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT", help="folder to create")
    parser.add_argument(
        "--images", type=Path, dest="pictures", metavar="DIR", help="folder of images, which are not copied"
    )
    parser.add_argument("--pictures", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--classes", type=split_names, default=[], metavar="A,B", help="classes of defects")
    parser.add_argument("--verdicts", type=split_names, default=[], metavar="OK,NG", help="verdicts for whole images")
    parser.add_argument("--name", default="", help="name of the project (default: name of the folder)")


def run_create(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    with Project.create(
        options.project,
        name=options.name,
        images=options.pictures,
        classes=options.classes,
        verdicts=options.verdicts,
    ) as project:
        count = len(project.images())
        console.line(f"Project {project.root} with {counted(count, 'image')}.")
        names = [] if options.pictures is None else [name for name, _ in walk(options.pictures)]
        unused = count_unused(names)
        for text in unused_texts(unused):
            console.line(text)
        for concern in image_concerns([project.image_path(key) for key in project.images()]):
            console.line(f"{concern.text}.")
        if not count:
            console.line(f"Copy images to {project.root / 'pictures'}, or: workbench import {options.project} FOLDER")
        return {
            "project": project.root,
            "pictures": count,
            "unused_files": dict(unused),
            "classes": [info.name for info in project.classes],
            "verdicts": project.file.verdicts,
        }
