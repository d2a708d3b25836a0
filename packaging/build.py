"""Build the packages for users.

    python packaging/build.py wheel        dist/defect_workbench-*.whl and the source distribution
    python packaging/build.py app          dist/DefectWorkbench/, a folder that runs without Python, built and checked
    python packaging/build.py archive      the same folder as .tar.gz (Linux) or .zip (Windows)
    python packaging/build.py deb          dist/defect-workbench_*.deb with menu entry, icon and MIME type
    python packaging/build.py installer    dist/DefectWorkbench-*-setup.exe (Windows with Inno Setup 6.3)
    python packaging/build.py constraints  dist/constraints-*.txt, the installed versions, with which the tests have run
    python packaging/build.py wheelhouse   dist/wheelhouse/, all wheels for an installation without internet
    python packaging/build.py check        use the built folder as a user would

`app` needs the extra `package` and one of the extras `cpu` and `gpu`. Every package contains the license texts and the
software bill of materials (CycloneDX) of everything inside.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging"))

import contents  # noqa: E402
from linux.command_files import write_command_files  # noqa: E402
from paddle_parts import paddle_parts  # noqa: E402
from windows.version_info import version  # noqa: E402

DIST, BUILD = ROOT / "dist", ROOT / "build"
APP = DIST / "DefectWorkbench"
ICON_SIZES = (16, 24, 32, 48, 64, 128, 256)
# Of users, in the constraints file.
EXTRAS = ("", "cpu", "openvino", "int8", "serve", "opcua", "mqtt", "modbus", "log-tensorboard")
EXECUTABLE = ".exe" if os.name == "nt" else ""
INSTALLER_BYTES = 2_100_000_000  # of one file of an installer by Inno Setup 6
# Shared libraries that Qt's xcb plugin and OpenCV load from the system.
DEB_DEPENDS = (
    "libc6, libegl1, libgl1, libxkbcommon-x11-0, libxcb-cursor0, libxcb-icccm4, libxcb-keysyms1, libxcb-shape0, "
    "libdbus-1-3, libfontconfig1, libgomp1"
)


def _run(*command: str | Path, **keywords: Any) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, **keywords)


def wheel() -> None:
    _run(sys.executable, "-m", "build", "--sdist", "--wheel", "--outdir", DIST, ROOT)


# --- parts of every package ------------------------------------------------------------------------


def make_icons(folder: Path) -> dict[int, Path]:
    """Draw the icon of the application in each size, and write defect-workbench.ico. Return the PNG files by size."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PIL import Image
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    app = QGuiApplication.instance() or QGuiApplication(sys.argv[:1])
    renderer = QSvgRenderer(str(ROOT / "resources" / "icons" / "app.svg"))
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for size in ICON_SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        files[size] = folder / f"{size}.png"
        image.save(str(files[size]))
    images = [Image.open(file) for file in files.values()]
    images[-1].save(folder / "defect-workbench.ico", append_images=images[:-1], sizes=[(s, s) for s in ICON_SIZES])
    del app
    return files


