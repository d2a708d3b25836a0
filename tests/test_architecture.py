"""Structure of the repository: imports between packages, Qt and Paddle per process, names, dependencies."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.python_process import run_python
from tests.syntax_trees import nodes
from workbench.core import messages

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "workbench").rglob("*.py"))


def dotted_name(node: ast.AST) -> str:
    """Return the name of a function that is called, such as "pytest.importorskip", or its last part after "?"."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted_name(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else "?"


def test_imports_point_downwards():
    """The contracts of pyproject.toml: layers, no Qt below the session, Paddle only in training, no cycles."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing():
    """Style, formatting, unused names, banned imports of Qt widgets and OpenCV."""
    for arguments in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        done = subprocess.run([sys.executable, "-m", "ruff", *arguments, "."], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("platform", ["linux", pytest.param("win32", marks=pytest.mark.slow)])
def test_types_are_consistent(platform):
    """The type check of `[tool.ty]`, with the libraries of this interpreter."""
    ty = pytest.importorskip("ty", reason="ty, of the extra `dev`, is not installed")
    command = [ty.find_ty_bin(), "check", "--python", sys.executable, "--python-platform", platform]
    done = subprocess.run([*command, "--output-format", "concise"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_session_uses_qtcore_only_and_window_process_does_not_import_paddle():
    """The modules of the session, then those of the window, its panels included."""
    out = run_python(
        "import sys, pkgutil, importlib, workbench.session, workbench.ui\n"
        "for package in (workbench.session, workbench.ui):\n"
        "    for m in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(m.name)\n"
        "    print([n for n in ('PySide6.QtWidgets', 'PySide6.QtGui', 'paddle') if n in sys.modules])\n",
        QT_QPA_PLATFORM="offscreen",
    )
    assert out.splitlines() == ["[]", "['PySide6.QtWidgets', 'PySide6.QtGui']"]


def test_training_is_imported_by_its_own_program_only():
    """The window and the command line start it as a child process."""
    for path in SOURCES:
        inside = path.relative_to(ROOT / "workbench")
        if inside.parts[0] in ("training", "__main__.py"):
            continue
        assert not re.search(r"^\s*(from|import) workbench\.training", path.read_text("utf-8"), re.M), inside


def test_nothing_unpickles_or_executes_files():
    """Weights and projects are data: no `paddle.load`, pickle, eval or exec."""
    banned = re.compile(
        r"paddle\.load\(|import pickle\b|pickle\.load|np\.load\(|allow_pickle=True|(?:eval|exec)(?<![\w.]....)\("
    )
    for path in SOURCES:
        found = banned.search(path.read_text("utf-8"))
        assert not found, f"{path.relative_to(ROOT)}: {found.group(0)}"


def test_importing_cv2_keeps_the_qt_variables():
    out = run_python(
        "import os\n"
        "from workbench.inference.io.opencv import cv2\n"
        "cv2.resize\n"  # imports cv2
        "print(sorted(k for k in os.environ if k.startswith('QT_') and k != 'QT_QPA_PLATFORM'))\n"
    )
    assert out.strip() == "[]"


def test_void_qt_calls_keep_references_to_none():
    """PySide6 6.12.0 on Python < 3.12 loses one reference to None per call and aborts within seconds."""
    out = run_python(
        "import sys\n"
        "from PySide6.QtCore import QObject\n"
        "o = QObject()\n"
        "before = sys.getrefcount(None)\n"
        "for _ in range(2000): o.setObjectName('x')\n"
        "print(before - sys.getrefcount(None))\n"
    )
    assert int(out) < 200


# Longer files and classes are split by responsibility.
LONGEST_FILE, LONGEST_CLASS = 500, 300


def test_files_are_short():
    counts = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert not {str(path.relative_to(ROOT)): count for path, count in counts.items() if count > LONGEST_FILE}


def test_classes_are_short():
    counts = {
        f"{path.relative_to(ROOT)}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
    }
    assert not {name: count for name, count in counts.items() if count > LONGEST_CLASS}


def test_docstrings_name_their_subject():
    """A docstring begins with a noun phrase or an imperative verb, never with a question word."""
    found = []
    for path in SOURCES:
        for _, text in docstrings(path):
            if re.match(r"(What|How|Which|Where|Whether|The same)\b", text):
                found.append(f"{path.relative_to(ROOT)}: {text.splitlines()[0]}")
    assert not found


@functools.cache
def docstrings(path: Path) -> list[tuple[ast.Module | ast.ClassDef | ast.FunctionDef, str]]:
    """Return (module, class or function, docstring) of each that has one."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [(node, text) for node in nodes(path) if isinstance(node, kinds) if (text := ast.get_docstring(node))]


