"""A model behind HTTP: requests wait in a bounded queue, a few threads prepare them, one thread calls the network.

Needs the extra `serve` (FastAPI, Uvicorn, python-multipart).
"""
