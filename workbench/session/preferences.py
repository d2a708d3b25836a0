"""User preferences on this computer: one small JSON file, which may be missing or broken."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from platformdirs import user_config_dir

from workbench.core.click_model.model_interface import PIXEL_VALUES
from workbench.core.problems import CannotWrite
from workbench.core.project.storage import write_json
from workbench.core.resources import LANGUAGES
from workbench.core.runs.training_settings import DEFAULT_MINUTES, MAX_MINUTES, MIN_MINUTES, MODELS
from workbench.inference.io.json_io import JsonError, read_json

CHOICES = {
    "theme": ("dark", "light", "system"),
    "language": ("system", *LANGUAGES),
    "model": MODELS,
    "after_done": ("next", "next_open", "stay"),
    "click_values": PIXEL_VALUES,
}
RANGES = {
    "brush_radius": (0.5, 500.0),
    "minutes": (MIN_MINUTES, MAX_MINUTES),
    "overlay_opacity": (0.0, 1.0),
    "text_size": (100.0, 150.0),
}
RECENT = 12
PROJECTS = 200  # projects of which the last image is stored


@dataclass
class Preferences:
    """User preferences. Missing or invalid values in the file are replaced by these defaults."""

    recent_projects: list[str] = field(default_factory=list)  # newest first
    theme: str = "system"
    language: str = "system"
    brush_radius: float = 8.0  # pixels
    minutes: float = DEFAULT_MINUTES
    model: str = "unet"
    device: str = "auto"
    project_ids: dict[str, str] = field(default_factory=dict)  # recent project -> id in its project.json
    last_pictures: dict[str, str] = field(default_factory=dict)  # project -> key
    overlay_opacity: float = 0.45
    text_size: float = 100.0  # percent of the system's font size
    tool_names: bool = False  # names beside the icons of the tools
    introduced: bool = False  # the coach marks were shown
    stay_awake: bool = True  # the computer does not sleep during trainings, evaluations and predictions
    instant_overlay: bool = True  # prediction from the labels of this moment, without a training
    after_done: str = "next"  # image opened after "Mark as done and next"
    click_encoder: str = ""  # ONNX files of the click segmentation
    click_decoder: str = ""
    click_values: str = "auto"  # meaning of the encoder's input
    inbox: str = ""  # folder of images that a line has kept
    line_results: str = ""  # folder of the results of a line
    shortcuts: dict[str, str] = field(default_factory=dict)  # changed key sequences by command id

    @classmethod
    def load(cls, path: Path | None = None) -> Preferences:
        """Load the preferences from `path` or from the default location. Never raises."""
        try:
            raw = read_json(path or settings_path())
        except (FileNotFoundError, JsonError):
            raw = None
        settings = cls()
        if not isinstance(raw, dict):
            return settings
        for entry in dataclasses.fields(cls):
            value = _checked(entry.name, raw.get(entry.name), getattr(settings, entry.name))
            setattr(settings, entry.name, value)
        return settings

    def save(self, path: Path | None = None) -> bool:
        """Write the preferences. Return False on failure, which callers may ignore."""
        try:
            write_json(path or settings_path(), dataclasses.asdict(self))
        except (CannotWrite, UnicodeEncodeError):
            return False
        return True

    def opened(self, project: Path | str, image: str | None = None, *, id: str = "") -> None:
        """Record an opened project with the id in its project.json, and the image opened in it."""
        name = str(project)
        self.recent_projects = [name, *(p for p in self.recent_projects if p != name)][:RECENT]
        if id:
            self.project_ids[name] = id
        self.project_ids = {path: id for path, id in self.project_ids.items() if path in self.recent_projects}
        if image is not None:
            self.last_pictures.pop(name, None)
            self.last_pictures[name] = image
            while len(self.last_pictures) > PROJECTS:
                del self.last_pictures[next(iter(self.last_pictures))]

    def move_project(self, old: str, new: str) -> None:
        """Replace a recent project by the same project at another place, with its id and its last image."""
        names = [new if name == old else name for name in self.recent_projects]
        self.recent_projects = list(dict.fromkeys(names))
        for values in (self.project_ids, self.last_pictures):
            if old in values:
                values.setdefault(new, values.pop(old))

    def remove_project(self, name: str) -> None:
        """Remove a project from the recent ones. Its last image stays known, should it be opened again."""
        self.recent_projects = [path for path in self.recent_projects if path != name]
        self.project_ids.pop(name, None)


def settings_path() -> Path:
    return Path(user_config_dir("defect-workbench", appauthor=False)) / "settings.json"


def _checked(name: str, value: Any, default: Any) -> Any:
    if name in CHOICES:
        return value if value in CHOICES[name] else default
    if name in RANGES:
        low, high = RANGES[name]
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value  # not NaN
        return float(min(max(value, low), high)) if number else default
    if isinstance(default, bool):
        return value if isinstance(value, bool) else default
    if isinstance(default, list):
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else default
    if isinstance(default, dict):
        if not isinstance(value, dict):
            return default
        return {key: item for key, item in value.items() if isinstance(item, str)}
    return value if isinstance(value, str) else default
