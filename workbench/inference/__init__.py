"""Prediction, from image to result: normalization, tiling, network, blending, thresholds, regions.

Requires NumPy, OpenCV and one engine. Imports nothing from the rest of the workbench, because every export contains a
copy of this package.
"""