def write_licenses(folder: Path) -> None:
    """Write LICENSES-3RD-PARTY.txt and sbom.cdx.json of everything inside the packed application to `folder`.

    Exit with a message if files of the application belong to no known part.
    """
    own = (ROOT, BUILD, Path(tempfile.gettempdir()))
    parts = contents.find_contents(contents.collected_files(BUILD / "workbench"), own)
    if parts.unknown:
        sys.exit("files of unknown origin in the application:\n" + "\n".join(parts.unknown))
    texts, bill = folder / "LICENSES-3RD-PARTY.txt", folder / "sbom.cdx.json"
    licenses = [sys.executable, "-m", "piplicenses", "--format=plain-vertical", "--with-license-file"]
    licenses += ["--no-license-path", "--with-urls", "--with-system", "--output-file", texts]
    _run(*licenses, "--packages", *sorted(parts.distributions))
    with texts.open("a", encoding="utf-8") as file:
        file.write(contents.further_licenses(parts))
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", ROOT / "pyproject.toml"]
    _run(*command, "--output-reproducible", "-o", bill)
    inside = contents.add_to_bill(json.loads(bill.read_text("utf-8")), parts)
    bill.write_text(json.dumps(inside, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    print(f"{len(inside['components'])} parts, {len(parts.system)} of them libraries of the system")


# --- packages --------------------------------------------------------------------------------------


def app() -> None:
    shutil.rmtree(APP, ignore_errors=True)
    icons = make_icons(BUILD / "icons")
    shutil.copyfile(next(iter(icons.values())).with_name("defect-workbench.ico"), BUILD / "defect-workbench.ico")
    builder = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    _run(*builder, "--distpath", DIST, "--workpath", BUILD, ROOT / "packaging" / "workbench.spec")
    write_licenses(APP)
    check()


def archive() -> Path:
    """Pack the built folder. Return the file."""
    name = f"DefectWorkbench-{version()}-{platform.system().lower()}-{platform.machine().lower()}"
    kind = "zip" if os.name == "nt" else "gztar"
    return Path(shutil.make_archive(str(DIST / name), kind, DIST, APP.name))


def deb() -> Path:
    """Make a Debian package of the built folder in /opt, with menu entry, icons and MIME type. Return the file."""
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    name = f"defect-workbench_{version()}_{architecture.stdout.strip()}"
    root = BUILD / name
    shutil.rmtree(root, ignore_errors=True)
    target = root / "opt" / "defect-workbench"
    target.parent.mkdir(parents=True)
    _run("cp", "-al" if APP.stat().st_dev == BUILD.stat().st_dev else "-a", APP, target)
    programs = root / "usr" / "bin"
    programs.mkdir(parents=True)
    (programs / "defect-workbench").symlink_to("/opt/defect-workbench/DefectWorkbench")
    (programs / "workbench").symlink_to("/opt/defect-workbench/workbench")
    share = root / "usr" / "share"
    linux = ROOT / "packaging" / "linux"
    for source, place in (
        (linux / "defect-workbench.desktop", share / "applications" / "defect-workbench.desktop"),
        (linux / "defect-workbench.xml", share / "mime" / "packages" / "defect-workbench.xml"),
        (ROOT / "resources" / "icons" / "app.svg", share / "icons/hicolor/scalable/apps/defect-workbench.svg"),
        (ROOT / "LICENSE", share / "doc" / "defect-workbench" / "copyright"),
        (APP / "LICENSES-3RD-PARTY.txt", share / "doc" / "defect-workbench" / "LICENSES-3RD-PARTY.txt"),
        (APP / "sbom.cdx.json", share / "doc" / "defect-workbench" / "sbom.cdx.json"),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    for size, file in make_icons(BUILD / "icons").items():
        place = share / f"icons/hicolor/{size}x{size}/apps/defect-workbench.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    write_command_files(share)
    size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(
        f"Package: defect-workbench\nVersion: {version()}\nArchitecture: {architecture.stdout.strip()}\n"
        f"Maintainer: Defect Workbench developers <defect-workbench@localhost>\n"
        f"Installed-Size: {size}\nDepends: {DEB_DEPENDS}\n"
        "Section: graphics\nPriority: optional\n"
        "Description: label surface defects, train a model, export it\n"
        " Desktop application for surface inspection on one workstation, with or without an NVIDIA GPU.\n",
        encoding="utf-8",
    )
    file = DIST / f"{name}.deb"
    _run("dpkg-deb", "--root-owner-group", "-Zzstd", "-z3", "--build", root, file)
    return file


def installer() -> None:
    compiler = (
        os.environ.get("WORKBENCH_ISCC") or shutil.which("iscc") or r"C:\Program Files (x86)\Inno Setup 6\ISCC.exe"
    )
    _run(compiler, f"/DVersion={version()}", *division(APP), ROOT / "packaging" / "windows" / "installer.iss")


def division(folder: Path) -> list[str]:
    """Return the option that divides the installer into several files if one may be too small for the folder.

    It is, for example, with NVIDIA's libraries of the GPU build.
    """
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return ["/DDivided"] if size > INSTALLER_BYTES else []


def constraints(folder: Path = DIST) -> Path:
    """Write the installed versions of everything that the extras of users need, for `pip install -c`. Return the file.

    An extra that is not installed is left out, with a note.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: dict[str, str] = {}
    missing: set[str] = set()
    waiting = [(need, extra) for need in metadata.requires("defect-workbench") or [] for extra in EXTRAS]
    while waiting:
        text, extra = waiting.pop()
        need = Requirement(text)
        if need.marker is not None and not need.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(need.name)
        try:
            version_here, needs = metadata.version(name), metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            missing.add(name)
            continue
        if name not in found or need.extras:
            found[name] = version_here
            waiting += [(each, wanted) for each in needs for wanted in ("", *need.extras)]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"constraints-{version()}.txt"
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    head = (
        f"# Versions with which Defect Workbench {version()} was tested, on {platform.system()} with Python {python}.\n"
    )
    lines = [*(f"{name}=={number}\n" for name, number in sorted(found.items()))]
    lines += [f"# not tested here: {name}\n" for name in sorted(missing - found.keys())]
    file.write_text(head + "".join(lines), encoding="utf-8")
    return file


def wheelhouse() -> None:
    """Download all wheels of the installed extra, `cpu` or `gpu`, for an installation with `pip install --no-index`."""
    from workbench.core.runs import pip_commands

    folder, extra, index = DIST / "wheelhouse", "cpu", []
    if paddle_parts()[0] == "paddlepaddle-gpu":
        installed = pip_commands.installed_build()
        fitting = [build for build in pip_commands.BUILDS if installed is not None and build.cuda == installed.cuda]
        extra, index = "gpu", ["--extra-index-url", (*fitting, pip_commands.DEFAULT)[0].index]
    wheels = [sys.executable, "-m", "pip", "wheel", "--wheel-dir", folder, *index]
    _run(*wheels, f"{ROOT}[{extra},openvino,int8,serve,opcua]")
    print(f'pip install --no-index --find-links {folder} "defect-workbench[{extra}]"')


# --- check -----------------------------------------------------------------------------------------


def check(folder: Path = APP) -> None:
    """Use the built programs as a user would, in a separate folder and without this Python's packages."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / "sample"

        def run(*arguments: str) -> dict[str, Any]:
            print("+ workbench", *arguments, flush=True)
            command: Sequence[str] = [str(folder / f"workbench{EXECUTABLE}"), *arguments]
            done = subprocess.run(command, cwd=place, env=clean, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                sys.exit(f"{arguments[0]} ended with exit code {done.returncode}")
            try:
                return json.loads(done.stdout)
            except ValueError:
                sys.exit(f"{arguments[0]} wrote no JSON object but {done.stdout[:2000]!r}")

        run("doctor", "--json")
        report = run("demo", str(project), "--minutes", "0.3", "--json")
        print(f"  trained, exported and checked: {sorted(report)}")
        # The window on the present display, offscreen without one.
        screen = {} if os.environ.get("DISPLAY") or os.name == "nt" else {"QT_QPA_PLATFORM": "offscreen"}
        program = folder / f"DefectWorkbench{EXECUTABLE}"
        window = subprocess.Popen([str(program), str(project)], cwd=place, env={**clean, **screen})
        try:
            window.wait(timeout=15)
            sys.exit(f"the window closed with exit code {window.returncode}")
        except subprocess.TimeoutExpired:
            window.terminate()
            window.wait(timeout=15)
    print(f"{folder} works.")


COMMANDS = {
    "wheel": wheel,
    "app": app,
    "archive": archive,
    "deb": deb,
    "installer": installer,
    "constraints": constraints,
    "wheelhouse": wheelhouse,
    "check": check,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", choices=[*COMMANDS])
    COMMANDS[parser.parse_args().package]()


if __name__ == "__main__":
    main()
