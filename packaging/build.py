"""Builds what is handed to users: `python packaging/build.py wheel` or `python packaging/build.py app`.

wheel: dist/defect_workbench-*.whl. app: dist/DefectWorkbench/, a folder that runs without Python; afterwards the
built program is started to see that its window opens and that its own executable works as the training child.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def wheel() -> None:
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", str(DIST), str(ROOT)], check=True)


def app() -> None:
    folder = DIST / "DefectWorkbench"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "PyInstaller",
            "--noconfirm",
            "--log-level",
            "WARN",
            "--distpath",
            str(DIST),
            "--workpath",
            str(ROOT / "build"),
            str(ROOT / "packaging" / "workbench.spec"),
        ],
        check=True,
        cwd=ROOT,
    )
    check(folder)


def check(folder: Path) -> None:
    """Use the built program as a person would, in a folder of its own, without this Python's packages."""
    program = folder / ("DefectWorkbench.exe" if os.name == "nt" else "DefectWorkbench")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / "sample"

        def run(*arguments: str, **more) -> dict:
            print("+", program.name, *arguments, flush=True)
            done = subprocess.run(
                [str(program), *arguments], cwd=place, env={**clean, **more}, stdout=subprocess.PIPE, text=True
            )
            if done.returncode:
                sys.exit(f"{arguments[0]} ended with {done.returncode}")
            return json.loads(done.stdout)

        run("doctor", "--json")
        made = run("demo", str(project), "--minutes", "0.3", "--json")
        print(f"  trained, exported and checked: {sorted(made)}")
        # The window, on whatever screen is there; offscreen where there is none.
        screen = {} if os.environ.get("DISPLAY") or os.name == "nt" else {"QT_QPA_PLATFORM": "offscreen"}
        window = subprocess.Popen([str(program), str(project)], cwd=place, env={**clean, **screen})
        try:
            window.wait(timeout=15)
            sys.exit(f"the window closed by itself with {window.returncode}")
        except subprocess.TimeoutExpired:
            window.terminate()
            window.wait(timeout=15)
    print(f"{program} works.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["wheel", "app", "check"])
    what = parser.parse_args().what
    {"wheel": wheel, "app": app, "check": lambda: check(DIST / "DefectWorkbench")}[what]()


if __name__ == "__main__":
    main()
