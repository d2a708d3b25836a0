"""Base of all result outputs, and the record that they receive for each image."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import PurePath
from typing import Any

from workbench.core.problems import Problem
from workbench.inference.model_settings import ModelSettings
from workbench.inference.verdict_rule import unlike_text

OK, NG, ERROR = "OK", "NG", "ERROR"
_GOOD_NAMES = ("ok", "good")  # verdicts of a classification that count as OK, in lower case
_FORMAT = 1

Record = dict[str, Any]


class DeliveryFailed(Exception):
    """Record that was not delivered. why: a phrase. refused: the receiver rejects this record, so a repetition in this
    run is useless. retry_after: seconds that the receiver requests before the next attempt.
    """

    def __init__(self, why: str, *, refused: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(why)
        self.why = why
        self.refused = refused
        self.retry_after = retry_after


class NoGoodVerdict(Problem):
    message = "None of the verdicts of this model ({verdicts}) is known to mean OK."
    advice = "Name it with --ok-verdict."


class Sink:
    """One output. name: in messages, metrics and the name of its spool file.

    Instances hold settings only until the first `deliver`, so that they can be sent to another process. All methods
    except `for_process` are called in the worker thread of the output.
    """

    name = ""

    def for_process(self, row: int) -> Sink:
        """Return the output for the server process with this number, from 0 on."""
        return self

    def open(self, *, durable: bool) -> None:
        """Prepare the output. durable: a delivered record must survive a power failure. Raises OSError."""

    def deliver(self, record: Record) -> None:
        """Deliver one record completely. Raises DeliveryFailed, OSError."""
        raise NotImplementedError

    def close(self) -> None:
        """Release connections and files."""


class RecordMaker:
    """Records of the images of one model. good: verdict that counts as OK; None: determined from the settings.

    Raises NoGoodVerdict.
    """

    def __init__(self, settings: ModelSettings, good: str | None = None) -> None:
        self._settings = settings
        self._by_regions = settings.task == "segmentation" and settings.verdict_rule is None
        self._withholds = settings.input is not None and settings.input.withhold
        self._good = good
        if good is None and settings.verdict_rule is not None:
            self._good = settings.verdict_rule.good
        elif settings.task == "classification":
            names = [name for name in settings.verdicts if name == good or (not good and name.lower() in _GOOD_NAMES)]
            if not names:
                raise NoGoodVerdict(verdicts=", ".join(settings.verdicts))
            self._good = names[0]

    def make(self, entry: Record, *, key: str, name: str) -> Record:
        """Return the record of an image.

        entry: `Prediction.to_json`, or {"why"} for an image without a prediction; with "path" if it is a file.
        key: identifies the result, so that a receiver can detect a repetition. name: of the image, without suffix.
        """
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        return {
            "format": _FORMAT,
            "id": key,
            "time": now.replace("+00:00", "Z"),
            "name": name,
            "model": self._settings.name,
            "run": self._settings.run,
            "result": self._result(entry),
            **entry,
        }

    def _result(self, entry: Record) -> str:
        if "why" in entry or (self._withholds and unlike_text(entry)):
            return ERROR
        good = not entry["regions"] if self._by_regions else entry["verdict"] == self._good
        return OK if good else NG


def image_key(fingerprint: str, path: str, state: tuple[int, int]) -> str:
    """Return the id of the result of one version of a file: equal whenever this model predicts this version."""
    text = "\0".join((fingerprint, PurePath(path).as_posix(), *map(str, state)))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def json_line(record: Record) -> bytes:
    """Return a record as one line of JSON in UTF-8, without the line end."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
