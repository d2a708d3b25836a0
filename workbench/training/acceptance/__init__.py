"""Acceptance test of a GPU: `workbench doctor --gpu` runs every item of `items.ITEMS` in a process of its own."""
