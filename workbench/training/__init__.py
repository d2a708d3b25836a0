"""The training program: always a process of its own, reads a run folder, prints events. Nobody imports it."""
