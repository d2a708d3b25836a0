"""Held-out parts are contiguous in the series, far from the training parts, and of every kind of defect."""

from __future__ import annotations

import numpy as np

from workbench.core.project.annotation import Note
from workbench.core.project.grouping import number_series
from workbench.core.project.project import Grouping
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.held_out import Item, border_images, divide_parts, split_by_part


def series(name: str, count: int, *, size: int = 5, **fields) -> list[Item]:
    return [
        Item(key=f"{name}_{n:03d}.png", group=f"{name} {n // size}", width=100, height=100, **fields)
        for n in range(count)
    ]


def split(project, items: list[Item]) -> dict[str, str]:
    split_by_part(project, items, {item.key: Note() for item in items}, set())
    return {item.key: item.split for item in items}


def test_test_images_are_the_end_of_each_series(project):
    items = [item for kind in ("a", "b") for item in series(kind, 300, verdict=kind)]
    splits = split(project, items)
    for kind in ("a", "b"):
        assert [splits[f"{kind}_{n:03d}.png"] for n in range(300)] == ["train"] * 210 + ["val"] * 45 + ["test"] * 45


def test_another_seed_holds_out_another_contiguous_part(project):
    items = series("a", 300, verdict="a")
    first = split(project, items)
    project.file.split_seed = 1
    second = split(project, items)
    held = [key for key in first if second[key] == "test"]
    assert len(held) == 45 and [first[key] for key in held].count("test") == 0
    numbers = sorted(int(key[2:5]) for key in held)
    assert numbers[-1] - numbers[0] == len(numbers) - 1


def test_what_the_last_export_held_out_stays_held_out(project):
    items = series("a", 100, verdict="a")
    before = {key for key, name in split(project, items).items() if name == "val"}
    more = [*items, *series("b", 30, verdict="a"), *series("c", 30, verdict="a")]
    assert not before <= {key for key, name in split(project, more).items() if name == "val"}
    for item in items:
        item.split = "val" if item.key in before else "train"
    run, export = project.root / "runs" / "r", project.root / "exports" / "r"
    write_json(run / "recipe.json", {})
    write_json(run / "dataset.json", Dataset(model="resnet", items=items).model_dump(mode="json"))
    write_json(export / "model.json", {"run": "r"})
    (export / "SHA256SUMS").touch()
    found = {key for key, name in split(project, more).items() if name == "val"}
    assert before < found and len(found) == 30  # whole parts, about a fifth
    project.file.split_seed = 1
    assert not before <= {key for key, name in split(project, more).items() if name == "val"}


def test_every_rare_kind_is_held_out(project):
    items = series("a", 200, verdict="common") + series("b", 10, verdict="rare")
    splits = split(project, items)
    assert {splits[item.key] for item in items if item.verdict == "rare"} >= {"train", "val"}


def test_large_and_small_defects_are_held_out(project):
    items = series("a", 300, size=1, classes=[1], pixels=[10])
    for number, item in enumerate(items):
        item.pixels = [5000 if number < 40 else 10 + number % 2 * 200]
    splits = split(project, items)
    large = [splits[item.key] for item in items[:40]]
    assert large.count("val") >= 3 and large.count("test") >= 3


def nearest(items: list[Item], left_out: set[str]) -> int:
    """Return the smallest distance of a training number to a held-out number of the same series."""
    numbers: dict[tuple[str, bool], list[int]] = {}
    for item in items:
        if item.key not in left_out:
            name, number = item.key.rsplit("_", 1)
            numbers.setdefault((name, item.split == "train"), []).append(int(number[:-4]))
    names = {name for name, _ in numbers}
    return min(abs(a - b) for name in names for a in numbers[name, True] for b in numbers.get((name, False), []))


def numbered(kinds: int, count: int) -> list[Item]:
    """Return series without gaps, cut into parts by the automatic grouping."""
    items = [item for kind in range(kinds) for item in series(f"kind{kind}", count, verdict=f"{kind}")]
    groups = {key: chunk[0] for chunk in number_series([item.key for item in items]) for key in chunk}
    return [item.model_copy(update={"group": groups[item.key]}) for item in items]


def test_a_gap_separates_training_and_held_out_numbers(project):
    items = numbered(6, 110)
    split(project, items)
    assert nearest(items, set()) == 1
    left_out = border_images(project, items, set())
    training = sum(item.split == "train" for item in items)
    assert nearest(items, left_out) == 4 and 0 < len(left_out) <= training / 20
    kept = min(left_out)
    assert border_images(project, items, {kept}) == left_out - {kept}


def test_the_gap_is_narrow_where_it_would_cost_many_images(project):
    items = numbered(2, 50)
    split(project, items)
    left_out = border_images(project, items, set())
    assert nearest(items, left_out) in (2, 3) and len(left_out) <= sum(item.split == "train" for item in items) / 20


def test_no_image_is_left_out_of_few_or_with_a_rule_of_the_user(project):
    items = numbered(2, 20)
    split(project, items)
    assert nearest(items, set()) == 1 and not border_images(project, items, set())
    items = numbered(6, 110)
    split(project, items)
    project.file.grouping = Grouping(rule="folder")
    assert not border_images(project, items, set())


def test_class_on_two_parts_stays_in_training(project):
    items = series("a", 60, classes=[1], pixels=[9]) + series("b", 10, classes=[2], pixels=[9]) + series("c", 100)
    splits = split(project, items)
    assert {splits[item.key] for item in items if item.classes == [2]} == {"train"}
    assert [splits[item.key] for item in items if item.classes == [1]].count("val") >= 5
    assert [splits[item.key] for item in items if not item.classes].count("val") >= 10


def test_only_class_is_held_out_with_two_parts(project):
    items = series("a", 10, classes=[1], pixels=[9]) + series("c", 100)
    splits = split(project, items)
    assert {splits[item.key] for item in items if item.classes} == {"train", "val"}


def test_part_with_most_images_of_a_class_stays_in_training(project):
    small = [series(f"part {n}", 4, classes=[1], pixels=[9]) for n in range(4)]
    large = series("part 9", 20, size=20, classes=[1], pixels=[9])
    splits = split(project, [item for members in (*small, large) for item in members])
    assert {splits[item.key] for item in large} == {"train"}
    held = [key for key, value in splits.items() if value == "val"]
    assert held == [item.key for item in (*small[2], *small[3])]


def test_few_parts_with_defects_of_all_sizes_reach_their_share(project):
    """Each part has small, medium and large defects, so it is listed for one of these sizes only."""
    rng, items = np.random.default_rng(32), series("crack", 60, classes=[1])
    for item in items:
        item.pixels = [int(rng.integers(10, 4000))]
    splits = split(project, items)
    held = [key for key, value in splits.items() if value == "val"]
    assert len(held) == 10  # 5 without the parts that are moved: a single part


def test_halves_of_the_parts_have_labels_on_both_sides():
    items = series("a", 20, classes=[1], pixels=[9], mask_hash="x") + series("b", 20, mask_hash="y")
    sides = divide_parts(items, [item.key for item in items])
    assert sides is not None
    of_group = {}
    for item, side in zip(items, sides):
        assert of_group.setdefault(item.group, side) == side
    assert {side for item, side in zip(items, sides) if item.classes} == {0, 1}
    one_part = series("a", 5, classes=[1], pixels=[9], mask_hash="x")
    assert divide_parts(one_part, [item.key for item in one_part]) is None
