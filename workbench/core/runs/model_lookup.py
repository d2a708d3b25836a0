"""Access to trained models by name: runs, and exports, which are checked before use."""

from __future__ import annotations

from pathlib import Path

from workbench.core.problems import ExportDamaged, UnknownModel
from workbench.core.runs.run import Run, find_run
from workbench.inference.batch.checksums import verify_checks
from workbench.inference.batch.reference_results import self_test
from workbench.inference.model_settings import MODEL_FILE
from workbench.inference.predictor import Predictor


def model_folder(name: Path | str, project_root: Path | None = None) -> Path:
    """Return the folder with model.json of an export, or of a run's best weights.

    name: the path of an export, of a run, or of a project, whose best run is used; or with `project_root` a name for
    `find_run`. Raises UnknownModel, UnknownRun, RunUnusable.
    """
    path = Path(name)
    if project_root is not None and not path.exists():
        return _of_run(find_run(project_root.absolute(), str(name)))
    if (path / "recipe.json").exists():
        return _of_run(Run(path))
    if (path / "project.json").exists():
        return _of_run(find_run(path.absolute(), "best"))
    if not (path / MODEL_FILE).exists():
        raise UnknownModel(path=str(name))
    return path


def _of_run(run: Run) -> Path:
    run.need_usable()
    return run.best


def open_model(folder: Path, threads: int | None = None, engine: str = "auto") -> Predictor:
    """Open the model in a folder with model.json.

    An export is checked first: its files against their checksums, and its quick self-test. Raises ExportDamaged,
    SettingsError, EngineError.
    """
    is_export = (folder / "predict.py").exists()
    wrong = verify_checks(folder) if is_export else []
    predictor = None
    if not wrong:
        predictor = Predictor.open(folder, engine=engine, threads=threads)
        wrong = self_test(folder, predictor, quick=True) if is_export else []
    if wrong or predictor is None:
        raise ExportDamaged(why=wrong[0])
    return predictor
