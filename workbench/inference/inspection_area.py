"""Inspection area: polygons that contain the inspected part of an image. Outside of it, everything is background.

Zones are polygons with a name that only mark a part of the image, for the sentences of a verdict rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .io.json_io import require
from .io.opencv import cv2
from .io.tiff_regions import ImageArray
from .part_position import PartReference, Placement, find_part

_FINE = 4  # bits of a pixel in which corners are drawn
_MOST_SIDE = 1_000_000  # pixels
_MOST_CORNERS = 10_000
_MOST_NAME = 40  # characters
_SEPARATORS = set(",:=")  # of the sentences of the command line


@dataclass(frozen=True)
class AreaPolygon:
    """Polygon with at least three corners, (x, y) in pixels. excluded: its inside is taken out of the area.

    zone: name of the zone that it marks, or, if excluded, that it is taken out of; "" for the inspected area itself.
    """

    points: tuple[tuple[float, float], ...]
    excluded: bool = False
    zone: str = ""

    def __post_init__(self) -> None:
        points = self.points
        valid = isinstance(points, list | tuple) and 3 <= len(points) <= _MOST_CORNERS
        valid = valid and all(
            isinstance(point, list | tuple)
            and len(point) == 2
            and all(isinstance(value, int | float) and abs(value) <= _MOST_SIDE for value in point)
            for point in points
        )
        require(valid, "a polygon needs at least three corners [x, y]")
        require(isinstance(self.excluded, bool), f"excluded must be true or false, not {self.excluded!r}")
        zone = self.zone
        valid = isinstance(zone, str) and zone == zone.strip() and len(zone) <= _MOST_NAME
        valid = valid and (not zone or zone.isprintable()) and not _SEPARATORS & set(zone)
        require(valid, f"the name of a zone has up to {_MOST_NAME} characters and no comma, colon or =, not {zone!r}")
        object.__setattr__(self, "points", tuple((float(x), float(y)) for x, y in points))


@dataclass(frozen=True)
class InspectionArea:
    """Area of the images of a folder, in the pixels of an image of `width` and `height`; other sizes are scaled.

    polygons: drawn in their order; the area starts empty, or whole if its first polygon is excluded. An area of zones
        alone is whole.
    folder: of the images, as their names begin, such as "lot1" or "@camera"; "" for all images without an own area.
    reference: image in which the area was drawn, if it moves with the part; None: it has the same place in all images.

    Raises ValueError with the problem, as a part of a sentence.
    """

    width: int
    height: int
    polygons: tuple[AreaPolygon, ...]
    folder: str = ""
    reference: PartReference | None = None

    def __post_init__(self) -> None:
        for side in (self.width, self.height):
            valid = isinstance(side, int) and not isinstance(side, bool) and 0 < side <= _MOST_SIDE
            require(valid, f"width and height must be pixels, not {side!r}")
        require(isinstance(self.folder, str), f"folder must be a name, not {self.folder!r}")
        require(len(self.polygons) > 0, "an inspection area needs a polygon")
        object.__setattr__(self, "polygons", tuple(self.polygons))
        object.__setattr__(self, "folder", self.folder.strip("/"))

    @classmethod
    def from_json(cls, content: Any) -> InspectionArea:
        """Return an area from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        require(isinstance(content, dict), "an inspection area needs width, height and polygons")
        polygons = content.get("polygons")
        valid = isinstance(polygons, list) and all(isinstance(entry, dict) and "points" in entry for entry in polygons)
        require(valid, "polygons must be a list, each with its points")
        for kind, entries in ((cls, [content]), (AreaPolygon, polygons)):
            known = {entry.name for entry in fields(kind)}
            unknown = sorted({name for entry in entries for name in entry} - known)
            require(not unknown, f"it has entries that are not known: {', '.join(map(str, unknown))}")
        require({"width", "height"} <= content.keys(), "an inspection area needs width and height")
        read: dict[str, Any] = {**content, "polygons": tuple(AreaPolygon(**entry) for entry in polygons)}
        if content.get("reference") is not None:
            read["reference"] = PartReference.from_json(content["reference"])
        return cls(**read)

    def find(self, image: ImageArray) -> Placement | None:
        """Return where the part is in an image (H, W) or (H, W, 3); None if the area does not move."""
        if self.reference is None:
            return None
        points = np.array([point for polygon in self.inspected if not polygon.excluded for point in polygon.points])
        whole = not len(points) or self.inspected[0].excluded
        corners = (0.0, 0.0, float(self.width), float(self.height))
        left, top, right, bottom = corners if whole else map(float, (*points.min(axis=0), *points.max(axis=0)))
        return find_part(self.reference, (self.width, self.height), (left, top, right, bottom), image)

    def moved(self, placement: Placement) -> InspectionArea:
        """Return the area where the part is; it does not move any more."""
        polygons = tuple(replace(each, points=placement.moved(each.points)) for each in self.polygons)
        return replace(self, polygons=polygons, reference=None)

    @property
    def inspected(self) -> tuple[AreaPolygon, ...]:
        """Polygons of the inspected area itself."""
        return tuple(polygon for polygon in self.polygons if not polygon.zone)

    @property
    def zones(self) -> tuple[str, ...]:
        """Names of the zones, in alphabetical order."""
        return tuple(sorted({polygon.zone for polygon in self.polygons} - {""}))

    @property
    def share(self) -> float:
        """Share of the image that is inspected, 0..1."""
        scale = min(1.0, 1000 / max(self.width, self.height))
        return float(self.inside((max(1, round(self.height * scale)), max(1, round(self.width * scale)))).mean())

    def inside(self, shape: Sequence[int]) -> np.ndarray:
        """Return True for the pixels of an image that are inspected, read-only bool (H, W). shape: (H, W, ...)."""
        return _inside(self, int(shape[0]), int(shape[1]))

    def depth(self, shape: Sequence[int]) -> np.ndarray:
        """Return the distance of each inspected pixel from the outermost ones, float32 (H, W). shape: (H, W, ...)."""
        return _depth(self, int(shape[0]), int(shape[1]))

    def zone(self, name: str, shape: Sequence[int]) -> np.ndarray:
        """Return True for the pixels of a zone, read-only bool (H, W). shape: (H, W, ...)."""
        return _zone(self, name, int(shape[0]), int(shape[1]))


