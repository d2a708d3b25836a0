"""Input images of a command, and distinct names of their results."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePath

import pytest
from hypothesis import given, strategies as st

from workbench.core.project.sources import Source
from workbench.inference.batch.input_paths import InputSource, OutputNames, collect_images, output_names


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def relative(sources: list[InputSource]) -> list[str]:
    return [source.relative.as_posix() for source in sources]


def test_folders_are_searched_below_and_hidden_files_and_results_are_not(tmp_path):
    touch(tmp_path, "b/2.JPG", "a.png", "b/1.tif", "notes.txt", ".hidden.png", ".git/x.png", "results/masks/a.png")
    sources, skipped = collect_images([tmp_path], leave_out=tmp_path / "results")
    assert relative(sources) == ["a.png", "b/1.tif", "b/2.JPG"] and skipped == []


def test_patterns_files_and_folders_in_the_order_given_each_file_once(tmp_path):
    touch(tmp_path, "lot1/a.png", "lot1/b.txt", "lot2/a.png", "lot2/deep/c.bmp", "odd.ending")
    names = [tmp_path / "odd.ending", f"{tmp_path}/lot*/*.png", f"{tmp_path}/lot2*", tmp_path / "lot1" / "a.png"]
    sources, skipped = collect_images(names)
    assert relative(sources) == ["odd.ending", "lot1/a.png", "lot2/a.png", "lot2/deep/c.bmp"]
    assert skipped == []


def test_images_are_in_the_natural_order_of_the_image_list(tmp_path):
    names = ["b/x.png", "lot-2/308130.png", "lot-2/36280.png", "lot-10/7.png", "B.png", "part10.png", "part9.png"]
    touch(tmp_path / "pictures", *names)
    ordered = Source().images(tmp_path)
    assert ordered.index("lot-2/36280.png") < ordered.index("lot-2/308130.png") < ordered.index("lot-10/7.png")
    assert relative(collect_images([tmp_path / "pictures"])[0]) == ordered
    found = relative(collect_images([f"{tmp_path}/pic*/lot-*"])[0])
    assert [name.partition("/")[2] for name in found] == ["lot-2/36280.png", "lot-2/308130.png", "lot-10/7.png"]
    assert relative(collect_images([f"{tmp_path}/pictures/part*.png"])[0]) == ["part9.png", "part10.png"]


def test_brackets_in_a_name_are_no_pattern(tmp_path):
    touch(tmp_path, "a[1].png", "a1.png")
    assert relative(collect_images([tmp_path / "a[1].png"])[0]) == ["a[1].png"]
    assert relative(collect_images([f"{tmp_path}/a[0-9].png"])[0]) == ["a1.png"]


def test_names_without_images_have_a_reason(tmp_path):
    (tmp_path / "empty").mkdir()
    sources, skipped = collect_images([tmp_path / "none.png", tmp_path / "empty", f"{tmp_path}/*.png"])
    assert sources == []
    assert [entry.why for entry in skipped] == [
        "there is no such file",
        "there are no images in this folder",
        "no image matches this pattern",
    ]


def source(root: str, below: str) -> InputSource:
    return InputSource(Path(root, below), Path(root), PurePath(below))


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([("/x", "a.png"), ("/x", "b/a.png")], ["a", "b/a"]),
        ([("/x", "a.png"), ("/x", "a.jpg"), ("/x", "b.png")], ["a.png", "a.jpg", "b"]),
        ([("/x", "A.png"), ("/x", "a.jpg")], ["A.png", "a.jpg"]),
        ([("/x", "a.png"), ("/y", "a.png")], ["x/a.png", "y/a.png"]),
        ([("/p/x", "a.png"), ("/q/x", "a.png"), ("/r/x", "a.png")], ["x/a.png", "x/a.png~2", "x/a.png~3"]),
        ([("/x", "a.png"), ("/x", "a.png.tif")], ["a", "a.png"]),
        ([("/x", "a.jpg"), ("/x", "a.png/b.png")], ["a.jpg", "a.png/b"]),
        ([("/x", "a.b.png")], ["a.b"]),
        ([("/x", "../../etc/a.png")], ["etc/a"]),
    ],
)
def test_names_are_short_and_different(sources, expected):
    assert output_names([source(*entry) for entry in sources]) == expected


parts = st.sampled_from(["a", "A", "b", "a.png", "a.jpg", "é", "e\u0301", "a.png~2"])
entries = st.tuples(
    st.sampled_from(["/x", "/y/x", "/z"]),
    st.lists(parts, max_size=2),
    st.sampled_from(["a.png", "a.jpg", "A.PNG", "b", "a.png.png", "a.png~2", "..png"]),
)


@given(st.lists(entries, max_size=12))
def test_no_two_results_share_a_file_or_need_a_file_to_be_a_folder(chosen):
    files = [f"{name}.png".casefold() for name in output_names([source(r, "/".join([*f, n])) for r, f, n in chosen])]
    assert len(set(files)) == len(files)
    folders = {str(folder) for file in files for folder in PurePath(file).parents}
    assert not folders & set(files)
    assert not any(".." in PurePath(file).parts or PurePath(file).is_absolute() for file in files)


@given(st.lists(entries, max_size=12))
def test_names_requested_one_after_another_can_all_be_written(listed):
    """Each name is requested after the results of the earlier ones were written as files and folders."""
    with tempfile.TemporaryDirectory() as place:
        names = OutputNames()
        for root, folders, file in listed:
            name = names.reserve(source(root, "/".join([*folders, file])))
            path = Path(place, f"{name.casefold()}.png")
            assert not path.exists() and not names.is_free(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(exist_ok=False)


def test_a_requested_name_is_used_if_possible():
    names = OutputNames()
    assert names.reserve(source("/x", "a.png"), "a") == "a"
    assert names.reserve(source("/x", "a.jpg"), "a") == "a.jpg"
    assert names.reserve(source("/y", "a.png")) == "a.png"
    assert names.reserve(source("/z", "a.png/b.png")) == "z/a.png/b.png"  # a.png is a file already
