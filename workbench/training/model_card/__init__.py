"""Model card: purpose, quality and limits of a model, as an HTML page with images and as plain text."""
