"""HTTP server for one model: a bounded queue of requests, a few threads that prepare them, one that calls the network.

Needs the extra `serve` (FastAPI, Uvicorn, python-multipart).
"""
