"""Data set of a run: splits by group without leaks, broken images listed by name, notes on small numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import fill_project, scratched
from tests.core.runs.planned_projects import with_verdicts
from workbench.core import problems
from workbench.core.documents.document import Paragraph
from workbench.core.documents.run_blocks import data_blocks
from workbench.core.images.image_files import image_size
from workbench.core.project import annotation
from workbench.core.project.project import Grouping
from workbench.core.runs.dataset import collect
from workbench.core.runs.held_out import shares
from workbench.inference.io.image_io import write_png


def by_split(dataset):
    return {split: [i.key for i in dataset.items if i.split == split] for split in ("train", "val", "test")}


def test_a_project_without_images_is_refused(project):
    with pytest.raises(problems.NoImages):
        collect(project, "unet")


def test_projects_with_no_or_one_label_are_refused(project):
    image, mask = scratched(np.random.default_rng(0))
    write_png(project.image_path("a.png"), image)
    with pytest.raises(problems.NoLabels):
        collect(project, "unet")
    with pytest.raises(problems.NoVerdicts):
        collect(project, "resnet")
    annotation.save_mask(project, "a.png", mask)
    with pytest.raises(problems.TooFewLabels):
        collect(project, "unet")


def test_good_images_alone_are_refused(project):
    fill_project(project, 0, good=4)
    with pytest.raises(problems.OnlyBackground):
        collect(project, "unet")


def test_an_empty_mask_counts_only_for_a_done_image(project):
    keys = fill_project(project, 3, good=2)
    annotation.save_note(project, keys[-1], annotation.Note(status="started"))
    assert {i.key for i in collect(project, "unet").items} == set(keys[:-1])


def test_groups_are_never_divided_between_splits(project):
    fill_project(project, 60, good=20)
    project.file.grouping = Grouping(rule="folder")
    dataset = collect(project, "unet")
    sides: dict[str, set[str]] = {}
    for item in dataset.items:
        sides.setdefault(item.group, set()).add(item.split)
    assert len(sides) == 20 and all(len(s) == 1 for s in sides.values())
    split = by_split(dataset)
    for name, share in shares(60, 20).items():
        assert abs(len(split[name]) / 80 - share) < 0.12


def test_images_beside_held_out_ones_are_left_out_and_reported(project):
    with_verdicts(project, 100)
    dataset = collect(project, "resnet")
    numbers = {split: [int(key[:-4]) for key in keys] for split, keys in by_split(dataset).items()}
    held_out = numbers["val"] + numbers["test"]
    assert min(abs(a - b) for a in numbers["train"] for b in held_out) > 1
    assert dataset.gap and len(dataset.items) + len(dataset.gap) == 100 and not dataset.skipped
    texts = [block.text for block in data_blocks(dataset) if isinstance(block, Paragraph)]
    assert any(f"{len(dataset.gap)} labeled image" in text for text in texts)


@pytest.mark.parametrize(("number", "held_out"), [(23, False), (24, True)])
def test_images_are_held_out_if_there_are_two_of_each_verdict(project, number, held_out):
    with_verdicts(project, number, ("A", "B", "C"))
    project.file.grouping = Grouping(rule="each")
    dataset = collect(project, "resnet")
    assert bool(dataset.of("val", "test")) == held_out
    assert ("From 24 images on" in dataset.held_out_note) != held_out


def test_few_defects_are_all_used_for_training(project):
    fill_project(project, 9, good=30)
    project.file.grouping = Grouping(rule="each")
    dataset = collect(project, "unet")
    assert not dataset.of("val", "test") and len(dataset.of("train")) == 39
    assert dataset.held_out_note == (
        "All 9 images with defects are used for training, so there are no metrics. "
        "From 10 such images on, some are used for validation."
    )
    fill_project(project, 10)
    assert len([item for item in collect(project, "unet").of("val") if item.classes]) == 2


def test_pinned_images_are_held_out_even_if_there_are_few(project):
    keys = fill_project(project, 5)
    annotation.save_note(project, keys[0], annotation.Note(status="done", pin="val"))
    dataset = collect(project, "unet")
    assert keys[0] in [item.key for item in dataset.of("val")] and len(dataset.of("train")) > 0
    project.file.grouping = Grouping(rule="each")
    for key in keys:
        annotation.save_note(project, key, annotation.Note(status="done", pin="val"))
    dataset = collect(project, "unet")
    assert len(dataset.of("train")) == 1 and len(dataset.of("val")) == 4  # a training set is never empty


def test_a_test_set_is_drawn_only_if_many_parts_have_a_defect(project):
    fill_project(project, 60, good=20)
    project.file.grouping = Grouping(rule="each")
    assert {name: len(keys) for name, keys in by_split(collect(project, "unet")).items()} == {
        "train": 56,
        "val": 12,
        "test": 12,
    }
    project.file.grouping = Grouping(rule="folder")
    assert by_split(collect(project, "unet"))["test"] == []


def test_a_pinned_test_set_leaves_the_usual_shares_of_the_rest(project):
    keys = fill_project(project, 40)
    project.file.grouping = Grouping(rule="each")
    for key in keys[:20]:
        annotation.save_note(project, key, annotation.Note(status="done", pin="test"))
    assert {name: len(found) for name, found in by_split(collect(project, "unet")).items()} == {
        "train": 16,
        "val": 4,
        "test": 20,
    }


def test_training_images_of_the_initial_run_are_not_held_out(project):
    fill_project(project, 20)
    project.file.grouping = Grouping(rule="each")
    learned = by_split(collect(project, "unet"))["train"]
    fill_project(project, 40, good=10)
    anew, on = by_split(collect(project, "unet")), by_split(collect(project, "unet", learned))
    assert not set(on["val"]) & set(learned) and len(on["val"]) == len(anew["val"]) == 10


def test_initial_run_trained_on_every_part_leaves_no_validation(project):
    keys = fill_project(project, 4)
    project.file.grouping = Grouping(rule="each")
    dataset = collect(project, "unet", keys)
    assert not dataset.of("val", "test") and "no metrics" in dataset.held_out_note
    annotation.save_note(project, keys[0], annotation.Note(status="done", pin="val"))
    dataset = collect(project, "unet", keys)
    assert [item.key for item in dataset.of("val")] == keys[:1]
    assert dataset.held_out_note == (
        "The initial model was trained on 1 of the validation/test images, so the metrics are too optimistic."
    )


def test_a_pattern_groups_by_what_it_captures(project):
    fill_project(project, 16)
    project.file.grouping = Grouping(rule="pattern", pattern=r"lot(\d+)/")
    assert {i.group for i in collect(project, "unet").items} == {"0", "1", "2", "3"}


def test_the_split_is_reproducible(project):
    fill_project(project, 20)
    assert collect(project, "unet") == collect(project, "unet")


def test_near_equal_images_share_a_group(project):
    """Two images of one part whose names do not show it."""
    rng = np.random.default_rng(5)
    smooth = [np.kron(rng.integers(60, 200, (6, 6)), np.ones((16, 16))).astype(np.float64) for _ in range(12)]
    for i, base in enumerate(smooth):
        for name, noise in (("xk", 0), ("qf", 1)):
            key = f"{name}{'abcdefghijkl'[i]}.png"
            image = np.clip(base * (0.8 + 0.2 * noise) + rng.normal(0, 3, base.shape), 0, 255)
            write_png(project.image_path(key), image.astype(np.uint8))
            mask = np.zeros(base.shape, np.uint8)
            mask[:5, :5] = 1
            annotation.save_mask(project, key, mask)
    groups = {i.key: i.group for i in collect(project, "unet").items}
    for letter in "abcdefghijkl":
        assert groups[f"xk{letter}.png"] == groups[f"qf{letter}.png"]
    assert len(set(groups.values())) >= 10


def test_images_of_a_group_pinned_to_different_splits_keep_them(project):
    keys = fill_project(project, 12)
    project.file.grouping = Grouping(rule="pattern", pattern="(.)")  # all images are one group
    for number, key in enumerate(keys[:-1]):
        annotation.save_note(project, key, annotation.Note(status="done", pin="val" if number % 3 else "train"))
    sides = {item.key: item.split for item in collect(project, "unet").items}
    assert all(sides[key] == ("val" if number % 3 else "train") for number, key in enumerate(keys[:-1]))
    assert sides[keys[-1]] == "train"  # with the first image of its group


def test_a_pinned_image_is_in_its_split(project):
    keys = fill_project(project, 12)
    project.file.grouping = Grouping(rule="each")
    annotation.save_note(project, keys[0], annotation.Note(status="done", pin="val"))
    assert next(i.split for i in collect(project, "unet").items if i.key == keys[0]) == "val"


def test_broken_images_are_listed_and_left_out(project):
    keys = fill_project(project, 8)
    torn = project.image_path(keys[0])
    torn.write_bytes(torn.read_bytes()[:40])
    annotation.save_mask(project, keys[1], np.zeros((3, 3), np.uint8))
    annotation.save_mask(project, keys[2], np.full((80, 96), 9, np.uint8))
    project.note_path(keys[3]).write_text("{")
    dataset = collect(project, "unet")
    assert {s.key for s in dataset.skipped} >= set(keys[1:4])
    assert {i.key for i in dataset.items} <= {keys[0], *keys[4:]}
    assert all(s.why for s in dataset.skipped)


def test_a_verdict_of_a_single_image_does_not_prevent_a_training(project):
    keys = fill_project(project, 6, good=6, verdicts=True)
    project.file.verdicts = ["OK", "NG", "doubt"]
    annotation.save_note(project, keys[0], annotation.Note(verdict="doubt"))
    dataset = collect(project, "resnet")
    assert dataset.verdicts == ["OK", "NG"] and {item.key for item in dataset.items} == set(keys[1:])
    assert [each.key for each in dataset.skipped] == keys[:1] and "doubt" in dataset.skipped[0].why
    for key in keys[1:6]:
        annotation.save_note(project, key, annotation.Note())
    with pytest.raises(problems.NoVerdicts, match="7 images with 2 different verdicts"):
        collect(project, "resnet")


def test_few_held_out_images_are_reported(project):
    fill_project(project, 12)
    dataset = collect(project, "unet")
    assert dataset.of("val") and "metrics are rough" in dataset.held_out_note


def test_class_without_held_out_images_is_named(project):
    keys = fill_project(project, 64)
    project.add_class("dent", id=2)
    for key in keys[:8]:  # two parts
        mask = annotation.load_mask(project, key, image_size(project.image_path(key)))
        annotation.save_mask(project, key, mask * 2)
    dataset = collect(project, "unet")
    assert dataset.of("val") and {2 in item.classes for item in dataset.of("val", "test")} == {False}
    assert dataset.held_out_note == (
        "There are no metrics for dent, because a class on fewer than 3 parts is used for training only."
    )


def test_a_single_part_leaves_no_validation(project):
    fill_project(project, 4)
    project.file.grouping = Grouping(rule="pattern", pattern="lot(.)")
    dataset = collect(project, "unet")
    assert not dataset.of("val", "test") and "no metrics" in dataset.held_out_note


def test_verdicts_are_stratified(labeled_project):
    dataset = collect(labeled_project, "resnet")
    assert dataset.verdicts == ["OK", "NG"]
    for split in ("train", "val"):
        assert {i.verdict for i in dataset.of(split)} == {"OK", "NG"}


def test_relabelling_held_out_images_changes_what_may_be_compared(labeled_project):
    first = collect(labeled_project, "unet")
    key = first.of("val", "test")[0].key
    mask = annotation.load_mask(labeled_project, key)
    mask[0, 0] = 1
    annotation.save_mask(labeled_project, key, mask)
    assert collect(labeled_project, "unet").held_out_hash != first.held_out_hash
