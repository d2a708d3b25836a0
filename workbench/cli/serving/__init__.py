"""HTTP server for one model: a bounded number of requests and a few threads, of which one at a time calls the network.

Needs the extra `serve` (Starlette, Uvicorn, httptools, python-multipart).
"""
