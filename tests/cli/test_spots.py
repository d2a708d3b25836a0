"""Verb spots: order, options and problems."""

from __future__ import annotations

import json

import numpy as np

from workbench.cli import main
from workbench.inference.io.image_io import write_png

DEFECTS = {"lot1/a.png": (60, 40), "lot1/b.png": (130, 70)}


def fill(project) -> None:
    rng = np.random.default_rng(1)
    for key, (x, y) in DEFECTS.items():
        image = rng.normal(140, 6, (120, 160))
        image[y - 4 : y + 5, x - 4 : x + 5] -= 60
        write_png(project.image_path(key), image.clip(0, 255).astype(np.uint8))


def ask(capsys, *arguments: object) -> tuple[int, dict]:
    status = main(["spots", *map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_strongest_spot_of_each_image_is_its_defect(project, capsys):
    fill(project)
    status, answer = ask(capsys, project.root)
    assert status == 0 and [entry["path"] for entry in answer["pictures"]] == list(DEFECTS)
    for entry in answer["pictures"]:
        first, (x, y) = entry["spots"][0], DEFECTS[entry["path"]]
        assert abs(first["x"] - x) < 12 and abs(first["y"] - y) < 12 and first["radius"] > 0
        strengths = [spot["strength"] for spot in entry["spots"]]
        assert strengths == sorted(strengths, reverse=True) and len(strengths) <= 5
    assert not any(project.mask_path(key).exists() for key in DEFECTS)


def test_chosen_images_and_count(project, capsys):
    fill(project)
    status, answer = ask(capsys, project.root, "lot1/b.png", "--count", 1)
    assert status == 0 and [len(entry["spots"]) for entry in answer["pictures"]] == [1]
    assert main(["spots", str(project.root), "lot1/b.png"]) == 0
    assert "lot1/b.png: " in capsys.readouterr().out


def test_problems_are_reported(project, capsys):
    status, answer = ask(capsys, project.root)
    assert status == 1 and "no images" in answer["error"]
    fill(project)
    project.image_path("lot1/a.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    status, answer = ask(capsys, project.root)
    assert status == 0 and [entry["path"] for entry in answer["skipped"]] == ["lot1/a.png"]
    assert len(answer["pictures"]) == 1
    status, answer = ask(capsys, project.root, "lot1/nothing.png")
    assert status == 1 and "lot1/nothing.png" in answer["error"]
    assert main(["spots", str(project.root), "--count", "0"]) == 2
