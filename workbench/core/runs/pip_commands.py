"""Exact pip commands that install missing packages for this Python, and the only table of the GPU builds of
PaddlePaddle 3.3: their indexes, drivers and GPU generations.

Sources: the architectures that Paddle prints when a build does not fit a GPU; NVIDIA's table of least drivers per major
version of CUDA ("CUDA Compatibility"). A binary of one generation also runs on later GPUs of the same major compute
capability, e.g. 8.6 on 8.9.

Command lines that can be pasted into the shell of the user: sh, cmd or PowerShell.

PowerShell starts a quoted program only after `&`, and Windows PowerShell 5 has no `&&`. A line without either works in
both shells of Windows, so words are quoted only if they must be.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from workbench.core.runs.gpu_facts import Gpu, GpuFacts, dotted, read_gpu_facts

_WINDOWS_SHELLS = {"cmd.exe": "cmd", "powershell.exe": "powershell", "pwsh.exe": "powershell", "bash.exe": "sh"}
_SPECIAL = re.compile(r"[^\w./\\:+-]")  # characters for which cmd and PowerShell need quotes


@cache
def user_shell() -> str:
    """Return "sh", "cmd" or "powershell": the shell from which this program was started.

    On Windows it is PowerShell, which the system offers first, if the program was not started from a shell.
    """
    return shell_of(_programs_above()) if sys.platform == "win32" else "sh"


def shell_of(programs: Iterable[str]) -> str:
    """Return the first shell of Windows in the names of running programs, "powershell" if there is none."""
    return next((_WINDOWS_SHELLS[name] for name in map(str.lower, programs) if name in _WINDOWS_SHELLS), "powershell")


def command_line(words: Sequence[str], shell: str = "") -> str:
    """Return a program and its arguments as one line for a shell, by default that of the user.

    Words with characters that a shell would change are quoted.
    """
    shell = shell or user_shell()
    if shell == "sh":
        return shlex.join(words)
    line = " ".join(f'"{word}"' if _SPECIAL.search(word) or not word else word for word in words)
    return f"& {line}" if shell == "powershell" and line.startswith('"') else line


def in_sequence(*lines: str, shell: str = "") -> str:
    """Return one line that runs several command lines, one after another."""
    return ("; " if (shell or user_shell()) == "powershell" else " && ").join(lines)


def remove_variable(name: str, shell: str = "") -> str:
    """Return the line that removes an environment variable in the shell of the user."""
    commands = {"sh": "unset {}", "cmd": "set {}=", "powershell": "Remove-Item Env:{}"}
    return commands[shell or user_shell()].format(name)


def _programs_above() -> list[str]:
    """Return the names of the processes that started this one, the nearest first."""
    import psutil

    try:
        return [process.name() for process in psutil.Process().parents()]
    except psutil.Error:
        return []


_HOST = "https://www.paddlepaddle.org.cn/packages/stable"
Version = tuple[int, ...]
_ALL = ((6, 0), (6, 1), (7, 0), (7, 5), (8, 0), (8, 6))
DISTRIBUTION = "defect-workbench"
_FALLBACK = ("paddlepaddle>=3.3,<3.4", "onnx>=1.16", "setuptools>=65")
# Required versions for a checkout that is not installed and therefore has no metadata.
_KNOWN = {"onnxruntime": "onnxruntime>=1.18,!=1.24.0", "numpy": "numpy>=2"}


@dataclass(frozen=True)
class PaddleBuild:
    """One index of GPU wheels. drivers: least driver by system. capabilities: compiled generations by system."""

    name: str
    cuda: tuple[int, int]
    drivers: dict[str, str]
    capabilities: dict[str, tuple[tuple[int, int], ...]]
    gpus: str  # summary for the documentation

    @property
    def index(self) -> str:
        return f"{_HOST}/{self.name}/"

    def supports(self, capability: tuple[int, int], system: str) -> bool:
        compiled = self.capabilities.get(system, ())
        return any(major == capability[0] and minor <= capability[1] for major, minor in compiled)

    def least_driver(self, system: str) -> str:
        return self.drivers.get(system, self.drivers["Linux"])


# In order of preference.
BUILDS = (
    PaddleBuild(
        "cu126",
        (12, 6),
        {"Linux": "525.60", "Windows": "528.33"},
        {
            "Linux": ((6, 1), (7, 0), (7, 5), (8, 0), (8, 6), (8, 9), (9, 0)),
            "Windows": ((7, 5), (8, 0), (8, 6), (8, 9)),
        },
        "GTX 16, RTX 20, 30, 40, A100, H100, H200; on Linux also GTX 10 and V100",
    ),
    PaddleBuild(
        "cu118",
        (11, 8),
        {"Linux": "450.80", "Windows": "452.39"},
        {"Linux": _ALL, "Windows": _ALL},
        "GTX 10 and V100 on Windows, P100, and GPUs with an older driver",
    ),
    PaddleBuild(
        "cu129",
        (12, 9),
        {"Linux": "575.51", "Windows": "576.02"},
        {"Linux": ((10, 0), (12, 0)), "Windows": ((12, 0),)},
        "RTX 50, B200",
    ),
    PaddleBuild(
        "cu130",
        (13, 0),
        {"Linux": "580.65", "Windows": "580.88"},
        {"Linux": ((10, 0), (11, 0), (12, 0)), "Windows": ((12, 0),)},
        "newer GPUs than those above",
    ),
)
DEFAULT = BUILDS[0]


@dataclass(frozen=True)
class BuildChoice:
    """Build for a GPU. build: None if none supports it. update: least driver to be installed first, or ""."""

    build: PaddleBuild | None
    update: str = ""


@dataclass(frozen=True)
class InstalledBuild:
    """Installed PaddlePaddle as its files describe it. cuda: None for the CPU build. archs: compiled generations."""

    version: str
    cuda: tuple[int, int] | None
    cudnn: str = ""
    archs: tuple[tuple[int, int], ...] = ()


def choose_build(gpu: Gpu, driver: str, system: str) -> BuildChoice:
    """Return the build for a GPU, a driver version such as "560.94" and a system such as "Windows".

    If the driver is too old for every build of this GPU, the choice names the preferred build and the driver it needs.
    """
    capability = gpu.capability
    if capability is None:
        fitting = [DEFAULT]
    elif capability > (12, 9):
        fitting = [BUILDS[-1]]
    else:
        fitting = [build for build in BUILDS if build.supports(capability, system)]
    if not fitting:
        return BuildChoice(None)
    number = parse_version(driver)
    for build in fitting:
        if not number or number >= parse_version(build.least_driver(system)):
            return BuildChoice(build)
    return BuildChoice(fitting[0], fitting[0].least_driver(system))


def choose_for_machine(facts: GpuFacts) -> BuildChoice:
    """Return the build for the main GPU of those that CUDA programs see, or of all if none is visible."""
    return choose_build(facts.main, facts.driver, facts.system) if facts.main else BuildChoice(None)


def installed_build() -> InstalledBuild | None:
    """Return the installed build, read from Paddle's version file without importing Paddle; None without Paddle."""
    spec = importlib.util.find_spec("paddle")
    if spec is None or not spec.origin:
        return None
    try:
        text = (Path(spec.origin).parent / "version" / "__init__.py").read_text("utf-8", "replace")
    except OSError:
        return InstalledBuild("", None)
    return parse_version_file(text)