@lru_cache(1)
def _depth(area: InspectionArea, height: int, width: int) -> np.ndarray:
    padded = np.pad(_inside(area, height, width).view(np.uint8), 1)
    return cv2.distanceTransform(padded, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1] - 1


@lru_cache(2)
def _inside(area: InspectionArea, height: int, width: int) -> np.ndarray:
    polygons = area.inspected
    return _drawn(area, polygons, height, width, whole=not polygons or polygons[0].excluded)


@lru_cache(8)
def _zone(area: InspectionArea, name: str, height: int, width: int) -> np.ndarray:
    polygons = [polygon for polygon in area.polygons if polygon.zone == name]
    return _drawn(area, polygons, height, width, whole=False)


def _drawn(
    area: InspectionArea, polygons: Sequence[AreaPolygon], height: int, width: int, *, whole: bool
) -> np.ndarray:
    mask = np.full((height, width), whole, np.uint8)
    scale = np.array([width / area.width, height / area.height])
    for polygon in polygons:
        # The center of the first pixel is (0.5, 0.5) in the polygon and (0, 0) in OpenCV.
        corners = np.rint((np.array(polygon.points) * scale - 0.5) * 2**_FINE).astype(np.int32)
        cv2.fillPoly(mask, [corners], int(not polygon.excluded), shift=_FINE)
    mask.flags.writeable = False
    return mask.view(bool)


def area_of(areas: Sequence[InspectionArea], name: str) -> InspectionArea | None:
    """Return the area of an image: that of its nearest folder, else that of all images; None without one.

    name: path with `/`, of the image in its project or below the folder that is predicted.
    """
    plain = name.lstrip("@")
    fitting = [area for area in areas if not area.folder or plain.startswith(area.folder.lstrip("@") + "/")]
    return max(fitting, key=lambda area: len(area.folder), default=None)


def placed_area(
    areas: Sequence[InspectionArea], name: str, image: ImageArray
) -> tuple[InspectionArea | None, Placement | None]:
    """Return the area of an image, where the part is, and how it has moved; None if the area does not move.

    If the part was not found, the area is where it is in the reference image. name: as of `area_of`.
    """
    area = area_of(areas, name)
    placement = None if area is None else area.find(image)
    return area if area is None or placement is None else area.moved(placement), placement


def common_zones(areas: Sequence[InspectionArea]) -> tuple[str, ...]:
    """Return the names of the zones that every image has."""
    if all(area.folder for area in areas):
        return ()
    return tuple(sorted(set.intersection(*(set(area.zones) for area in areas))))


@dataclass(frozen=True)
class AreaMaps:
    """Places in an image that a verdict rule depends on.

    depth: see `InspectionArea.depth`, None without an area. zones: pixels of each zone by name, bool (H, W).
    """

    depth: np.ndarray | None = None
    zones: Mapping[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, area: InspectionArea | None, shape: Sequence[int]) -> AreaMaps:
        """Return the maps of an area for an image. shape: (H, W, ...)."""
        if area is None:
            return NO_MAPS
        return cls(area.depth(shape), {name: area.zone(name, shape) for name in area.zones})

    def cut(self, left: int, top: int, width: int, height: int) -> AreaMaps:
        """Return the maps of a part of the image."""
        part = slice(top, top + height), slice(left, left + width)
        depth = None if self.depth is None else self.depth[part]
        return AreaMaps(depth, {name: zone[part] for name, zone in self.zones.items()})


NO_MAPS = AreaMaps()
