"""What is open now: the only writer of labels, with its worker threads and the processes it starts. QtCore only."""
