"""Training program: a separate process that reads a run folder and prints events. No other package imports it."""