# Fields of a node that contain an identifier.
NAME_FIELDS = {
    kind: fields
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
    if (fields := [field for field in kind._fields if field in ("id", "attr", "arg", "name")])
}


def words_of_code(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the identifiers of a piece of code and the words in its strings, without those of docstrings."""
    words: set[str] = set()
    texts = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        words.update(str(getattr(node, field)) for field in NAME_FIELDS.get(type(node), ()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            words.update(re.findall(r"\w+", node.value))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            words.update(part for alias in node.names for part in alias.name.split("."))
    return words


# Names in other libraries.
FOREIGN_NAMES = {"ignore_index", "infer", "paddleseg.deploy.infer"}
DESCRIBED = re.compile(r"(?:^|[.;] )([a-z_]+(?:, [a-z_]+)*): ")


def test_docstrings_describe_existing_parameters():
    """In a docstring, "name: meaning" after a full stop is about a parameter, an attribute, a field or a key."""
    found = []
    for path in SOURCES:
        for node, text in docstrings(path):
            paragraphs = [re.sub(r"\s+", " ", paragraph).strip() for paragraph in text.split("\n\n")]
            names = {name for part in paragraphs for names in DESCRIBED.findall(part) for name in names.split(", ")}
            if names and not isinstance(node, ast.Module):
                missing = names - words_of_code(tuple(ast.walk(node))) - set(re.findall(r'"(\w+)"', text))
                found += [f"{path.relative_to(ROOT)}:{node.lineno}: {name}" for name in sorted(missing)]
    assert not found


def comments(path: Path) -> list[str]:
    """Return the comments of a file that quote a name."""
    if not re.search(r"#.*`", path.read_text("utf-8")):
        return []
    with path.open("rb") as file:
        return [token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT]


QUOTED_FILES = re.compile(r".*\.(bin|json|jsonl|md|onnx|png|py|sqlite|txt)")


def test_docstrings_and_comments_quote_existing_names():
    """A name in backticks is in the sources: `owner.name` in a file of this name, or in one that has both names."""
    words = {path: words_of_code(nodes(path)).union(path.with_suffix("").parts) for path in SOURCES}
    known = FOREIGN_NAMES.union(*words.values())
    found = []
    for path in SOURCES:
        for text in [*(text for _, text in docstrings(path)), *comments(path)]:
            for quoted in re.findall(r"`([A-Za-z_][\w.]*)`", text):
                owner, _, name = quoted.rpartition(".")
                owner = owner.rpartition(".")[2]
                owned = not owner or any({owner, name} <= names for names in words.values())
                if quoted not in FOREIGN_NAMES and not QUOTED_FILES.fullmatch(quoted):
                    found += [f"{path.relative_to(ROOT)}: {quoted}"] if name not in known or not owned else []
    assert not found


# Import names that differ from the name of the distribution.
IMPORTED_AS = {
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "pyside6-essentials": "PySide6",
    "nvidia-ml-py": "pynvml",
    "paddlepaddle": "paddle",
    "scikit-learn": "sklearn",
    "pyyaml": "yaml",
    "tensorboardx": "tensorboardX",
    "python-multipart": "python_multipart",
    "paho-mqtt": "paho",
}
# Dependencies that no module imports by name: the file and the line that need them.
NEEDED_BY = {
    "httptools": ("workbench/cli/serving/http_server.py", "httptools_impl"),
    "uvloop": ("workbench/cli/serving/http_server.py", "uvloop"),
    "tensorboard": ("workbench/cli/log.py", "tensorboard --logdir"),
    "paddlepaddle-gpu": ("workbench/training/networks.py", r"import paddle"),
    "setuptools": ("pyproject.toml", r"paddle imports it without declaring it"),
    "ml-dtypes": ("workbench/training/export/export_formats.py", r"onnxruntime\.quantization"),
    "pytest-qt": ("pyproject.toml", r"^qt_api ="),
    "pytest-timeout": ("pyproject.toml", r"^timeout ="),
    "pytest-rerunfailures": ("pyproject.toml", r"^addopts = .*--reruns"),
    "pytest-xdist": ("README.md", r"pytest .*-n "),
    "import-linter": ("tests/test_architecture.py", r"from importlinter"),
    "ruff": ("tests/test_architecture.py", r'"-m", "ruff"'),
    "build": ("packaging/build.py", r'"-m", "build"'),
    "pyinstaller": ("packaging/build.py", r"PyInstaller"),
    "cyclonedx-bom": ("packaging/build.py", r"cyclonedx_py"),
    "pip-licenses": ("packaging/build.py", r"piplicenses"),
}

IMPORTS = re.compile(r"""^\s*(?:from|import) (\w+)|(?:import_module|importorskip)\(["'](\w+)""", re.M)


def imported_names(paths: Iterable[Path]) -> set[str]:
    """Return the top-level names that the files import."""
    found = (groups for path in paths for groups in IMPORTS.findall(path.read_text("utf-8")))
    return {name for groups in found for name in groups if name}


def test_every_dependency_is_used():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    requirements = text.partition("\ndependencies = [")[2].partition("[project.scripts]")[0]
    declared = re.findall(r'^\s+"([A-Za-z0-9_.-]+)[^"]*",', requirements, re.M)
    assert len(declared) > 15
    imported = imported_names([*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "packaging").rglob("*.py")])
    unused = []
    for name in sorted({name.lower() for name in declared}):
        if name in NEEDED_BY:
            file, pattern = NEEDED_BY[name]
            used = re.search(pattern, (ROOT / file).read_text("utf-8"), re.M) is not None
        else:
            used = IMPORTED_AS.get(name, name.replace("-", "_")) in imported
        if not used:
            unused.append(name)
    assert not unused


def test_program_imports_no_package_of_its_development():
    """`doctor --gpu`, for example, runs where only the extra `gpu` is installed, without pytest."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    program, development = (
        {name.lower() for name in re.findall(r'^\s+"([A-Za-z0-9_.-]+)', part, re.M)}
        for part in text.split("[project.scripts]")[0].split("\ndev = [")
    )
    assert "pytest" in development
    names = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in development - program}
    assert not names & imported_names(SOURCES)


def public_classes() -> list[tuple[str, str]]:
    """Return (class name, file) of the public classes of the package."""
    return [
        (node.name, str(path.relative_to(ROOT)))
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def repeated(names: list[tuple[str, str]]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for name, place in names:
        places.setdefault(name, []).append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_module_and_class_names_are_unique():
    """A module or a public class is found by its name alone."""
    modules = [(path.stem, str(path.relative_to(ROOT))) for path in SOURCES if not path.stem.startswith("__")]
    assert not repeated(modules)
    assert not repeated(public_classes())


def assigned_attributes(node: ast.AST) -> list[ast.Attribute]:
    """Return the attributes of other objects than `self` that a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [part for part in parts if isinstance(part, ast.Attribute) and dotted_name(part.value) != "self"]


@functools.cache
def assignments(tree: ast.AST) -> list[ast.Assign | ast.AnnAssign]:
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AnnAssign))]


