"""Number of file operations for each image: a network folder needs milliseconds for each of them."""

from __future__ import annotations

import contextlib
import sys

import pytest

from tests.conftest import fill_project
from tests.file_operations import counted
from workbench.core.project.image_row import ImageIndex
from workbench.core.project.project import Grouping
from workbench.core.project.storage import leads_outside
from workbench.core.project_check import check
from workbench.core.project_statistics import project_statistics

COUNT, FIXED = 40, 60  # images, operations that do not depend on their number
# Operations for each opened file. Windows is asked about it before it is opened: opening a device could block.
EACH = 2 if sys.platform == "win32" else 1


def test_statistics_and_the_first_list_open_each_file_once(project):
    keys = fill_project(project, COUNT)
    project.file.grouping = Grouping(rule="each")  # another one looks at the pixels, too
    with counted(project.root) as found:
        assert project_statistics(project).images == COUNT
    assert found.total() <= 3 * EACH * COUNT + FIXED
    with counted(project.root) as found, contextlib.closing(ImageIndex(project)) as index:
        assert len(list(index.refresh(keys))) == COUNT
    assert found.total() <= 3 * EACH * COUNT + FIXED
    with counted(project.root) as found, contextlib.closing(ImageIndex(project)) as index:
        assert not list(index.refresh(keys))
    assert found.total() <= FIXED


def test_check_opens_each_file_once_and_the_image_for_its_resemblance(project):
    fill_project(project, COUNT)
    project.file.grouping = Grouping(rule="each")
    with counted(project.root) as found:
        check(project)
    assert found.total() <= 4 * EACH * COUNT + FIXED


@pytest.mark.skipif(sys.platform == "win32", reason="making links needs rights there")
def test_folder_that_becomes_a_link_is_refused_at_once(project, tmp_path):
    folder, outside = project.root / "masks" / "lot", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    assert not leads_outside(project.root, folder)
    folder.rmdir()
    folder.symlink_to(outside, target_is_directory=True)
    assert leads_outside(project.root, folder)
