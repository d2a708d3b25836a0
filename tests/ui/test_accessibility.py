"""Names, mnemonics and tab order of every widget of the main window and of all dialogs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QMenu, QWidget

import workbench.ui
from tests.session.mask_run import make_mask_project
from tests.ui.accessibility import conflicts, focusable, jumps_back, menu_conflicts, name_of, nameless, tab_order
from workbench.core.problems import UntrustedPlaces
from workbench.core.runs.export_options import ExportOptions
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.session.error_log import ErrorReport
from workbench.session.preferences import Preferences
from workbench.ui.actions.shortcut_changes import ShortcutsDialog
from workbench.ui.check.check_dialog import CheckDialog, ReportDialog
from workbench.ui.check.statistics_dialog import PartRuleDialog, StatisticsDialog
from workbench.ui.dialogs.preferences_dialog import PreferencesDialog
from workbench.ui.evaluation.comparison_dialog import ComparisonDialog
from workbench.ui.evaluation.drift_dialog import DriftDialog
from workbench.ui.evaluation.part_dialogs import GaugeDialog, PartPlanDialog
from workbench.ui.help.guide_window import GuideWindow
from workbench.ui.images.inbox_dialog import InboxDialog
from workbench.ui.images.moving_area_dialog import MovingAreaDialog
from workbench.ui.label_files.label_file_dialogs import ImportDialog, LabelExportDialog
from workbench.ui.labels.class_merge_card import ClassMergeDialog
from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
from workbench.ui.project.help_dialogs import AboutDialog, GpuCheckDialog
from workbench.ui.project.new_project_dialog import NewProjectDialog, QuickProjectDialog
from workbench.ui.project.transfer_dialogs import MergeDialog, PackDialog, SourcesDialog, UnpackDialog
from workbench.ui.shell.notifications import ErrorDetails
from workbench.ui.text.run_texts import model_names
from workbench.ui.training.model_dialogs import AdoptionDialog, ExportOptionsDialog, ExportReport
from workbench.ui.training.settings_dialog import TrainingSettingsDialog
from workbench.ui.widgets.dialogs import Answer, JobDialog, Question, SourceQuestion, Waiting

ABSTRACT = {JobDialog, ReportDialog}


@pytest.fixture
def window(application, tmp_path, qtbot):
    """Window with a project that has a run."""
    run = make_mask_project(tmp_path / "project")
    session = application.services.session
    with qtbot.waitSignal(session.current.opened, timeout=20_000):
        session.open_project(run.project_root)
    qtbot.waitUntil(lambda: bool(application.services.run_list.lines), timeout=20_000)
    return application.window


def factories(application, folder: Path) -> dict[type[QDialog], Callable[[], QDialog]]:
    """Return a function for each dialog of the application."""
    window, services, style = application.window, application.services, application.style
    session = services.session

    def shown(make: Callable[[], object], kind: type[QDialog]) -> QDialog:
        make()
        return window.findChild(kind)

    def moving_area() -> QDialog:
        session.areas.use((InspectionArea(96, 80, (AreaPolygon(((5, 5), (60, 5), (60, 60))),)),))
        return MovingAreaDialog(session, window)

    reports, answers = window.report_commands, [Answer("save", "Save", "primary"), Answer("no", "Discard")]
    result = {"path": str(folder), "formats": ["onnx"], "parity": {"onnx": {"passed": True, "pictures": 1}}}
    return {
        ShortcutsDialog: lambda: ShortcutsDialog(window.table, window),
        CheckDialog: lambda: shown(reports.check, CheckDialog),
        PartRuleDialog: lambda: PartRuleDialog(session, window),
        StatisticsDialog: lambda: shown(reports.statistics, StatisticsDialog),
        ComparisonDialog: lambda: ComparisonDialog(services, style, window.evaluation.reports, window),
        PartPlanDialog: lambda: PartPlanDialog(session, window),
        GaugeDialog: lambda: GaugeDialog(session, window.evaluation.reports, window),
        GuideWindow: lambda: GuideWindow(style, window),
        LabelExportDialog: lambda: LabelExportDialog(session, window),
        ImportDialog: lambda: ImportDialog(session, style, parent=window),
        ClassMergeDialog: lambda: ClassMergeDialog(session, session.project.classes[0], merge=True, parent=window),
        PredictFolderDialog: lambda: PredictFolderDialog(model_names(services.run_list), window),
        GpuCheckDialog: lambda: GpuCheckDialog(window),
        MergeDialog: lambda: MergeDialog(session, window),
        NewProjectDialog: lambda: NewProjectDialog(folder, window),
        PackDialog: lambda: PackDialog(session, services.packing, folder / "p.zip", window),
        UnpackDialog: lambda: UnpackDialog(services.packing, None, folder, window),
        QuickProjectDialog: lambda: QuickProjectDialog(folder, folder, window),
        PreferencesDialog: lambda: shown(window.table["settings"].trigger, PreferencesDialog),
        AboutDialog: lambda: AboutDialog(window),
        SourcesDialog: lambda: SourcesDialog(session, window),
        DriftDialog: lambda: DriftDialog(Preferences(), style, window),
        InboxDialog: lambda: InboxDialog(session, Preferences(), window),
        MovingAreaDialog: moving_area,
        ErrorDetails: lambda: ErrorDetails(ErrorReport("text", "details"), folder, lambda path: None, window),
        AdoptionDialog: lambda: AdoptionDialog(session, services.adoption, window),
        ExportOptionsDialog: lambda: ExportOptionsDialog("unet", ExportOptions(), window),
        ExportReport: lambda: ExportReport(result, lambda path: None, window),
        TrainingSettingsDialog: lambda: shown(window.training_settings.open, TrainingSettingsDialog),
        Question: lambda: Question("Title", "Text", [], answers, window),
        SourceQuestion: lambda: SourceQuestion(UntrustedPlaces(path="p", id="i", places="/a"), lambda: None, window),
        Waiting: lambda: Waiting("Title", "Text", window, cancel="Cancel"),
    }


def dialog_classes() -> set[type[QDialog]]:
    for module in pkgutil.walk_packages(workbench.ui.__path__, "workbench.ui."):
        importlib.import_module(module.name)
    found: set[type[QDialog]] = set()
    pending = list(QDialog.__subclasses__())
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if kind.__module__.startswith("workbench.ui"):
            found.add(kind)
    return found - ABSTRACT


def test_every_dialog_is_named_and_usable_by_keyboard(window, application, tmp_path, qtbot):
    made = factories(application, tmp_path)
    assert made.keys() == dialog_classes()  # a new dialog gets a row in the table
    faults = {}
    for kind, make in made.items():
        dialog = make()
        dialog.setModal(False)
        dialog.show()
        qtbot.wait(1)  # not QTest.qWait: it holds the interpreter, for which a closed dialog's tasks wait
        found = [f"no name: {text}" for text in nameless(dialog)]
        found += [f"two widgets for Alt+{text}" for text in conflicts(dialog)]
        found += [f"tab order: {text}" for text in jumps_back(dialog)]
        if not dialog.windowTitle():
            found.append("no title")
        if not tab_order(dialog) and kind not in (Waiting, GpuCheckDialog):  # their buttons follow
            found.append("nothing takes the focus")
        if found:
            faults[kind.__name__] = found
        dialog.close()
    assert not faults, "\n".join(f"{name}: {found}" for name, found in faults.items())


def test_every_widget_of_the_window_has_a_name_and_a_role(window):
    assert nameless(window) == []
    generic = [
        name_of(widget)
        for widget in focusable(window)
        if QAccessible.queryAccessibleInterface(widget).role() == QAccessible.Role.NoRole
    ]
    assert generic == []
    assert len(list(focusable(window))) > 80


def test_mnemonics_of_the_menus_are_unambiguous(window):
    menus = window.menuBar().findChildren(QMenu)  # those of `QAction.menu` are deleted at once in PySide 6.9
    assert len(menus) > 7
    assert [conflict for menu in menus for conflict in menu_conflicts(menu)] == []
    assert menu_conflicts_of_titles(window) == []


def menu_conflicts_of_titles(window: QWidget) -> list[str]:
    letters = [action.text()[action.text().index("&") + 1].lower() for action in window.menuBar().actions()]
    return [letter for letter in set(letters) if letters.count(letter) > 1]


def test_tab_order_of_the_window_follows_the_layout(window, application, qtbot):
    assert jumps_back(window.workspace) == []  # messages lie over the workspace
    names = [name_of(widget) for widget in tab_order(window)]
    tools = next(number for number, name in enumerate(names) if name.startswith("Brush:"))
    canvas, classes = names.index("Image"), names.index("Classes")
    assert tools < canvas < classes
    evaluation = application.services.evaluation
    window.table["evaluation"].trigger()
    qtbot.waitUntil(lambda: evaluation.evaluation is not None, timeout=20_000)
    assert jumps_back(window.workspace) == [] and nameless(window.evaluation) == []


def test_tab_key_reaches_every_widget_of_the_evaluation(window, application, qtbot):
    evaluation = application.services.evaluation
    window.table["evaluation"].trigger()
    qtbot.waitUntil(lambda: evaluation.evaluation is not None, timeout=20_000)
    page, reached = window.evaluation, set()
    next(widget for widget in tab_order(window) if page.isAncestorOf(widget)).setFocus()
    for _ in range(40):
        widget = window.focusWidget()
        reached.add(widget)
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    missing = [name_of(widget) for widget in tab_order(window) if page.isAncestorOf(widget) and widget not in reached]
    assert missing == []
