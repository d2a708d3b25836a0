"""Minimal HTTP server for one ONNX network with FastAPI and ONNX Runtime, as a baseline for `workbench serve`.

    python tests/benchmarks/fastapi_server.py EXPORT --port 8100 [--threads 2]

POST /predict with the bytes of an image returns a PNG of the class map, or the probabilities of a classification as
JSON: decoding, normalization, network, threshold and encoding of each request in a thread of the server's pool, without
batching, tiles, minimum areas or limits. Needs fastapi, uvicorn, onnxruntime, NumPy and OpenCV.
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=Path)
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--threads", type=int, default=0, help="of ONNX Runtime for each request")
    args = parser.parse_args()
    settings = json.loads((args.export / "model.json").read_text("utf-8"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(args.export / settings["files"]["onnx"], options)
    source = session.get_inputs()[0].name
    mean, std = (np.float32(settings[name]).reshape(-1, 1, 1) for name in ("mean", "std"))
    flag = cv2.IMREAD_GRAYSCALE if settings.get("channels", 1) == 1 else cv2.IMREAD_COLOR_RGB
    multiple = settings.get("multiple", 1)
    classify, side = settings["task"] == "classification", settings.get("input_size")

    def predict(content: bytes) -> Response:
        image = cv2.imdecode(np.frombuffer(content, np.uint8), flag)
        if classify and side:
            image = cv2.resize(image, (side, side), interpolation=cv2.INTER_AREA)
        planes = np.atleast_3d(image).transpose(2, 0, 1)
        bottom, right = (-size % multiple for size in image.shape[:2])
        planes = planes if classify else np.pad(planes, ((0, 0), (0, bottom), (0, right)), mode="reflect")
        network_input = np.ascontiguousarray((planes.astype(np.float32) / 255 - mean) / std)[None]
        output = session.run(None, {source: network_input})[0][0]
        if classify:
            values = dict(zip(settings["verdicts"], map(float, output), strict=True))
            return Response(json.dumps({"probabilities": values}), media_type="application/json")
        ids = output[:, : image.shape[0], : image.shape[1]].argmax(axis=0).astype(np.uint8)
        return Response(cv2.imencode(".png", ids)[1].tobytes(), media_type="image/png")

    app = FastAPI()

    @app.post("/predict")
    async def answer(request: Request) -> Response:
        return await run_in_threadpool(predict, await request.body())

    uvicorn.run(app, host="127.0.0.1", port=args.port, log_level="warning")


if __name__ == "__main__":
    main()
