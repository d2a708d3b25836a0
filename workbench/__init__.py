"""Defect Workbench: label surface defects, train on this workstation, see the overlay get right, export."""

__version__ = "0.1.0"
