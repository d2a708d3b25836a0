"""Defect Workbench: label surface defects, train models on this machine, evaluate and export them."""

__version__ = "0.1.0"
