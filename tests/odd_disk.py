"""File systems that behave like network drives and camera cards.

    with odd_disk(folder, "no_locks") as root: ...

speaks FUSE directly, so that no package is needed. Files are stored in an ordinary folder beside the mount point; the
server runs in a process of its own, because a process that waits for its own file system would wait for ever. Where
nothing can be mounted, `stand_in` changes the functions of the operating system for one process.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

KINDS = (
    "plain",
    "equal_ids",  # every folder has the same file id
    "zero_ids",  # every file and folder has the file id 0
    "changing_ids",  # another id at each look
    "no_locks",  # ENOSYS for every lock
    "no_lock_left",  # ENOLCK for every lock
    "no_fsync",  # EINVAL
    "no_replace",  # a file cannot be renamed to the name of an existing one
    "stale",  # changes made by another computer are seen late
    "ignores_case",
    "coarse_times",  # two seconds, as on FAT
)


@contextlib.contextmanager
def odd_disk(folder: Path, kind: str) -> Iterator[Path]:
    """Mount a file system of a kind of `KINDS` at `folder`. Skip the test where that is impossible.

    Its files lie in the folder `store(folder)`.
    """
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or not sys.platform.startswith("linux"):
        pytest.skip("mounting needs Linux, /dev/fuse and root")
    folder.mkdir()
    store(folder).mkdir(exist_ok=True)
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"odd", os.fsencode(folder), b"fuse", 6, options) != 0:  # MS_NOSUID | MS_NODEV
        os.close(device)
        pytest.skip("mounting needs root")
    command = [sys.executable, __file__, str(device), str(store(folder)), kind]
    with subprocess.Popen(command, pass_fds=[device]) as server:
        os.close(device)
        try:
            yield folder
        finally:
            libc.umount2(os.fsencode(folder), 2)  # MNT_DETACH
            server.kill()


def stand_in(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Make this process see all its files as on a file system of a kind of `KINDS`. Skip what cannot be imitated."""

    def refuse(number: int) -> Callable[..., None]:
        def fail(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        return fail

    if kind in ("no_locks", "no_lock_left"):
        fcntl = pytest.importorskip("fcntl")
        for name in ("flock", "lockf"):
            monkeypatch.setattr(fcntl, name, refuse(errno.ENOSYS if kind == "no_locks" else errno.ENOLCK))
    elif kind == "no_fsync":
        monkeypatch.setattr(os, "fsync", refuse(errno.EINVAL))
    elif kind == "no_replace":
        replace = os.replace
        monkeypatch.setattr(os, "replace", lambda a, b: refuse(errno.EEXIST)() if os.path.lexists(b) else replace(a, b))
    elif kind in ("equal_ids", "zero_ids", "changing_ids", "coarse_times"):
        numbers = itertools.count(1)
        for name in ("stat", "lstat", "fstat"):
            monkeypatch.setattr(os, name, _changed(getattr(os, name), kind, numbers))
    elif kind != "plain":
        pytest.skip("only a mounted file system can do that")


def _changed(look: Callable[..., os.stat_result], kind: str, numbers: Iterator[int]) -> Callable[..., os.stat_result]:
    def changed(*arguments: object, **options: object) -> os.stat_result:
        state = look(*arguments, **options)
        fields = {name: getattr(state, name) for name in dir(state) if name.startswith("st_")}
        values = list(state)
        if kind == "coarse_times":
            fields["st_mtime_ns"] = state.st_mtime_ns // 2_000_000_000 * 2_000_000_000
            values[8] = fields["st_mtime_ns"] // 1_000_000_000
        elif kind != "equal_ids" or stat.S_ISDIR(state.st_mode):
            values[1] = {"zero_ids": 0, "equal_ids": 7, "changing_ids": next(numbers)}[kind]
        return os.stat_result(values, fields)

    return changed


def store(folder: Path) -> Path:
    """Return the folder in which the files of the file system at `folder` lie."""
    return folder.with_name(folder.name + ".store")


_LOCKS = {31, 32, 33}
_SILENT = {2, 36, 42}  # forget, interrupt, batch forget: no answer is expected
_KEEP, _LATE = 0, 3600  # seconds for which the kernel may keep what it has been told


class Server:
    """File system that passes every call on to the folder `root`, changed as `kind` says."""

    def __init__(self, device: int, root: bytes, kind: str) -> None:
        self.device, self.root, self.kind = device, root, kind
        self.paths: dict[int, bytes] = {1: b""}
        self.nodes: dict[bytes, int] = {b"": 1}
        self.numbers = itertools.count(2)
        self.calls: dict[int, Callable[[int, bytes], bytes]] = {
            1: self.lookup, 3: self.getattr, 4: self.setattr, 5: self.readlink, 6: self.symlink, 9: self.mkdir,
            10: self.unlink, 11: self.rmdir, 12: self.rename, 13: self.link, 14: self.open, 15: self.read,
            16: self.write, 17: self.statfs, 18: self.release, 20: self.fsync, 25: self.nothing, 26: self.init,
            27: self.opendir, 28: self.readdir, 29: self.nothing, 30: self.nothing, 35: self.create,
        }  # fmt: skip

    def serve(self) -> None:
        while True:
            try:
                request = os.read(self.device, 1 << 18)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return  # unmounted
            _, call, unique, node = struct.unpack_from("<IIQQ", request)
            if call in _SILENT:
                continue
            try:
                if call in _LOCKS and self.kind == "no_lock_left":
                    raise OSError(errno.ENOLCK, "")
                if call not in self.calls:
                    raise OSError(errno.ENOSYS, "")
                body, failure = self.calls[call](node, request[40:]), 0
            except OSError as error:
                body, failure = b"", error.errno or errno.EIO
            with contextlib.suppress(OSError):
                os.write(self.device, struct.pack("<IiQ", 16 + len(body), -failure, unique) + body)

    # --- names ------------------------------------------------------------------------------------------

    def full(self, path: bytes) -> bytes:
        return os.path.join(self.root, path) if path else self.root

    def child(self, node: int, raw: bytes) -> bytes:
        """Return the stored path of a name in a folder."""
        folder, name = self.paths[node], raw.split(b"\0")[0]
        if self.kind == "ignores_case":
            wanted = os.fsdecode(name).casefold()
            found = (other for other in os.listdir(self.full(folder)) if os.fsdecode(other).casefold() == wanted)
            name = next(found, name)
        return os.path.join(folder, name) if folder else name

    def attributes(self, path: bytes, number: int) -> bytes:
        state = os.lstat(self.full(path))
        if self.kind == "zero_ids":
            number = 0
        elif self.kind == "equal_ids" and stat.S_ISDIR(state.st_mode):
            number = 7
        elif self.kind == "changing_ids":
            number = next(self.numbers)
        times = [state.st_atime_ns, state.st_mtime_ns, state.st_ctime_ns]
        if self.kind == "coarse_times":
            times = [time // 2_000_000_000 * 2_000_000_000 for time in times]
        seconds, parts = zip(*(divmod(time, 1_000_000_000) for time in times), strict=True)
        rest = (state.st_mode, state.st_nlink, 0, 0, 0, 4096, 0)
        return struct.pack("<6Q10I", number, state.st_size, state.st_blocks, *seconds, *parts, *rest)

    def entry(self, path: bytes) -> bytes:
        if path not in self.nodes:
            os.lstat(self.full(path))
            self.nodes[path] = number = next(self.numbers)
            self.paths[number] = path
        number, keep = self.nodes[path], _LATE if self.kind == "stale" else _KEEP
        return struct.pack("<4Q2I", number, 0, keep, keep, 0, 0) + self.attributes(path, number)

    def forget(self, path: bytes) -> None:
        self.nodes.pop(path, None)

    # --- calls ------------------------------------------------------------------------------------------

    def init(self, node: int, body: bytes) -> bytes:
        flags = 1 << 5 | (1 << 1 | 1 << 10 if self.kind in ("no_locks", "no_lock_left") else 0)
        return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 16, flags, 12, 9, 1 << 17, 1, 32, 0, *[0] * 8)

    def nothing(self, node: int, body: bytes) -> bytes:
        return b""

    def lookup(self, node: int, body: bytes) -> bytes:
        path = self.child(node, body)
        if not os.path.lexists(self.full(path)):
            self.forget(path)
            raise FileNotFoundError(errno.ENOENT, "")
        return self.entry(path)

    def getattr(self, node: int, body: bytes) -> bytes:
        keep = _LATE if self.kind == "stale" else _KEEP
        return struct.pack("<Q2I", keep, 0, 0) + self.attributes(self.paths[node], node)

    def setattr(self, node: int, body: bytes) -> bytes:
        valid, _, _, size, _, atime, mtime, _, atime_part, mtime_part, _, mode = struct.unpack_from("<2I6Q4I", body)
        path = self.full(self.paths[node])
        if valid & 1:
            os.chmod(path, stat.S_IMODE(mode))
        if valid & 8:
            os.truncate(path, size)
        if valid & 0x1B0:
            state = os.stat(path)
            times = [state.st_atime_ns, state.st_mtime_ns]
            for place, bit, now, value in ((0, 16, 128, (atime, atime_part)), (1, 32, 256, (mtime, mtime_part))):
                if valid & bit and not valid & now:
                    times[place] = value[0] * 1_000_000_000 + value[1]
            os.utime(path, ns=(times[0], times[1]))
        return self.getattr(node, b"")

    def readlink(self, node: int, body: bytes) -> bytes:
        return os.readlink(self.full(self.paths[node]))

    def symlink(self, node: int, body: bytes) -> bytes:
        name, target = body.split(b"\0")[:2]
        path = self.child(node, name)
        os.symlink(target, self.full(path))
        return self.entry(path)

    def mkdir(self, node: int, body: bytes) -> bytes:
        path = self.child(node, body[8:])
        os.mkdir(self.full(path))
        return self.entry(path)

    def unlink(self, node: int, body: bytes) -> bytes:
        path = self.child(node, body)
        os.unlink(self.full(path))
        self.forget(path)
        return b""

    def rmdir(self, node: int, body: bytes) -> bytes:
        path = self.child(node, body)
        os.rmdir(self.full(path))
        self.forget(path)
        return b""

    def rename(self, node: int, body: bytes) -> bytes:
        old, new = body[8:].split(b"\0")[:2]
        source, target = self.child(node, old), self.child(struct.unpack_from("<Q", body)[0], new)
        if self.kind == "no_replace" and os.path.lexists(self.full(target)):
            raise OSError(errno.EEXIST, "")
        if self.kind == "ignores_case" and source.lower() == target.lower():
            target = os.path.join(os.path.dirname(target), new)  # only the spelling changes
        os.rename(self.full(source), self.full(target))
        for path in [path for path in self.nodes if path == target or path.startswith(target + b"/")]:
            self.forget(path)
        for path in [path for path in self.nodes if path == source or path.startswith(source + b"/")]:
            number, moved = self.nodes.pop(path), target + path[len(source) :]
            self.nodes[moved], self.paths[number] = number, moved
        return b""

    def link(self, node: int, body: bytes) -> bytes:
        path = self.child(node, body[8:])
        os.link(self.full(self.paths[struct.unpack_from("<Q", body)[0]]), self.full(path))
        return self.entry(path)

    def open(self, node: int, body: bytes) -> bytes:
        access = struct.unpack_from("<I", body)[0] & os.O_ACCMODE
        return self.opened(os.open(self.full(self.paths[node]), access))

    def opendir(self, node: int, body: bytes) -> bytes:
        return self.opened(0)

    def opened(self, descriptor: int) -> bytes:
        return struct.pack("<Q2I", descriptor, 0, 0)

    def create(self, node: int, body: bytes) -> bytes:
        flags, mode, umask = struct.unpack_from("<3I", body)
        path = self.child(node, body[16:])
        kept = flags & (os.O_ACCMODE | os.O_EXCL) | os.O_CREAT
        descriptor = os.open(self.full(path), kept, stat.S_IMODE(mode) & ~umask)
        return self.entry(path) + self.opened(descriptor)

    def read(self, node: int, body: bytes) -> bytes:
        descriptor, offset, size = struct.unpack_from("<2QI", body)
        return os.pread(descriptor, size, offset)

    def write(self, node: int, body: bytes) -> bytes:
        descriptor, offset, size = struct.unpack_from("<2QI", body)
        return struct.pack("<2I", os.pwrite(descriptor, body[40 : 40 + size], offset), 0)

    def release(self, node: int, body: bytes) -> bytes:
        os.close(struct.unpack_from("<Q", body)[0])
        return b""

    def fsync(self, node: int, body: bytes) -> bytes:
        if self.kind == "no_fsync":
            raise OSError(errno.EINVAL, "")
        return b""

    def statfs(self, node: int, body: bytes) -> bytes:
        return struct.pack("<5Q10I", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096, *[0] * 7)

    def readdir(self, node: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<2QI", body)
        listed = b""
        for place, name in enumerate(sorted(os.listdir(self.full(self.paths[node])))[offset:], offset + 1):
            path = self.full(os.path.join(self.paths[node], name))
            kind = stat.S_IFMT(os.lstat(path).st_mode) >> 12
            entry = struct.pack("<2Q2I", 1, place, len(name), kind) + name
            entry += bytes(-len(entry) % 8)
            if len(listed) + len(entry) > size:
                break
            listed += entry
        return listed


if __name__ == "__main__":
    os.umask(0)
    Server(int(sys.argv[1]), os.fsencode(sys.argv[2]), sys.argv[3]).serve()
