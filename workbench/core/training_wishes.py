"""Training settings that the user has fixed for a project, beyond model, minutes and device.

Stored in `training.json` beside project.json, per kind of model. Settings not in it are computed for every run.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from workbench.core.json_files import load_versioned
from workbench.core.problems import BadRecipe, ProjectBroken
from workbench.core.project import Project
from workbench.core.recipe import Recipe, request
from workbench.core.storage import write_json

FORMAT = 1
Model = Literal["unet", "resnet"]
_ELSEWHERE = {"format", "model", "minutes", "device", "reasons"}  # chosen beside the Train button, or not by the user

Choices = dict[str, Any]  # training settings


def wishable() -> list[str]:
    """Return the settings that can be fixed, in the order of `Recipe`."""
    return [name for name in Recipe.model_fields if name not in _ELSEWHERE]


class Wishes(BaseModel):
    """Content of training.json: settings by kind of model."""

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    unet: Choices = {}
    resnet: Choices = {}

    def of(self, model: str) -> Choices:
        return dict(self.resnet if model == "resnet" else self.unet)

    def with_choices(self, model: str, choices: Choices) -> Wishes:
        return self.model_copy(update={"resnet" if model == "resnet" else "unet": dict(choices)})


def load_wishes(project: Project) -> Wishes:
    """Load training.json; return empty settings if the file does not exist. Raises ProjectBroken."""
    path = project.root / "training.json"
    try:
        wishes = load_versioned(path, Wishes, FORMAT, ProjectBroken)
        for model in ("unet", "resnet"):
            unknown = sorted(wishes.of(model).keys() - set(wishable()))
            if unknown:
                raise ProjectBroken(path=str(path), why=f"there is no setting {unknown[0]}")
            request(model, **wishes.of(model))
        return wishes
    except FileNotFoundError:
        return Wishes()
    except BadRecipe as error:
        raise ProjectBroken(path=str(path), why=str(error)) from error


def save_wishes(project: Project, wishes: Wishes) -> None:
    """Write training.json atomically. Raises ProjectReadOnly, CannotWrite."""
    project.need_write("training.json")
    write_json(project.root / "training.json", wishes.model_dump(mode="json"))