def parse_version_file(text: str) -> InstalledBuild:
    def value(name: str) -> str:
        found = re.search(rf"^{name}\s*=\s*(.*)$", text, re.MULTILINE)
        return found.group(1).strip().strip("'\"") if found else ""

    numbers = parse_version(value("cuda_version"))
    archs = tuple((int(n) // 10, int(n) % 10) for n in re.findall(r"\d+", value("compiled_cuda_archs")))
    cudnn = value("cudnn_version")
    return InstalledBuild(
        value("full_version"),
        (numbers[0], numbers[1]) if len(numbers) >= 2 else None,
        "" if cudnn in ("False", "None") else cudnn,
        archs,
    )


def mismatch(installed: InstalledBuild, facts: GpuFacts) -> str:
    """Return a clause that explains why the installed GPU build cannot use this machine's GPU; "" if it can."""
    gpu, cuda = facts.main, dotted(installed.cuda)
    if installed.cuda is None or gpu is None or not facts.usable:
        return ""
    build = next((build for build in BUILDS if build.cuda == installed.cuda), None)
    least = build.least_driver(facts.system) if build else ""
    if least and parse_version(facts.driver) and parse_version(facts.driver) < parse_version(least):
        newest = f" (up to CUDA {dotted(facts.cuda)})" if facts.cuda else ""
        return (
            f"the driver {facts.driver}{newest} is too old for the installed PaddlePaddle build for CUDA {cuda}, which "
            f"needs {least} or newer"
        )
    compiled = installed.archs or (build.capabilities.get(facts.system, ()) if build else ())
    if gpu.capability and compiled and not any(a == gpu.capability[0] and b <= gpu.capability[1] for a, b in compiled):
        listed = ", ".join(map(dotted, compiled))
        return (
            f"the installed PaddlePaddle build for CUDA {cuda} was compiled for compute capability {listed}, but "
            f"{gpu.name} has {dotted(gpu.capability)}"
        )
    return ""


def parse_version(text: str) -> Version:
    """Return the leading numbers of a version text, (560, 94) of "560.94"; empty if there are none."""
    found = re.match(r"\d+(\.\d+)*", text.strip())
    return tuple(map(int, found.group(0).split("."))) if found else ()


def pip_command(*requirements: str, index: str = "") -> str:
    """Return a command line that can be pasted: this interpreter's pip, and the requirements to install."""
    return pip("install", *requirements, *(["--extra-index-url", index] if index else []))


def pip(*arguments: str) -> str:
    """Return a command line that can be pasted into the shell of the user: this interpreter's pip."""
    return command_line([sys.executable, "-m", "pip", *arguments])


def paddle_command(build: PaddleBuild | None = None) -> str:
    """Return the command that installs PaddlePaddle: a GPU build from its own index, or the CPU build from PyPI."""
    requirements = _of_extra("gpu" if build else "cpu")
    if build and not requirements:
        requirements = [_FALLBACK[0].replace("paddlepaddle", "paddlepaddle-gpu"), *_FALLBACK[1:]]
    return pip_command(*(requirements or _FALLBACK), index=build.index if build else "")


def replace_paddle_command(build: PaddleBuild | None) -> str:
    """Return the command that removes all builds of PaddlePaddle, which share one folder, and installs one."""
    return replace_command(paddle_command(build))


def replace_command(install: str) -> str:
    return in_sequence(pip("uninstall", "-y", "paddlepaddle", "paddlepaddle-gpu"), install)


def trains_here(version: tuple[int, int] = sys.version_info[:2]) -> bool:
    """Return True if there is a PaddlePaddle for this version of Python."""
    return version < (3, 14)


def paddle_command_here(facts: GpuFacts | None = None) -> str:
    """Return the command that installs the build of PaddlePaddle for this machine's GPU, or the CPU build without one.

    The CPU build is also named if the driver must be updated before any GPU build works. For a version of Python
    without PaddlePaddle the command makes an environment of one that has it.
    """
    if not trains_here():
        python = ["py", "-3.13"] if sys.platform == "win32" else ["python3.13"]
        return command_line([*python, "-m", "venv", ".venv-training"])
    choice = choose_for_machine(read_gpu_facts() if facts is None else facts)
    return paddle_command(None if choice.update else choice.build)


def requirement(name: str) -> str:
    """Return this distribution's requirement of a package, such as "numpy>=2", or the bare name if unknown.

    One of an extra is returned if there is no other.
    """
    lines = sorted((line for line in _requirements() if _name(line) == name.casefold()), key=lambda x: "extra ==" in x)
    return lines[0].partition(";")[0].strip() if lines else _KNOWN.get(name, name)


def installed_version(distribution: str) -> str | None:
    """Return the installed version of a distribution, None if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _of_extra(extra: str) -> list[str]:
    pattern = re.compile(rf"""extra\s*==\s*['"]{extra}['"]""")
    return [line.partition(";")[0].strip() for line in _requirements() if pattern.search(line)]


def _requirements() -> list[str]:
    try:
        return metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []


def _name(line: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0].casefold()
