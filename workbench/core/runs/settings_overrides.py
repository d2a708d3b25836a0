"""Training settings that the user has fixed for a project, beyond model, minutes and device.

Stored in `training.json` beside project.json, per kind of model. Settings not in it are computed for every run.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.problems import BadSettings, ProjectBroken
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.training_settings import MODELS, TrainingSettings, request
from workbench.core.stored_model import StoredModel

FORMAT = 1
_ELSEWHERE = {"format", "model", "minutes", "device", "reasons"}  # chosen beside the Train button, or not by the user

Choices = dict[str, Any]  # training settings


def adjustable_settings() -> list[str]:
    """Return the settings that can be fixed, in the order of `TrainingSettings`."""
    return [name for name in TrainingSettings.model_fields if name not in _ELSEWHERE]


class SettingsOverrides(StoredModel):
    """Content of training.json: settings by kind of model."""

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    unet: Choices = {}
    resnet: Choices = {}
    good: Choices = {}

    def of(self, model: str) -> Choices:
        return dict(getattr(self, model))

    def with_choices(self, model: str, choices: Choices) -> SettingsOverrides:
        return self.model_copy(update={model: dict(choices)})


def load_overrides(project: Project) -> SettingsOverrides:
    """Load training.json; return empty settings if the file does not exist. Raises ProjectBroken."""
    path = project.root / "training.json"
    try:
        choices = load_versioned(path, SettingsOverrides, FORMAT, ProjectBroken)
        for model in MODELS:
            unknown = sorted(choices.of(model).keys() - set(adjustable_settings()))
            if unknown:
                raise ProjectBroken(path=str(path), why=Message("settings.no_such", name=unknown[0]))
            request(model, **choices.of(model))
        return choices
    except FileNotFoundError:
        return SettingsOverrides.of_defaults()
    except BadSettings as error:
        raise ProjectBroken(path=str(path), why=Message.of(error)) from error


def save_overrides(project: Project, choices: SettingsOverrides) -> None:
    """Write training.json atomically. Raises ProjectReadOnly, CannotWrite."""
    project.need_write("training.json")
    write_json(project.root / "training.json", choices.model_dump(mode="json"))
