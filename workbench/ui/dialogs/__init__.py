"""Windows of their own; none opens by itself while somebody labels."""
