"""Plug-ins: objects that other installed packages add to tables of the application, by entry points.

A package declares them in its pyproject.toml, in one section per table of `GROUPS`. One that cannot be used is left out
and named: in a warning, and by `workbench doctor`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container
from typing import Any

# Group of entry points -> what its objects are.
GROUPS = {
    "workbench.formats": "a Format of workbench.core.project.formats, which reads labels",
    "workbench.label_exports": "an ExportFormat of workbench.core.project.formats.label_export, which writes labels",
    "workbench.labelers": "a function from an image, (H, W) or (H, W, 3), to class name -> bool (H, W)",
    "workbench.sinks": "a result output: a module with NAMES, add_arguments(group) and configure(options)",
    "workbench.layouts": "a Layout of workbench.core.runs.export_options",
}
used: dict[tuple[str, str], Any] = {}  # (group, name) -> object
left_out: dict[tuple[str, str], str] = {}  # (group, name) -> reason


def plugins(group: str, fits: Callable[[Any], object], taken: Container[str] = ()) -> dict[str, Any]:
    """Return the usable plug-ins of a group by name.

    fits: returns False, or raises, for an object of another kind. taken: names that the application uses itself.
    """
    from importlib.metadata import entry_points  # takes a share of the start of the window

    found: dict[str, Any] = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            if point.name in taken:
                raise ValueError("the application has an entry of this name")
            plugin = point.load()
            if not fits(plugin):
                raise TypeError(f"it is not {GROUPS[group]}")
        except Exception as error:  # of a program of somebody else
            left_out[group, point.name] = f"{type(error).__name__}: {error}"
            message = "The plug-in %s of %s is left out: %s"
            logging.getLogger(__name__).warning(message, point.name, group, left_out[group, point.name])
        else:
            found[point.name] = used[group, point.name] = plugin
    return found
