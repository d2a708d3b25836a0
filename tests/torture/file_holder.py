"""Program that holds files on Windows, as virus scanners, synchronized folders and backup programs do.

    python -m tests.torture.file_holder FOLDER SHARE LOW HIGH CHANCE

holds each new or changed file below FOLDER once with the probability CHANCE, for LOW to HIGH milliseconds. SHARE: sum
of 1 (others may open it to read), 2 (write), 4 (replace and delete); of 8 (its content is locked, as by a backup
program) and 16 (it is mapped into memory, as by a viewer). It ends with its standard input.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

READ, OPEN_EXISTING = 0x80000000, 3
SHARING = {"none": 0, "read": 1, "read and write": 3, "all": 7, "locked": 7 | 8, "mapped": 7 | 16}


@contextlib.contextmanager
def held(path: Path, share: int = 0) -> Iterator[None]:
    """Hold one file while the block runs. Raises OSError if that is not possible."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.CreateFileW.restype = ctypes.c_void_p
    kernel.CreateFileMappingW.restype = kernel.MapViewOfFile.restype = ctypes.c_void_p
    handle = kernel.CreateFileW(str(path), READ, share & 7, None, OPEN_EXISTING, 0, None)
    if handle in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_last_error(), "the file cannot be held", str(path))  # type: ignore[attr-defined]
    file, view = ctypes.c_void_p(handle), None
    if share & 8:
        kernel.LockFile(file, 0, 0, 0xFFFFFFFF, 0)
    if share & 16:
        mapping = ctypes.c_void_p(kernel.CreateFileMappingW(file, None, 2, 0, 0, None))
        view = ctypes.c_void_p(kernel.MapViewOfFile(mapping, 4, 0, 0, 0))
        kernel.CloseHandle(mapping)
    try:
        yield
    finally:
        kernel.UnmapViewOfFile(view)
        kernel.CloseHandle(file)


@contextlib.contextmanager
def holding(folder: Path, share: int, low: float, high: float, chance: float = 1.0) -> Iterator[None]:
    """Run the program while the block runs. low, high: milliseconds."""
    numbers = map(str, (share, low, high, chance))
    command = [sys.executable, "-m", "tests.torture.file_holder", str(folder), *numbers]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.stdin.close()
            print("held:", process.stdout.read().decode())


def main() -> None:
    folder, share = sys.argv[1], int(sys.argv[2])
    low, high, chance = float(sys.argv[3]) / 1000, float(sys.argv[4]) / 1000, float(sys.argv[5])
    choice, seen, count, ended = random.Random(1), {}, [0], threading.Event()

    def hold(path: str) -> None:
        with contextlib.suppress(OSError), held(Path(path), share):
            count[0] += 1
            time.sleep(choice.uniform(low, high))

    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print("ready", flush=True)
    while not ended.wait(0.005):
        for place, _, names in os.walk(folder):
            for path in (os.path.join(place, name) for name in names):
                with contextlib.suppress(OSError):
                    state = os.stat(path)
                    if seen.get(path) != (stamp := (state.st_size, state.st_mtime_ns)):
                        seen[path] = stamp
                        if choice.random() >= chance:
                            continue
                        threading.Thread(target=hold, args=(path,), daemon=True).start()
    print(count[0], flush=True)


if __name__ == "__main__":
    main()
