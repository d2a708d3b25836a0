"""Plug-ins of each kind. Each module imports only what its own table has: the tables are read one after another."""
