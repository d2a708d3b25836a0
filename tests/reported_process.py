"""Program that reports its surroundings, for the test of forked processes."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
import time


def main() -> None:
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    if sys.argv[1:2] == ["exit"]:
        threading.Thread(target=lambda: (time.sleep(0.2), atexit.register(print, "at exit"))).start()
        if sys.argv[2] == "error":
            raise ValueError(sys.argv[2])
        sys.exit(int(sys.argv[2]) if sys.argv[2].isdigit() else sys.argv[2])
    if sys.argv[1:2] == ["sleep"]:
        print("started", flush=True)
        time.sleep(600)
    descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd"))
    report = {
        "arguments": sys.argv[1:],
        "input": sys.stdin.read(),
        "folder": os.getcwd(),
        "mark": os.environ.get("WORKBENCH_MARK"),
        "process": os.getpid(),
        "group": os.getpgid(0),
        "name": __name__,
        "in_path": os.getcwd() in sys.path or "" in sys.path,
        "descriptors": descriptors[:-1],  # the last one reads this folder
        "handler": int(signal.getsignal(signal.SIGTERM)),
    }
    print(json.dumps(report, ensure_ascii=False))
    print("reported", file=sys.stderr)


if __name__ == "__main__":
    main()
