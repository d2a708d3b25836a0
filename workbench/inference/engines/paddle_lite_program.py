"""Program that converts or runs a network of Paddle Lite, for any Python with paddlelite: it has packages for 3.8 only.

    python paddle_lite_program.py convert SOURCE TARGET PLACE     SOURCE.pdmodel, SOURCE.pdiparams -> TARGET.nb
    python paddle_lite_program.py run NETWORK.nb                  arrays on stdin -> arrays on stdout

An array is a line with its shape, such as "1 3 64 64", and its float32 values. The answer to one is a line with the
number of the outputs, and these. Nothing of this package is imported.
"""

import os
import sys
from typing import Any

import numpy as np


def convert(source: str, target: str, place: str) -> None:
    from paddlelite.lite import Opt

    converter = Opt()
    converter.set_model_file(f"{source}.pdmodel")
    converter.set_param_file(f"{source}.pdiparams")
    converter.set_valid_places(place)
    converter.set_model_type("naive_buffer")
    converter.set_optimize_out(target)
    converter.run()


def run(network: str) -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the library prints
    from paddlelite import lite

    config = lite.MobileConfig()
    config.set_model_from_file(network)
    predictor: Any = None
    known: Any = None
    while line := sys.stdin.buffer.readline():
        shape = [int(side) for side in line.split()]
        if shape != known:  # a predictor gives wrong results for a second size
            predictor, known = lite.create_paddle_predictor(config), shape
        values = sys.stdin.buffer.read(4 * int(np.prod(shape)))
        predictor.get_input(0).from_numpy(np.frombuffer(values, np.float32).reshape(shape))
        predictor.run()
        count = len(predictor.get_output_names())
        answers.write(b"%d\n" % count)
        for number in range(count):
            output = np.array(predictor.get_output(number).numpy(), np.float32)
            answers.write(" ".join(map(str, output.shape)).encode() + b"\n" + output.tobytes())
        answers.flush()


if __name__ == "__main__":
    {"convert": convert, "run": run}[sys.argv[1]](*sys.argv[2:])
