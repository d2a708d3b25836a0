"""Documents with text, tables, charts and images: model cards, evaluation reports."""
