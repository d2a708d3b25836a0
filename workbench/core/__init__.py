"""Nouns and arithmetic of the workbench: projects, pictures, masks, recipes, runs. No Qt, no Paddle, no threads."""
