"""Table of the classes in the evaluation: claimed width."""

from __future__ import annotations

from workbench.ui.evaluation.evaluation_tables import ClassTable


def test_names_of_classes_are_not_cut_beside_the_plot(qtbot):
    table = ClassTable()
    qtbot.addWidget(table)
    table._set_columns(["recall", "recall_right_class", "false_alarms", "dice", "iou"], 14)
    for name in ("pit", "a longer scratch"):
        table._add_texts([name, "5 of 5", "57–100%", "0", "0.76", "0.62"], "#ff0000")
    table._add_texts(["75,000 µm² and more, which may be cut", "7 of 7", "65–100%", "", "", ""])
    table._claim_width(2)
    table.resize(100, 200)
    table.show()
    assert table.width() < 640
    assert table.columnWidth(0) >= table.sizeHintForIndex(table.model().index(1, 0)).width()
    assert table.horizontalScrollBar().maximum() == 0
