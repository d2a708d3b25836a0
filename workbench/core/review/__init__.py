"""How good a run is on its held-out pictures, at any operating point, without asking the network again."""
