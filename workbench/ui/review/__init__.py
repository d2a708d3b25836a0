"""Evaluation of a run: missed defects, false alarms, operating point."""
