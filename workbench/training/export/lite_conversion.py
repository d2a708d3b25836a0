"""Conversion of an exported network for Paddle Lite, in a process of its own."""

from __future__ import annotations

from pathlib import Path


def convert_to_lite(source: Path, target: Path, places: str) -> None:
    """Convert source.pdmodel and source.pdiparams to target.nb, without importing Paddle itself."""
    from paddlelite.lite import Opt

    converter = Opt()
    converter.set_model_file(str(source.with_suffix(".pdmodel")))
    converter.set_param_file(str(source.with_suffix(".pdiparams")))
    converter.set_valid_places(places)
    converter.set_model_type("naive_buffer")
    converter.set_optimize_out(str(target))
    converter.run()
