"""Number of parts for a bound, what the present ones prove, and which parts to label next."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from tests.conftest import fill_project
from tests.session.mask_run import make_mask_project
from tests.session.verdict_run import make_verdict_project
from workbench.core.evaluation import part_plan
from workbench.core.evaluation.part_plan import MOST_PARTS, PartCount, count_errors, next_parts, parts_needed
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, evaluate_run
from workbench.core.project.image_row import ImageRow, read_row
from workbench.core.project.project import Grouping, Project
from workbench.inference.verdict_rule import VerdictRule


def at_most(errors: int, total: int, share: float) -> float:
    """Return the probability of at most so many errors, by the binomial coefficients."""
    return sum(comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(errors + 1))


@pytest.mark.parametrize(
    ("errors", "percent", "confidence", "parts"),
    # Without errors ln(1 - confidence) / ln(1 - bound); with them the tables of attribute sampling plans.
    [(0, 1, 95, 299), (0, 2, 95, 149), (0, 5, 95, 59), (0, 1, 90, 230), (0, 0.1, 95, 2995), (1, 1, 95, 473),
     (2, 1, 95, 628), (1, 5, 95, 93), (3, 2, 90, 333)],
)  # fmt: skip
def test_published_numbers_of_parts(errors, percent, confidence, parts):
    found = parts_needed(errors, percent / 100, confidence / 100)
    assert found == parts
    assert at_most(errors, found, percent / 100) <= 1 - confidence / 100 < at_most(errors, found - 1, percent / 100)


@pytest.mark.parametrize(("hits", "total"), [(0, 299), (0, 20), (1, 93), (3, 40), (7, 12)])
def test_the_proven_limit_is_exact(hits, total):
    limit = PartCount("missed", hits, total, 1.0).limit / 100
    assert at_most(hits, total, limit) == pytest.approx(0.05, rel=1e-6)
    assert hits or limit <= 3 / total  # rule of three


def test_parts_at_the_rate_so_far_prove_the_bound_with_the_errors_expected_on_them():
    plan = PartCount("alarms", 1, 200, 2.0)
    expected = next(
        parts_needed(errors, 0.02, 0.95) for errors in range(1, 99) if parts_needed(errors, 0.02, 0.95) <= 200 * errors
    )
    assert plan.without_errors == 149 and plan.at_rate == expected > 149
    assert PartCount("alarms", 2, 100, 2.0).at_rate is None  # as frequent as the bound
    assert "no number of parts" in plan.lines()[-1] or str(expected) in plan.lines()[-1]
    assert "get better" in PartCount("alarms", 5, 100, 2.0).lines()[-1]


def test_reached_and_unmeasured_bounds_are_stated():
    assert PartCount("missed", 0, 299, 1.0).reached and not PartCount("missed", 0, 298, 1.0).reached
    assert "That is enough" in PartCount("missed", 0, 299, 1.0).lines()[1]
    nothing = PartCount("alarms", 0, 0, 2.0)
    assert nothing.limit is None and not nothing.reached
    assert nothing.lines()[0].startswith("Nothing is measured: no good image") and "149" in nothing.lines()[1]
    assert f"more than {MOST_PARTS}" in PartCount("missed", 0, 10, 0.01).lines()[1]


def test_the_stated_limit_is_never_below_the_proven_one():
    for total in range(1, 400, 7):
        plan = PartCount("missed", 0, total, 0.5)
        stated = float(plan.lines()[0].split("at most ")[1].split("%")[0])
        assert plan.limit <= stated <= 1.11 * plan.limit + 0.1


@pytest.fixture(scope="module")
def masks(tmp_path_factory):
    return make_mask_project(tmp_path_factory.mktemp("parts") / "m")


def evaluate(run, split: str = "test", **changes):
    project = Project.open(run.project_root, write=False)
    return evaluate_run(project, run, split, options=FIGURES_ONLY, progress=lambda *_: None)


def test_a_part_is_missed_if_one_of_its_defective_images_is(masks):
    from dataclasses import replace

    evaluation = evaluate(masks)
    # Groups of two images; the last two images of the split are good, the second one has a false alarm.
    defective = {entry.part for entry in evaluation.images.predictions if entry.labeled_pixels[0]}
    assert count_errors(evaluation) == {"missed": (0, len(defective)), "alarms": (0, 1)}
    strict = replace(evaluation, rule=VerdictRule("mass", 1e9))
    assert count_errors(strict) == {"missed": (len(defective), len(defective)), "alarms": (0, 1)}
    images = evaluation.images
    missed = [replace(e, counts=replace(e.counts, defects=tuple(replace(d, predicted=0) for d in e.counts.defects)))
              if number == 1 else e for number, e in enumerate(images.evaluations)]  # fmt: skip
    one = replace(evaluation, images=replace(images, evaluations=missed))
    assert count_errors(one)["missed"] == (1, len(defective))
    assert "none of them is detected" in part_plan.definition(evaluation)
    assert "verdict rule" in part_plan.definition(strict)


def test_verdicts_are_counted_by_the_verdict_of_good_parts(tmp_path):
    evaluation = evaluate(make_verdict_project(tmp_path / "v"), "val")
    assert part_plan.good_verdicts(evaluation, "NG") == ["OK", "NG"]
    wrong = sum(image.truth == "NG" and image.predicted == 0 for image in evaluation.verdicts.images)
    defective = sum(image.truth == "NG" for image in evaluation.verdicts.images)
    assert wrong and count_errors(evaluation, "OK")["missed"] == (wrong, defective)


def test_one_image_of_each_new_part_is_listed(project):
    keys = fill_project(project, 12, good=12)
    for key in keys[8:]:
        project.mask_path(key).unlink()
        project.note_path(key).unlink()
    rows = {key: read_row(project, key) for key in keys}
    project.file.grouping = Grouping(rule="folder")
    new = next_parts(project, rows, most=99)
    used = {key.rpartition("/")[0] for key, row in rows.items() if row.labeled}
    waiting = {key.rpartition("/")[0] for key in keys} - used
    assert new.parts == len(waiting) and {entry.key.rpartition("/")[0] for entry in new.entries} == waiting
    assert len(new.entries) == len(waiting) > 0 and all(isinstance(rows[entry.key], ImageRow) for entry in new.entries)
    assert len(next_parts(project, rows, count=1, most=99).entries) == min(1, len(waiting))
    assert np.isfinite([entry.value for entry in new.entries]).all()