def statements(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield child
            yield from statements(child)


def planted(tree: ast.ClassDef) -> Iterator[ast.AST]:
    """Yield the assignments of a class that give another object what that needs in its own constructor.

    That is any attribute of an argument of `__init__`, except a datum of this object, and a function of this class or
    a lambda on any other object that this class has not created.
    """
    created = {
        dotted_name(target)
        for node in assignments(tree)
        if isinstance(node.value, ast.Call)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    } - {"?"}
    methods = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef)}
    for method in methods.values():
        arguments = [*method.args.args[1:], *method.args.kwonlyargs] if method.name == "__init__" else []
        given = {argument.arg for argument in arguments}
        for node in statements(method):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)):
                continue
            value = node.value
            own = isinstance(value, ast.Attribute) and dotted_name(value.value) == "self" and value.attr in methods
            if own and any(isinstance(mark, ast.Name) for mark in methods[value.attr].decorator_list):
                own = False  # a property
            datum = isinstance(value, ast.Attribute) and dotted_name(value.value) == "self" and not own
            for attribute in assigned_attributes(node):
                owner = dotted_name(attribute.value)
                if (owner in given and not datum) or ((own or isinstance(value, ast.Lambda)) and owner not in created):
                    yield node


def test_objects_get_what_they_need_in_the_constructor():
    """Nothing is planted on another object later, and no attribute waits for its function with a lambda."""
    found = []
    for path in SOURCES:
        for tree in nodes(path):
            if isinstance(tree, ast.ClassDef):
                waiting = [
                    node
                    for node in assignments(tree)
                    if isinstance(node.value, ast.Lambda)
                    if node in tree.body or re.match(r"self\.\w+ ?[:=]", ast.unparse(node))
                ]
                found += [f"{path.relative_to(ROOT)}:{node.lineno}" for node in (*planted(tree), *waiting)]
    assert not found


