"""Results of analyzing an image with a model, and their cache: each image is read and predicted once per model.

The cache is the SQLite database `.cache/looks.sqlite` and may be deleted at any time; missing or stale results are
calculated again.
"""

from __future__ import annotations

import base64
import contextlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.label_next.image_features import DESCRIPTOR_SIZE, SALIENCE_SIZE
from workbench.core.label_next.label_issues import LabelIssue, issue_from_json, issue_to_json
from workbench.core.label_next.uncertainty import RegionCertainty
from workbench.core.project.image_index import database_path
from workbench.core.project.storage import leads_outside
from workbench.inference.io.json_io import parse_json

VERSION = 3
_FILES = ("looks.sqlite", "looks.sqlite-wal", "looks.sqlite-shm")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS features (key TEXT PRIMARY KEY, stamp TEXT, feature BLOB, salience BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sights (key TEXT PRIMARY KEY, stamp TEXT, sight TEXT) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class CachedPrediction:
    """Result of a model for one image.

    regions: predicted regions. issues: possible errors of the mask. labeled_regions: number of regions in the mask.
    probabilities: of the verdicts, by name.
    """

    regions: tuple[RegionCertainty, ...] = ()
    issues: tuple[LabelIssue, ...] = ()
    labeled_regions: int = 0
    probabilities: Mapping[str, float] | None = None

    def to_text(self) -> str:
        issues = [{**issue_to_json(issue), "bits": base64.b64encode(issue.bits).decode()} for issue in self.issues]
        regions = [asdict(region) for region in self.regions]
        return json.dumps(
            {"seen": regions, "slips": issues, "labelled": self.labeled_regions, "probabilities": self.probabilities}
        )

    @classmethod
    def from_text(cls, text: str) -> CachedPrediction:
        """Decode a text of `to_text`. Raises ValueError, KeyError or TypeError for any other text."""
        raw = parse_json(text)
        regions = tuple(RegionCertainty(**{**entry, "rect": Rect(**entry["rect"])}) for entry in raw["seen"])
        issues = tuple(issue_from_json({**entry, "bits": base64.b64decode(entry["bits"])}) for entry in raw["slips"])
        return cls(regions, issues, int(raw["labelled"]), raw["probabilities"])


class FeatureCache:
    """Cache of a project. Use one object per thread. In a read-only folder the cache is in memory."""

    def __init__(self, root: Path) -> None:
        self._database = _open(root)

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._database.commit()
        self._database.close()

    def features(self) -> dict[str, tuple[str, np.ndarray, np.ndarray]]:
        """Return, by image, the stamp of its file, its descriptor, and its salience."""
        return {
            key: (stamp, np.frombuffer(descriptor, np.float16).astype(np.float32), np.frombuffer(salience, np.float32))
            for key, stamp, descriptor, salience in self._database.execute(
                "SELECT key, stamp, feature, salience FROM features"
            )
            if len(descriptor) == 2 * DESCRIPTOR_SIZE and len(salience) == 4 * SALIENCE_SIZE
        }

    def stamps(self) -> dict[str, str]:
        """Return, by image, the stamp of all inputs of its `CachedPrediction`."""
        return dict(self._database.execute("SELECT key, stamp FROM sights"))

    def prediction(self, key: str) -> CachedPrediction | None:
        row = self._database.execute("SELECT sight FROM sights WHERE key = ?", (key,)).fetchone()
        try:
            return None if row is None else CachedPrediction.from_text(row[0])
        except (ValueError, KeyError, TypeError):
            return None

    def put_feature(self, key: str, stamp: str, feature: np.ndarray, salience: np.ndarray) -> None:
        self._put("features", key, stamp, feature.astype(np.float16).tobytes(), salience.tobytes())

    def put_prediction(self, key: str, stamp: str, prediction: CachedPrediction) -> None:
        self._put("sights", key, stamp, prediction.to_text())

    def _put(self, table: str, *values: bytes | str) -> None:
        with contextlib.suppress(sqlite3.Error):  # on a full disk the result is merely calculated again
            self._database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(values))})", values)
            self._database.commit()


def _open(root: Path) -> sqlite3.Connection:
    for attempt in range(2):
        try:
            path = database_path(root, _FILES)
            path.parent.mkdir(exist_ok=True)
            database = sqlite3.connect(path, timeout=10)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                database.executescript("DROP TABLE IF EXISTS features; DROP TABLE IF EXISTS sights;")
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version={VERSION}")
            database.commit()
            return database
        except (sqlite3.DatabaseError, OSError):
            if attempt == 0 and not leads_outside(root, root / ".cache"):
                for name in _FILES:
                    with contextlib.suppress(OSError):
                        (root / ".cache" / name).unlink()
    database = sqlite3.connect(":memory:")
    database.executescript(_SCHEMA)
    return database
