"""Access to trained models by name: runs, and exports, which are checked before use; a model for other programs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.core.images import image_files
from workbench.core.problems import ExportDamaged, ImageBroken, ModelUnusable, Problem, UnknownModel
from workbench.core.project.project_json import created_here
from workbench.core.runs.network_process import ChildNetwork, NetworkCancelled
from workbench.core.runs.onnx_files import NetworkRefused
from workbench.core.runs.run import IN_USE, Run, find_run
from workbench.inference.batch.export_package import self_test, verify_checks
from workbench.inference.engines import EngineError, choose_engine
from workbench.inference.engines.feature_engine import Outputs
from workbench.inference.engines.registry import FEATURES
from workbench.inference.io.image_io import ReadError
from workbench.inference.io.json_io import JsonError, parse_json
from workbench.inference.model_settings import (
    MODEL_FILE,
    EngineOptions,
    SettingsError,
    load_settings,
    settings_from_json,
)
from workbench.inference.predictor import Prediction, PredictionCancelled, Predictor


def model_folder(name: Path | str, project_root: Path | None = None) -> Path:
    """Return the folder with model.json of an export, or of a run's best weights.

    name: the path of an export, of a run, or of a project, whose model in use it is; or with `project_root` a name for
    `find_run`. Raises UnknownModel, UnknownRun, RunUnusable.
    """
    path = Path(name)
    if project_root is not None and not path.exists():
        return _of_run(find_run(project_root.absolute(), str(name)))
    if (path / "recipe.json").exists():
        return _of_run(Run(path))
    if (path / "project.json").exists():
        return _of_run(find_run(path.absolute(), IN_USE))
    if not (path / MODEL_FILE).exists():
        raise UnknownModel(path=str(name))
    return path


def _of_run(run: Run) -> Path:
    run.need_usable()
    return run.best


def open_network(path: Path, threads: int | None = None) -> Predictor:
    """Open the ONNX file of a run or an export, also a copy of it without its folder.

    The settings are those in model.json beside the file, else those in its metadata. Raises the errors of `open_model`,
    and UnknownModel for a file without settings and for a self-contained model, which needs no predictor.
    """
    engine = _listed_engine(path)
    if engine is not None:
        return open_model(path.parent, threads, engine)
    from workbench.inference.engines.onnx_engine import OnnxEngine  # imports ONNX Runtime

    try:
        network = OnnxEngine(path, EngineOptions(threads=threads or 0))
    except Exception as error:  # ONNX Runtime raises various exceptions for a damaged file
        raise UnknownModel(path=str(path)) from error
    if "settings" not in network.metadata or "input" in network.metadata:
        raise UnknownModel(path=str(path))
    try:
        return Predictor(settings_from_json(parse_json(network.metadata["settings"])), network)
    except JsonError as error:
        raise UnknownModel(path=str(path)) from error


def _listed_engine(path: Path) -> str | None:
    """Return the engine for which model.json in the folder of a network lists it; None if it does not."""
    try:
        files = load_settings(path.parent / MODEL_FILE).files
    except SettingsError:
        return None
    return next((engine for engine, name in files.items() if name == path.name), None)


def open_model(folder: Path, threads: int | None = None, engine: str = "auto") -> Predictor:
    """Open the model in a folder with model.json.

    An export is checked first: its files against their checksums, and its quick self-test. Raises ExportDamaged,
    SettingsError, EngineError.
    """
    is_export = (folder / "predict.py").exists()
    wrong = verify_checks(folder) if is_export else []
    predictor = None
    if not wrong:
        predictor = open_predictor(folder, threads, engine)
        wrong = self_test(folder, predictor, quick=True) if is_export else []
    if wrong or predictor is None:
        raise ExportDamaged(why=wrong[0])
    return predictor


def open_predictor(
    folder: Path, threads: int | None = None, engine: str = "auto", *, arena: bool | None = None
) -> Predictor:
    """Open a model, without a check of an export.

    The network of an adopted run, or of a run in a project that was not created here, gets a process of its own.

    arena: whether ONNX Runtime keeps the memory between predictions, None for the model's setting. Raises
    SettingsError, EngineError.
    """
    settings = load_settings(folder / MODEL_FILE)
    run = Run(folder.parent)
    if folder == run.best and run.settings_path.exists() and (run.adopted or not created_here(run.project_root)):
        network = settings.files.get("onnx")
        if network is None:
            raise EngineError("This model names no network.")
        return Predictor(settings, ContainedEngine(folder / network, threads or 0))
    if arena is not None:
        own = {name: settings.engines.get(name, EngineOptions(threads=settings.threads)) for name in settings.files}
        changed = replace(settings, engines={name: replace(tuning, arena=arena) for name, tuning in own.items()})
    else:
        changed = settings
    return Predictor(settings, choose_engine(engine, folder, changed, threads))


class ContainedEngine:
    """Engine for the network of somebody else, in a child process with limits of time and memory.

    Threads that share it wait for each other. Raises EngineError with a sentence.
    """

    name = "onnx"

    def __init__(self, path: Path, threads: int = 0) -> None:
        self._lock = threading.Lock()
        self._cancelled: Callable[[], bool] = _never
        try:
            self._network = ChildNetwork(path, threads=threads, gpu=True)  # loaded at the first run, which can be ended
        except NetworkRefused as refusal:
            raise _engine_error(path, refusal) from refusal

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return self.run_until(batch, _never)

    def run_until(self, batch: np.ndarray, cancelled: Callable[[], bool]) -> np.ndarray:
        """Return the first output, see `inference.predictor.Engine`. Raises PredictionCancelled."""
        self._cancelled = cancelled
        return self._outputs(batch, lambda names: names[:1])[0]

    def with_features(self, batch: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Outputs:
        """Return the output and the features, see `FeatureEngine`. Raises PredictionCancelled."""
        self._cancelled = cancelled or _never
        output, *features = self._outputs(batch, lambda names: names[:1] + [n for n in names[1:] if n == FEATURES])
        return output, features[0] if features else None

    def maps(self, batch: np.ndarray) -> np.ndarray | None:
        """Return the maps, see `OnnxEngine.maps`; canceled as the prediction before it."""
        return next(iter(self._outputs(batch, lambda names: [n for n in names[1:] if n != FEATURES][:1])), None)

    def _outputs(self, batch: np.ndarray, choose: Callable[[list[str]], list[str]]) -> list[np.ndarray]:
        """Return the outputs that `choose` names among those of the network."""
        with self._lock:
            network, cancelled = self._network, self._cancelled
            try:
                if not network.inputs:
                    network.load(cancelled)
                names = choose(list(network.outputs))
                return network.run({next(iter(network.inputs)): batch}, names, cancelled) if names else []
            except NetworkCancelled as error:
                raise PredictionCancelled from error
            except NetworkRefused as refusal:
                raise _engine_error(network.path, refusal) from refusal


def _never() -> bool:
    return False


def _engine_error(path: Path, refusal: NetworkRefused) -> EngineError:
    return EngineError(f"The network {path} cannot be used: {refusal.why}.")


# --- models for other programs --------------------------------------------------------------------


class UnusableArray(Problem):
    message = "An array of shape {shape} and type {dtype} cannot be predicted."
    advice = "Pass (H, W) gray or (H, W, 3) RGB values of type uint8 or uint16, or of type float32 from 0 to 1."


class LoadedModel:
    """Model ready for prediction, in any thread. path: of its folder or file. settings: a `ModelSettings`."""

    def __init__(self, path: Path, predictor: Predictor) -> None:
        self.path, self.settings = path, predictor.settings
        self._predictor = predictor

    def __repr__(self) -> str:
        return f"<LoadedModel {self.settings.name!r} from {str(self.path)!r}>"

    def predict(
        self, image: np.ndarray | Path | str, *, name: str = "", keep_probabilities: bool = False
    ) -> Prediction:
        """Return the prediction for an image file, or an image as stored, (H, W) or (H, W, 3) RGB; uint8, uint16 or
        float32 (0..1).

        A segmentation gives mask, uint8 (H, W) class ids; scores; regions, each with class, box, area and score; and a
        verdict by the rule of the model. A classification gives verdict and probabilities. keep_probabilities: include
        class_scores, uint8 (classes, H, W). name: of the image with its folders and `/`, by which its inspection area
        is chosen. Raises ImageBroken, UnusableArray, ModelUnusable.
        """
        if isinstance(image, (Path, str)):
            image = image_files.read(Path(image))
        supported = image.dtype in (np.uint8, np.uint16, np.float32)
        if not supported or 0 in image.shape or not (image.ndim == 2 or image.ndim == 3 and image.shape[2] == 3):
            raise UnusableArray(shape=image.shape, dtype=image.dtype)
        with as_problems(self.path):
            return self._predictor.predict(image, name=name, keep_probabilities=keep_probabilities)


def load_model(model: Run | Path | str, project_root: Path | None, threads: int | None) -> LoadedModel:
    """Load the model of a run, a folder or an ONNX file. project_root: for a name of `find_run`; threads: 0 for all.

    Raises UnknownModel, UnknownRun, RunUnusable, ExportDamaged, ModelUnusable.
    """
    path = model.root if isinstance(model, Run) else Path(model)
    with as_problems(path):
        if path.suffix.lower() == ".onnx":
            return LoadedModel(path, open_network(path, threads))
        folder = model_folder(path, project_root)
        return LoadedModel(folder, open_model(folder, threads))


@contextmanager
def as_problems(path: Path) -> Iterator[None]:
    """Context in which errors of engines and files are raised as problems. path: of the model."""
    try:
        yield
    except (SettingsError, EngineError) as error:
        raise ModelUnusable(path=str(path), why=str(error)) from error
    except ReadError as error:
        raise ImageBroken(path=str(error.path), why=error.why) from error
