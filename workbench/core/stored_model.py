"""Base of the models of stored objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from typing_extensions import Self


class StoredModel(BaseModel):
    """Model of an object in a file. Its validator is built at the first use: few of them are needed at the start."""

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def of_defaults(cls) -> Self:
        """Return an object with the defaults of all fields, without building the validator."""
        return cls.model_construct()
