"""Storage of preferences; a broken file loses the broken values only."""

from __future__ import annotations

import json

import pytest

from workbench.session.preferences import Preferences, settings_path


def test_preferences_are_stored():
    assert Preferences.load() == Preferences()
    settings = Preferences(theme="dark", brush_radius=12.5, minutes=30, model="resnet", language="zh_CN")
    settings.opened("/项目/a", "lot 1/划痕.png")
    settings.opened("/b")
    settings.opened("/项目/a")
    assert settings.save()
    assert settings_path().parent.name == "defect-workbench"
    back = Preferences.load()
    assert back == settings and back.recent_projects == ["/项目/a", "/b"]
    assert back.last_pictures == {"/项目/a": "lot 1/划痕.png"}


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", "\x00", "[" * 100_000])
def test_broken_file_yields_defaults(tmp_path, content):
    path = tmp_path / "settings.json"
    path.write_text(content)
    assert Preferences.load(path) == Preferences()
    assert Preferences(theme="light").save(path) and Preferences.load(path).theme == "light"


def test_invalid_value_is_replaced(tmp_path):
    path = tmp_path / "settings.json"
    odd = {
        "theme": "pink",
        "language": 3,
        "brush_radius": float("nan"),
        "minutes": 1e9,
        "overlay_opacity": True,
        "recent_projects": ["/a", 4],
        "last_pictures": {"/a": "x.png", "/b": None},
        "device": None,
        "model": "resnet",
        "from another version": 1,
    }
    path.write_text(json.dumps(odd))
    settings = Preferences.load(path)
    expected = Preferences(minutes=20_160.0, recent_projects=["/a"], last_pictures={"/a": "x.png"}, model="resnet")
    assert settings == expected


def test_unwritable_location_is_tolerated(tmp_path):
    (tmp_path / "file").write_text("")
    assert not Preferences().save(tmp_path / "file" / "settings.json")


def test_lists_are_limited():
    settings = Preferences()
    for i in range(500):
        settings.opened(f"/p{i}", "a.png")
    assert len(settings.recent_projects) == 12 and settings.recent_projects[0] == "/p499"
    assert len(settings.last_pictures) == 200 and "/p499" in settings.last_pictures


def test_moved_project_keeps_its_place_and_its_last_image():
    settings = Preferences()
    settings.opened("/a", "1.png", id="1" * 32)
    settings.opened("/b", id="2" * 32)
    settings.move_project("/a", "/moved")
    assert settings.recent_projects == ["/b", "/moved"]
    assert settings.project_ids == {"/b": "2" * 32, "/moved": "1" * 32}
    assert settings.last_pictures == {"/moved": "1.png"}
    settings.remove_project("/b")
    assert settings.recent_projects == ["/moved"] and settings.project_ids == {"/moved": "1" * 32}
