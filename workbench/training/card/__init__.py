"""The card of a model: what it is, how good it is and where it ends, as a page with pictures and as plain text."""
