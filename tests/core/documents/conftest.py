"""Fixtures of the documents."""

from __future__ import annotations

from tests.core.documents.report_runs import run

__all__ = ["run"]
