"""Lists of class names in YAML files: what is refused, with its reason."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.problems import NothingToImport
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 6)
)


@pytest.fixture
def data_set(tmp_path):
    write_png(tmp_path / "set" / "p.png", np.zeros((40, 40), np.uint8))
    (tmp_path / "set" / "p.txt").write_text("0 0.5 0.5 0.2 0.2\n1 0.2 0.2 0.1 0.1\n")
    return tmp_path / "set"


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "project", classes=["first", "second"]) as made:
        yield made


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BOMB + "names: *a5\n", "aliases"),
        ("x: &x [a, b]\nnames: *x\n", "aliases"),
        ("names: [a, [b]]\n", "neither a text nor a number"),
        ("names: {0: a, 1: {b: c}}\n", "neither a text nor a number"),
        ("names:\n" + "".join(f"- c{n}\n" for n in range(254)), "more than 253"),
        ("names: [a, b\n", "data.yaml"),
        ("#" + "x" * 2**20 + "\nnames: [a, b]\n", "data.yaml"),
    ],
)
@pytest.mark.parametrize("chosen", [False, True])
def test_refused_names_have_a_reason_and_no_substitutes(project, data_set, content, words, chosen):
    (data_set / "data.yaml").write_text(content, "utf-8")
    if chosen:
        with pytest.raises(NothingToImport) as refusal:
            import_labels(project, data_set / "data.yaml")
        whys = [str(refusal.value)]
    else:
        report = import_labels(project, data_set, format="yolo")
        assert report.labeled == 0
        whys = [why for _, why in report.skipped]
    assert len(whys) == 1 and words in whys[0] and "data.yaml" in whys[0]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("names: [pit, 7]\n", ["7", "pit"]),
        ("names: {0: pit, 1: 0.50}\n", ["0.50", "pit"]),
        ("names: [yes, 2020-01-01]\n", ["2020-01-01", "yes"]),
        ("names: [!!python/name:os.system pit, dent]\n", ["dent", "pit"]),
        ("names:\n" + "".join(f"- c{n}\n" for n in range(253)), ["c0", "c1"]),
    ],
)
def test_texts_and_numbers_are_names(project, data_set, content, names):
    (data_set / "data.yaml").write_text(content, "utf-8")
    assert sorted(import_labels(project, data_set).added_classes) == names


def test_yaml_file_of_another_program_does_not_matter(project, data_set):
    (data_set / "compose.yml").write_text("x: &x {a: b}\nservices: {one: *x}\n", "utf-8")
    report = import_labels(project, data_set)
    assert report.labeled == 1 and not report.skipped and not report.added_classes
