"""State of the open project: the only writer of labels, its worker threads and child processes. QtCore only."""
