"""The one road from a picture to a result: normalise, tiles, network, stitch, threshold, regions.

Needs NumPy, OpenCV and one engine. It imports nothing of the workbench: every export carries a copy of it.
"""
