"""Evaluation of a run on validation and test images at any operating point, without repeated inference."""