@pytest.mark.parametrize(
    "code",
    [
        "def __init__(self, panel, x): panel.overrides = x.of",
        "def __init__(self, context): self.context, context.clicks = context, 1",
        "def open(self): self.context.edit_outline = self.open",
        "def open(self): self.timer.end = lambda: 1",
    ],
)
def test_planted_attributes_are_found(code):
    assert list(planted(ast.parse(f"class A:\n    {code}").body[0]))


# Words that name persons, rooms or speech instead of the thing. GLOSSARY.md has the terms to use.
AVOIDED = {
    *("desk", "lane", "errand", "heed", "hear", "heard", "teller", "guest", "guests", "shelf", "sight", "sights"),
    *("say", "says", "said", "saying", "tell", "tells", "told", "telling", "asked", "judge", "judged", "judging"),
    *("rooms", "glance", "wish", "wished", "wishes", "witness", "witnesses", "ear", "whys", "wolf", "vitals"),
    *("stir", "stirred", "doubt", "doubts", "slip", "slips", "mend", "came", "lead", "settle", "settling", "settled"),
    *("look", "looked", "looking", "looks", "sure", "surest", "gently", "wanted", "evidence", "swept", "saver"),
    *("picture", "pictures", "proposing", "proposal", "recipe", "labelled", "labelling", "colour", "colours", "grey"),
}


# Keys of files and of JSON output, which stay as they are.
JSON_KEYS = {"picture", "pictures", "last_pictures", "false_per_picture", "said", "labelled_id"}


