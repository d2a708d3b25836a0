"""The review of a run: what it misses, what it cries wolf about, and from which score on a defect begins."""
