"""Data model of the workbench: projects, images, masks, training settings, runs. No Qt, no Paddle, no threads."""
