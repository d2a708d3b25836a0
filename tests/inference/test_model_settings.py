"""model.json: round trips, and refusal of invalid settings with a reason."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.inference.conftest import gray_settings
from workbench.inference.model_settings import (
    ClassSettings,
    ModelSettings,
    SettingsError,
    load_settings,
    save_settings,
    settings_hash,
)

VERDICTS = ModelSettings(task="classification", name="n", verdicts=("OK", "裂纹"), temperature=1.3)


@pytest.mark.parametrize("settings", [gray_settings(), gray_settings(um_per_pixel=None, channels=1), VERDICTS])
def test_settings_survive_a_round_trip(tmp_path, settings):
    save_settings(settings, tmp_path / "model.json")
    again = load_settings(tmp_path / "model.json")
    assert again == settings
    assert hash(again) == hash(settings)
    save_settings(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.json", "model.json"]


def test_equal_numbers_in_other_notation_are_the_same_settings(tmp_path):
    loose = gray_settings(low=0, high=255, mean=[np.float32(0.5)], thresholds=[0.5, np.float64(0.6)])
    assert loose == gray_settings()
    assert settings_hash(loose) == settings_hash(gray_settings())
    save_settings(loose, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    content["high"] = 255
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8-sig")
    assert settings_hash(load_settings(tmp_path / "model.json")) == settings_hash(gray_settings())


def test_every_setting_changes_the_hash():
    settings = gray_settings()
    others = {
        "name": "other",
        "run": "r",
        "channels": 1,
        "full_scale": 256.0,
        "low": 1.0,
        "high": 254.0,
        "mean": (0.4,),
        "std": (0.4,),
        "scale": 0.5,
        "tile": 128,
        "overlap": 8,
        "multiple": 8,
        "thresholds": (0.5, 0.61),
        "min_area": (5, 0),
        "um_per_pixel": 2.0,
        "batch": 1,
        "files": {},
        "classes": settings.classes[::-1],
        "mirrored": ("both",),
    }
    hashes = {settings_hash(replace(settings, **{name: value})) for name, value in others.items() if name != "channels"}
    assert len(hashes | {settings_hash(settings)}) == len(others)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task": "detection"}, "task"),
        ({"channels": 2}, "channels"),
        ({"mean": (0.5, 0.5)}, "mean must be a list of 1"),
        ({"std": (0.0,)}, "std must be above 0"),
        ({"std": (float("nan"),)}, "std must be a number"),
        ({"high": 0.0}, "high must be above low"),
        ({"low": "0"}, "low must be a number"),
        ({"full_scale": -1}, "full_scale"),
        ({"scale": 0}, "scale"),
        ({"tile": 65}, "tile must be a multiple of 16"),
        ({"tile": 64.0}, "tile must be a whole number"),
        ({"overlap": 64}, "overlap"),
        ({"batch": 0}, "batch"),
        ({"batch": True}, "batch"),
        ({"threads": -1}, "threads"),
        ({"thresholds": (0.5,)}, "thresholds must be a list of 2"),
        ({"thresholds": (0.5, 0.0)}, "a threshold must be above 0"),
        ({"thresholds": (0.5, 1.1)}, "a threshold must be above 0 and at most 1"),
        ({"min_area": (1, -1)}, "min_area"),
        ({"um_per_pixel": 0}, "um_per_pixel"),
        ({"classes": ()}, "at least one class"),
        ({"classes": (ClassSettings(1, "a", "#000000"), ClassSettings(1, "b", "#000000"))}, "the same id"),
        ({"classes": (ClassSettings(1, "a", "#000000"), ClassSettings(2, "a", "#000000"))}, "the same name"),
        ({"classes": (ClassSettings(254, "a", "#000000"),)}, "1 to 253"),
        ({"classes": (ClassSettings(1, "", "#000000"),)}, "needs a name"),
        ({"classes": (ClassSettings(1, "a", "red"),)}, "#rrggbb"),
        ({"files": {"onnx": "../network.onnx"}}, "outside the folder"),
        ({"files": {"onnx": "/etc/passwd"}}, "outside the folder"),
        ({"files": {"onnx": "C:\\network.onnx"}}, "outside the folder"),
        ({"files": {"onnx": "a/../../b"}}, "outside the folder"),
        ({"files": {"onnx": ""}}, "files must name"),
        ({"mirrored": ("sideways",)}, "mirrored must name some of left_right, upside_down, both"),
        ({"mirrored": ("both", "both")}, "mirrored"),
        ({"mirrored": "both"}, "mirrored"),
        ({"format": 2}, "format"),
    ],
)
def test_invalid_settings_are_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        gray_settings(**changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"verdicts": ()}, "verdicts"), ({"verdicts": ("a", "a")}, "same name"), ({"temperature": 0}, "temperature")],
)
def test_invalid_verdict_settings_are_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        replace(VERDICTS, **changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "no settings"),
        ("{}", "no format number"),
        ('{"format": "1"}', "no format number"),
        ('{"format": 99, "anything": 1}', "newer version .format 99; this one knows up to 1"),
        ('{"format": 1}', "lacks name, task"),
        ('{"format": 1, "task": "segmentation", "name": "x", "tresholds": []}', "not known: tresholds"),
        ('{"format": 1, "task": "segmentation", "name": "x", "classes": [{"id": 1}]}', "exactly id, name and color"),
        ('{"format": 1, "task": "segmentation", "name": "x", "classes": {}}', "classes must be a list"),
        ('{"format": 1, "task": ["segmentation"], "name": "x"}', "task"),
        ('{"format": 1, "task": "segmentation", "name": "x", "files": []}', "class"),
    ],
)
def test_other_json_files_are_refused_by_name(tmp_path, text, words):
    path = tmp_path / "模型.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=words) as caught:
        load_settings(path)
    assert "模型.json" in str(caught.value)


def test_missing_and_binary_files_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings(tmp_path / "model.json")
    with pytest.raises(SettingsError, match="cannot be opened"):
        load_settings(tmp_path)
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="not valid JSON"):
        load_settings(tmp_path / "x.json")