def defined_names(path: Path) -> set[str]:
    """Return the names of functions, classes, parameters, variables and attributes that a module defines."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return names


def test_identifiers_use_the_terms_of_the_glossary():
    found = {}
    for path in SOURCES:
        for name in defined_names(path) | {path.stem}:
            words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
            if words & AVOIDED and name not in JSON_KEYS:
                found[f"{path.relative_to(ROOT)}: {name}"] = sorted(words & AVOIDED)
    assert not found


# Names on disk, keys of JSON files and of JSON output, and options: they stay as they are, as ids of messages do.
STORED_IDS = {
    *(
        "picture",
        "pictures",
        "pictures/",
        "recipe",
        "recipe.json",
        "proposals",
        "labelled",
        "labelled_id",
        "not_labelled",
    ),
    *("broken_picture", "every_good_picture", "false_per_good_picture", "false_per_picture", "good_pictures", "looked"),
    *("colour", "grey", "looks.sqlite", "looks.sqlite-shm", "looks.sqlite-wal", "said", "sights", "slips"),
    *("not_labelled", "workbench_network_pictures_total"),
}
# Of the window, where a stored name is an id of nothing else.
SHOWN_FROM_FILES = {"picture", "pictures", "recipe", "broken_picture", "every_good_picture", "false_per_picture"}
STRING_ID = re.compile(r"[a-z][\w./-]*")


def string_ids(path: Path) -> set[str]:
    """Return the string literals of a module that can be ids: no texts, docstrings and translation contexts."""
    left_out = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    for node in nodes(path):
        if isinstance(node, ast.Call) and dotted_name(node.func).split(".")[-1] in ("translate", "QT_TRANSLATE_NOOP"):
            left_out.update(map(id, node.args))
    return {
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out
        if STRING_ID.fullmatch(node.value)
    }


def test_string_ids_use_the_terms_of_the_glossary():
    """Ids of commands, tools, steps, icons, settings and objects of the window, and values of literals."""
    found, stored = {}, set(messages.catalog())
    for path in SOURCES:
        shown = path.is_relative_to(ROOT / "workbench" / "ui")
        for text in string_ids(path) - (SHOWN_FROM_FILES if shown else STORED_IDS) - stored:
            words = set(re.findall(r"[a-z]+", text)) & AVOIDED
            if words or (shown and text == "proposals"):
                found[f"{path.relative_to(ROOT)}: {text}"] = sorted(words)
    names = [path.stem for path in (ROOT / "resources" / "icons").iterdir()]
    assert not {name: words for name in names if (words := set(re.findall(r"[a-z]+", name)) & AVOIDED)}
    style = (ROOT / "resources" / "style.qss").read_text("utf-8")
    assert not set(re.findall(r"#([a-z]+)", style)) & (AVOIDED | {"review", "proposals"})
    assert not found


TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if "benchmarks" not in path.parts)


def test_names_of_tests_use_the_terms_of_the_glossary():
    found = []
    for path in TESTS:
        names = re.findall(r"^ *def (test_\w+)", path.read_text("utf-8"), re.M)
        found += [
            f"{path.relative_to(ROOT)}: {name}"
            for name in [path.stem, *names]
            if name.startswith("test_") and AVOIDED & set(name.lower().split("_"))
        ]
    assert not found


def test_tests_import_no_test_modules():
    """Helpers of several tests are in modules of their own or in conftest.py."""
    imported = re.compile(r"^ *(?:from|import) tests\b.*\b(test_\w+)", re.M)
    found = []
    for path in TESTS:
        names = imported.findall(path.read_text("utf-8"))
        found += [f"{path.relative_to(ROOT)}: {name}" for name in names if name != path.stem]  # in a program it starts
    assert not found


# Names of keys as texts write them. Letters alone are keys only in parentheses or beside "+".
KEY_NAME = re.compile(
    r"\b(Ctrl|Alt|Shift|Meta)\s?\+\s?(?!\{)\S"
    r"|\((?:[A-Z]|F\d{1,2}|Del|Delete|Esc|Escape|Enter|Return|Space|Tab|PgUp|PgDown|Home|End)\)"
    r"|\b(Press|press) (?!\{)([A-Z]\b|F\d|Del\b|Delete\b|Esc\b|Enter\b|Return\b|Space\b|Tab\b|PgUp|PgDown)"
)
# Keys held during a gesture with the mouse, which the command table does not list.
GESTURES = re.compile(r"\b(Shift|Ctrl|Alt) ?\+ ?(right |left |middle )?(drag|click|double-click|wheel|mouse)")


def window_texts(path: Path) -> list[str]:
    """Return the texts that a module translates for the window: tooltips and all others."""
    return [
        part.value
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and dotted_name(node.func).split(".")[-1] in ("tr", "translate", "QT_TRANSLATE_NOOP")
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        ("Undo (Ctrl+Z)", True),
        ("Brush (B)", True),
        ("Press Esc to cancel", True),
        ("Drag. On the image: Shift + right drag", False),
        ("Undo ({key})", False),
        ("Anomaly score", False),
    ],
)
def test_names_of_keys_are_found(text, is_key):
    assert (KEY_NAME.search(GESTURES.sub("", text)) is not None) == is_key


# Keys of lists and tables, which the command table does not have either.
OF_LISTS = re.compile(r"\bPress Enter (on a row )?to open ")


def test_tooltips_take_keys_from_the_command_table():
    """`with_key` and `key_text` quote the key that a command has now, also after the user has changed it."""
    texts, found = 0, []
    for path in SOURCES:
        for text in window_texts(path):
            texts += 1
            if KEY_NAME.search(OF_LISTS.sub("", GESTURES.sub("", text))):
                found.append(f"{path.relative_to(ROOT)}: {text}")
    assert texts > 2000
    assert not found


DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "README.md", "README.zh-CN.md")


def documented_places() -> list[tuple[str, str, str]]:
    """Return (document, file or folder, dotted name or "") of each place that a document quotes in backticks."""
    pattern = r"`([\w./-]+/[\w./-]*\w)(?::([A-Za-z_][\w.]*))?`"
    return [
        (document, path, name)
        for document in DOCUMENTS
        for path, name in re.findall(pattern, (ROOT / document).read_text("utf-8"))
        if path.split("/")[0] in {folder.name for base in (ROOT, ROOT / "workbench") for folder in base.iterdir()}
    ]


def defines(tree: ast.AST, name: str) -> bool:
    """Return True if a module or a class defines a name; "Class.name" is looked up in the class."""
    first, _, rest = name.partition(".")
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == first:
            return not rest or defines(node, rest)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not rest and any(isinstance(target, ast.Name) and target.id == first for target in targets):
            return True
    return False


def test_documents_quote_existing_places():
    places = documented_places()
    assert len(places) > 40
    missing = []
    for document, path, name in places:
        found = [base / path for base in (ROOT, ROOT / "workbench") if (base / path).exists()]
        if not found or (name and not defines(nodes(found[0])[0], name)):
            missing.append(f"{document}: {path}:{name}")
    assert not missing
