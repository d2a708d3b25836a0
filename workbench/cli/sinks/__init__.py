"""Result outputs of `predict --watch` and `serve`: one module per kind of output, listed in `result_outputs`."""
