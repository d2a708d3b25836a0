"""Dialogs. None of them opens by itself during labeling."""
