"""Gauge study: kappa and agreement from verdicts, table of inspectors, and studies of both kinds of model."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.session.mask_run import make_mask_project
from tests.session.verdict_run import make_verdict_project
from workbench.core.evaluation import gauge_study, intervals, operating_point
from workbench.core.evaluation.gauge_study import MODEL, GaugeStudy, Rating
from workbench.core.evaluation.intervals import Interval
from workbench.core.problems import BadGrouping, GaugeUnusable, InspectorsUnreadable, RunBroken
from workbench.core.project.project import Project


def figure(study: GaugeStudy, id: str, first: str, second: str):
    return next(row for row in study.figures if (row.id, row.of) == (id, (first, second)))


def rate(rows: list[tuple[str, str, str, str]]) -> GaugeStudy:
    """Return a study of (rater, part, image, verdict)."""
    return GaugeStudy(ratings=[Rating(rater=a, part=b, image=c, verdict=d) for a, b, c, d in rows])


def test_kappa_of_published_examples():
    # Cohen 1960 as in the textbooks: 20, 5, 10 and 15 of 50; Fleiss, Levin and Paik 2003, table 18.1.
    assert intervals.kappa(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)
    table = np.array([[75, 1, 4], [5, 4, 1], [0, 0, 10]])
    assert intervals.kappa(table) == pytest.approx(0.676, abs=5e-4)
    assert intervals.kappa(np.array([[7, 0], [0, 0]])) == 0 and np.isnan(intervals.kappa(np.zeros((2, 2))))


def test_two_inspectors_on_the_same_images_agree_as_counted():
    counts = {("OK", "OK"): 20, ("OK", "NG"): 5, ("NG", "OK"): 10, ("NG", "NG"): 15}
    verdicts = list(itertools.chain.from_iterable([pair] * count for pair, count in counts.items()))
    rows = [(r, f"p{n}", f"p{n}/a", v) for n, pair in enumerate(verdicts) for r, v in zip(("A", "B"), pair)]
    study = rate(rows)
    assert figure(study, "kappa", "A", "B").value == pytest.approx(0.4)
    same = figure(study, "same_verdict", "A", "B")
    assert (same.hits, same.total, same.parts) == (35, 50, 50)
    edges = figure(study, "kappa", "A", "B").edges
    # Standard error of Fleiss, Cohen and Everitt 1969 for this table: 0.1265
    assert edges == pytest.approx([0.4 - 1.96 * 0.1265, 0.4 + 1.96 * 0.1265], abs=0.06)
    assert not any(row.of == ("A", "A") for row in study.figures)  # no repeats


def test_repeats_are_compared_within_each_part():
    verdicts = {"p0": ["OK", "OK", "NG"], "p1": ["NG", "NG", "NG"], "p2": ["OK", "OK", "OK"], "p3": ["OK"]}
    study = rate([(MODEL, part, f"{part}/{n}", v) for part, vs in verdicts.items() for n, v in enumerate(vs)])
    same, kappa = (figure(study, id, MODEL, MODEL) for id in ("same_verdict", "kappa"))
    assert (same.hits, same.total) == (2, 3) and kappa.interval == "only 3 parts, at least 5 are needed"
    # Fleiss' kappa 1971: mean agreement of the pairs of a part, and that of the pooled verdicts
    agreed, pooled = (1 / 3 + 1 + 1) / 3, np.array([5, 4]) / 9
    assert kappa.value == pytest.approx((agreed - (pooled**2).sum()) / (1 - (pooled**2).sum()))
    assert study.differing() == [("p0", ["OK, OK, NG"])]


def test_a_verdict_on_the_part_is_compared_with_all_its_images():
    rows = [(MODEL, "p", f"p/{n}", "NG" if n else "OK") for n in range(4)] + [("A", "p", "", "NG")]
    rows += [(MODEL, "q", "q/0", "OK"), ("A", "q", "", "OK")]
    study = rate(rows)
    assert figure(study, "same_verdict", MODEL, "A").hits == 1
    table = np.array([[1, 0.25], [0, 0.75]])  # one observation of each part
    assert figure(study, "kappa", MODEL, "A").value == pytest.approx(float(intervals.kappa(table)))


def test_kappa_of_a_single_verdict_is_not_stated():
    study = rate([(r, f"p{n}", f"p{n}", "OK") for n in range(9) for r in ("A", "B")])
    row = figure(study, "kappa", "A", "B")
    assert row.value is None and row.interval == "all verdicts are the same"
    assert figure(study, "same_verdict", "A", "B").value == 1


def test_few_parts_with_defects_widen_the_interval():
    tables = np.zeros((20, 2, 2))
    tables[:, 0, 0] = 1
    balanced, rare = tables.copy(), tables.copy()
    balanced[:10], rare[:2] = [[0, 0], [0, 1]], [[0, 0], [0, 1]]
    wide, narrow = (intervals.kappa_interval(each) for each in (rare, balanced))
    assert wide.high == narrow.high == 1 and wide.low < 0.3 < 0.6 < narrow.low
    assert isinstance(narrow, Interval) and narrow.method == "kappa"
    assert intervals.kappa_interval(balanced[8:12]) == "only 4 parts, at least 5 are needed"
    by_chance = tables.copy()  # one rater errs on two parts, and no part has a defect
    by_chance[:2] = [[0, 1], [0, 0]]
    found = intervals.kappa_interval(by_chance)
    assert isinstance(found, Interval) and found.low < -0.8 and found.high > 0.8


@pytest.fixture(scope="module")
def masks(tmp_path_factory):
    return make_mask_project(tmp_path_factory.mktemp("gauge") / "m")


def run_study(run, **options):
    project = Project.open(run.project_root, write=False)
    return gauge_study.run_study(project, run, progress=lambda *_: None, **options)


def test_any_region_rejects_an_image_without_a_verdict_rule(masks):
    study = run_study(masks, repeats="(p[0-9]+)")
    assert study.images == 17 and study.learned == 6 and not study.skipped
    assert figure(study, "same_verdict", MODEL, MODEL).parts == 6
    by_image = {rating.image: rating.verdict for rating in study.ratings}
    assert by_image["test/p02.png"] == "NG" and by_image["train/p05.png"] == "OK"
    settings = operating_point.settings_of(masks)
    assert "6 of these images are training images" in gauge_study.cautions(study, masks, settings)[0]


def test_a_study_is_stored_with_its_run(masks):
    study = run_study(masks)
    gauge_study.store(masks, study)
    assert gauge_study.load(masks) == study
    changed = study.model_copy(update={"model": "other"})
    settings = operating_point.settings_of(masks)
    assert any("changed since" in text for text in gauge_study.cautions(changed, masks, settings))
    (masks.root / gauge_study.FILE).write_text('{"format": 1, "ratings": 3}')
    with pytest.raises(RunBroken):
        gauge_study.load(masks)
    (masks.root / gauge_study.FILE).unlink()
    assert gauge_study.load(masks) is None


@pytest.mark.parametrize(
    ("table", "verdicts"),
    [
        ("part;Anna;Bert\np00;i.O.;n.i.O.\np01;OK;scratch\n", ["OK", "NG", "OK", "NG"]),
        ("image,Anna,Anna\ntest/p00.png,good,bad\ntest\\p01,NG,\n", ["OK", "NG", "NG"]),
        ("图片,甲\nval/p00,良品\nval/p01,不合格\n", ["OK", "NG"]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030"])
def test_tables_of_spreadsheets_are_read(masks, tmp_path, table, verdicts, encoding):
    path = tmp_path / "inspectors.csv"
    path.write_bytes(table.encode(encoding))
    study = run_study(masks, repeats="(p[0-9]+)", inspectors=path)
    assert [rating.verdict for rating in study.ratings if rating.rater != MODEL] == verdicts
    assert {rating.part for rating in study.ratings} == {"p00", "p01"}  # only these parts are predicted


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("", "names no inspector"),
        ("part\np00\n", "names no inspector"),
        ("part,A\np99,OK\n", "line 2: p99 is no part and no image"),
        ("part,A\np00,OK\n\np01,perhaps\n", "line 4: perhaps is none of the verdicts OK, NG"),
        ("part,A\np00,\n", "has no verdicts"),
        ("part,A,B,C,D,E,F\np00,OK,OK,OK,OK,OK,OK\n", "6 inspectors"),
    ],
)
def test_unusable_tables_are_refused_with_their_line(masks, tmp_path, table, why):
    path = tmp_path / "inspectors.csv"
    path.write_text(table, "utf-8")
    with pytest.raises(InspectorsUnreadable, match=why):
        run_study(masks, repeats="(p[0-9]+)", inspectors=path)


def test_missing_tables_and_images_without_repeats_are_refused(masks, tmp_path):
    with pytest.raises(InspectorsUnreadable):
        run_study(masks, inspectors=tmp_path / "none.csv")
    with pytest.raises(GaugeUnusable):
        run_study(masks, repeats="(.*)")
    with pytest.raises(BadGrouping):
        run_study(masks, repeats="(p")


def test_a_model_of_verdicts_is_compared_by_its_verdicts(tmp_path):
    run = make_verdict_project(tmp_path / "v")
    path = tmp_path / "inspectors.csv"
    lines = [f"p{n:03d},{'NG' if n % 2 else 'ok'}" for n in range(40)]
    path.write_text("\n".join(["image,Anna", *lines]), "utf-8")
    study = run_study(run, repeats="(p[0-9]+)", inspectors=path)
    same = figure(study, "same_verdict", MODEL, "Anna")
    assert (same.hits, same.total) == (37, 40) and study.learned >= 10  # three dark parts look bright
    assert figure(study, "kappa", MODEL, "Anna").value == pytest.approx(0.85, abs=0.01)
    assert run_study(run, pictures=run.project_root / "pictures").images == 40
