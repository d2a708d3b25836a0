"""HTTP server for one model: a bounded queue of requests and a few threads, of which one at a time calls the network.

Needs the extra `serve` (FastAPI, Uvicorn, python-multipart).
"""
