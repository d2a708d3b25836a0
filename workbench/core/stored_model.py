"""Base of the models of stored objects."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StoredModel(BaseModel):
    """Model of an object in a file. Its validator is built at the first use: few of them are needed at the start."""

    model_config = ConfigDict(defer_build=True)
