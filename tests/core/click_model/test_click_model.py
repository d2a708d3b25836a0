"""Click model: recognition of each interface, exact masks for points, boxes and masks of earlier steps, bad files."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.core.click_model.toy_click_networks import (
    BAR,
    HEIGHT,
    MAKERS,
    MEAN,
    ON_BAR,
    ON_PLATE,
    PLATE,
    REDUCTION,
    SIDE,
    SMALL,
    STD,
    WIDTH,
    _Graph,
    area,
    toy_decoder,
    toy_encoder,
    toy_pair,
    value,
)
from workbench.core.click_model import click_model
from workbench.core.click_model.click_model import (
    ClickCancelled,
    ClickMask,
    ClickModel,
    ImageFrame,
    Prompts,
    frame_for,
    network_input,
)
from workbench.core.click_model.model_interface import OnnxNetwork
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.problems import ClickModelChanged, ClickModelRefused, TooManyPoints
from workbench.core.runs.network_process import NetworkProcess

WHOLE = Rect(0, 0, WIDTH, HEIGHT)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> dict[str, tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("网络 [1]")
    return {kind: toy_pair(folder, kind) for kind in MAKERS}


@pytest.fixture(scope="module")
def model_of(pairs) -> Callable[[str], ClickModel]:
    """Return a function from the kind to its model, whose process is shared by the tests."""
    return functools.cache(lambda kind: ClickModel(*pairs[kind]))


@pytest.fixture
def image() -> np.ndarray:
    image = np.full((HEIGHT, WIDTH), 230, np.uint8)
    image[BAR], image[PLATE] = 30, 150
    return image


def pixels(selection: Selection, shape: tuple[int, int] = (HEIGHT, WIDTH)) -> np.ndarray:
    return selection.within(Rect(0, 0, shape[1], shape[0]))


def segment(
    model: ClickModel, image: np.ndarray, prompts: Prompts, prior=None, window: Rect | None = None
) -> ClickMask:
    window = window or Rect(0, 0, image.shape[1], image.shape[0])
    return model.segment(image, window, prompts, prior, lambda: False)


def click(*points: tuple[float, float], remove: tuple[tuple[float, float], ...] = ()) -> Prompts:
    return Prompts((*((point, True) for point in points), *((point, False) for point in remove)))


# --- masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MAKERS)
def test_masks_of_points_and_boxes_are_exact(kind, model_of, image):
    model = model_of(kind)
    one = segment(model, image, click(ON_BAR))
    assert np.array_equal(pixels(one.selection), area(BAR, kind=kind)) and one.quality == pytest.approx(0.9)
    both = segment(model, image, click(ON_BAR, ON_PLATE), one.prior)
    assert np.array_equal(pixels(both.selection), area(BAR, PLATE, kind=kind))
    removed = segment(model, image, click(ON_BAR, ON_PLATE, remove=(ON_BAR,)), both.prior)
    assert np.array_equal(pixels(removed.selection), area(PLATE, kind=kind))
    boxed = segment(model, image, Prompts(box=Rect(16, 12, 80, 48)))
    assert np.array_equal(pixels(boxed.selection), area(BAR, kind=kind))
    cut = segment(model, image, Prompts(((ON_BAR, True),), Rect(32, 24, 16, 24)))
    assert np.array_equal(pixels(cut.selection), area((slice(24, 48), slice(32, 48)), kind=kind))
    nothing = segment(model, image, click(ON_BAR, remove=(ON_BAR,)))
    assert nothing.selection.empty and not nothing.selection.cut


@pytest.mark.parametrize(
    "kind, name, fit, values, refines",
    [
        ("sam", "Segment Anything", "pad", "normalized", True),
        ("sam_hwc", "Segment Anything", "pad", "255", True),
        ("sam_uint8", "Segment Anything", "pad", "255", True),
        ("edge_sam", "EdgeSAM", "pad", "normalized", False),
        ("efficient_sam", "EfficientSAM", "free", "1", False),
        ("sam2", "Segment Anything 2", "stretch", "normalized", True),
    ],
)
def test_interface_is_recognized(kind, name, fit, values, refines, model_of, image):
    model = model_of(kind)
    found = model.interface
    assert (found.name, found.fit, found.values) == (name, fit, values)
    assert (segment(model, image, click(ON_BAR)).prior is not None) == refines
    assert found.max_points == (6 if kind == "efficient_sam" else None)


def test_mask_of_the_step_before_is_an_input(model_of, image):
    model = model_of("sam")
    plate = segment(model, image, click(ON_PLATE))
    assert plate.prior is not None and plate.prior.shape == (1, 1, SMALL, SMALL)
    refined = segment(model, image, click(ON_BAR), plate.prior)
    assert np.array_equal(pixels(refined.selection), area(BAR, PLATE))
    other_size = segment(model, image, click(ON_BAR), np.ones((1, 1, 8, 8), np.float32))  # is not used
    assert np.array_equal(pixels(other_size.selection), area(BAR))


def test_masks_of_the_image_size_are_used_without_those_of_low_resolution(tmp_path, pairs, image):
    decoder = toy_decoder(tmp_path / "decoder.onnx", "sam", low_res=False)
    model = ClickModel(pairs["sam"][0], decoder)
    found = segment(model, image, click(ON_BAR))
    assert model.interface.masks == "masks"
    assert np.array_equal(pixels(found.selection), area(BAR, kind="efficient_sam"))  # not interpolated
    assert found.prior is None


def test_fixed_number_of_points_is_filled_and_limited(tmp_path, pairs, image):
    model = ClickModel(pairs["sam"][0], toy_decoder(tmp_path / "decoder.onnx", "sam", points=3))
    assert np.array_equal(pixels(segment(model, image, click(ON_BAR)).selection), area(BAR))
    with pytest.raises(TooManyPoints, match="at most 3 points"):
        segment(model, image, Prompts(((ON_BAR, True), (ON_PLATE, True)), Rect(0, 0, 9, 9)))


def test_number_of_points_of_efficient_sam_is_limited(model_of, image):
    model = model_of("efficient_sam")
    assert not segment(model, image, click(*[ON_BAR] * 6)).selection.empty
    with pytest.raises(TooManyPoints, match="at most 6 points"):
        segment(model, image, click(*[ON_BAR] * 7))


@pytest.mark.parametrize("kind", ["uint16", "float32", "color", "nan"])
def test_other_kinds_of_pixels(kind, model_of, image):
    values = {
        "uint16": image.astype(np.uint16) * 16 + 1000,
        "float32": image.astype(np.float32) / 1000,
        "color": np.dstack([image] * 3),
        "nan": image.astype(np.float32),
    }[kind]
    if kind == "nan":
        values[0, 0] = np.nan
    found = segment(model_of("sam"), values, click(ON_BAR))
    assert np.array_equal(pixels(found.selection), area(BAR))


@pytest.mark.parametrize("kind", MAKERS)
def test_window_of_a_large_image(kind, model_of, image):
    large = np.full((1200, 1000), 230, np.uint8)
    window = Rect(500, 700, WIDTH, HEIGHT)
    large[window.slices] = image
    found = segment(model_of(kind), large, click((540.0, 730.0)), window=window)
    expected = np.zeros(large.shape, bool)
    expected[window.slices] = area(BAR, kind=kind)
    assert np.array_equal(pixels(found.selection, large.shape), expected)


@pytest.mark.parametrize("shape", [(1, 1), (1, 3000), (3000, 1), (4000, 3000)])
@pytest.mark.parametrize("kind", ["sam", "sam_hwc", "efficient_sam", "sam2"])
def test_image_sizes(kind, shape, model_of):
    image = np.full(shape, 40, np.uint8)
    found = segment(model_of(kind), image, click((0.5, 0.5)))
    assert found.selection.rect.width * found.selection.rect.height >= min(image.size, 1)
    assert found.selection.rect.common(Rect(0, 0, shape[1], shape[0])) == found.selection.rect


def test_mask_that_is_too_large_is_not_computed(model_of, monkeypatch, image):
    monkeypatch.setattr("workbench.core.click_model.click_model.MAX_SELECTED", 10_000)
    found = segment(model_of("sam"), image, click((5.0, 5.0)))
    assert found.selection.empty and found.selection.cut
    assert not segment(model_of("sam"), image, click(ON_BAR)).selection.empty


# --- frame ---------------------------------------------------------------------------------------


def test_frame_scales_the_longest_side_and_coordinates_exactly(model_of):
    interface = model_of("sam").interface
    frame = frame_for(interface, Rect(10, 20, 150, 101))
    assert (frame.width, frame.height) == (64, 43)  # 101 * 64 / 150 = 43.1
    assert (frame.mask_width, frame.mask_height) == (SIDE, SIDE)
    x, y = frame.to_input((85.0, 70.5))  # the center of the window
    assert (x + 0.5, y + 0.5) == pytest.approx((32, 21.5))
    assert frame.to_input((10.0, 20.0)) == (0, 0)
    stretched = frame_for(model_of("sam2").interface, Rect(0, 0, 150, 101))
    assert (stretched.width, stretched.height) == (SIDE, SIDE)


def test_masks_of_a_low_fixed_input_cover_its_square(model_of):
    """An encoder of 48 x 64 pixels that pads its input to 64 x 64."""
    interface = replace(model_of("sam").interface, sides=(48, SIDE))
    wide, high = (frame_for(interface, Rect(0, 0, *size)) for size in ((200, 100), (100, 200)))
    assert (wide.width, wide.height) == (64, 32) and (high.width, high.height) == (24, 48)
    for frame in (wide, high):
        assert (frame.mask_width, frame.mask_height) == (SIDE, SIDE)


def test_network_input_is_normalized_and_padded(model_of):
    interface = model_of("sam").interface
    image = np.zeros((32, 64, 3), np.uint8)
    image[:, :, 0] = 255
    pixels = network_input(image, interface, frame_for(interface, Rect(0, 0, 64, 32)))
    assert pixels.shape == (1, 3, SIDE, SIDE) and pixels.dtype == np.float32
    assert pixels[0, :, 5, 5] == pytest.approx((np.array([255, 0, 0]) - MEAN) / STD, abs=1e-5)
    assert (pixels[0, :, 32:] == 0).all()
    whole = model_of("sam_uint8").interface
    pixels = network_input(image, whole, frame_for(whole, Rect(0, 0, 64, 32)))
    assert pixels.shape == (1, SIDE, SIDE, 3) and pixels.dtype == np.uint8
    assert pixels[0, 5, 5].tolist() == [255, 0, 0] and pixels[0, 40, 5].tolist() == [124, 116, 104]
    efficient = model_of("efficient_sam").interface
    pixels = network_input(image, efficient, frame_for(efficient, Rect(0, 0, 64, 32)))
    assert pixels.shape == (1, 3, 512, 1024) and pixels.max() == 1


def test_values_of_the_input_can_be_chosen(pairs, image):
    interface = ClickModel(*pairs["sam"], values="255").interface
    pixels = network_input(image, interface, frame_for(interface, WHOLE))
    assert pixels.max() == 230 and pixels.dtype == np.float32


def test_selection_follows_the_interpolated_mask():
    """A mask of 2 x 2 values over 8 x 8 pixels: the border is where the interpolation crosses 0."""
    frame = ImageFrame(Rect(0, 0, 8, 8), 8, 8, 8, 8)
    logits = np.array([[3, -1], [3, -1]], np.float32)  # centers at 2 and 6: 0 is reached at 5
    assert np.array_equal(pixels(frame.selection(logits), (8, 8)), np.repeat([[True] * 5 + [False] * 3], 8, axis=0))


# --- cache ---------------------------------------------------------------------------------------


def test_features_are_computed_once_for_each_image(pairs, image, monkeypatch):
    runs = []
    run = OnnxNetwork.run

    def counted(network, feeds, outputs, cancelled):
        runs.append(network.path)
        return run(network, feeds, outputs, cancelled)

    monkeypatch.setattr(OnnxNetwork, "run", counted)
    model = ClickModel(*pairs["sam"])
    encoder = pairs["sam"][0]
    others = [np.full_like(image, gray) for gray in (10, 60, 110, 160)]
    model.encode(image, WHOLE, lambda: False)
    segment(model, image, click(ON_BAR))
    segment(model, image.copy(), click(ON_BAR))  # read again
    assert runs.count(encoder) == 1
    segment(model, others[0], click(ON_BAR))
    segment(model, image, click(ON_BAR))
    assert runs.count(encoder) == 2
    for other in others[1:]:
        segment(model, other, click(ON_BAR))
    assert runs.count(encoder) == 5 and len(model.embeddings) == click_model.MAX_IMAGES
    segment(model, others[0], click(ON_BAR))  # the oldest was dropped
    assert runs.count(encoder) == 6
    monkeypatch.setattr(click_model, "MAX_FEATURES", 1)
    segment(model, image, click(ON_BAR))
    assert len(model.embeddings) == 1


def test_changed_and_missing_files(tmp_path, image):
    encoder, decoder = toy_pair(tmp_path, "sam")
    model = ClickModel(encoder, decoder)
    model.check_files()
    with decoder.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(ClickModelChanged, match="changed after it was loaded"):
        model.check_files()
    encoder.unlink()
    with pytest.raises(ClickModelRefused, match="the file does not exist"):
        model.check_files()


def test_endless_run_is_ended_from_another_thread(tmp_path, pairs, image, monkeypatch):
    model = ClickModel(toy_encoder(tmp_path / "encoder.onnx", "sam", endless=True), pairs["sam"][1])
    canceled, asked, found, ask = threading.Event(), threading.Event(), [], NetworkProcess.ask

    def asking(process, *values, **options):
        asked.set()
        return ask(process, *values, **options)

    monkeypatch.setattr(NetworkProcess, "ask", asking)

    def work() -> None:
        try:
            segment_with = model.segment(image, WHOLE, click(ON_BAR), None, canceled.is_set)
            found.append(segment_with)
        except ClickCancelled as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert asked.wait(60)
    canceled.set()
    model.terminate()
    thread.join(60)
    assert isinstance(found[0], ClickCancelled)
    with pytest.raises(ClickCancelled):  # before the start
        model.segment(image, WHOLE, click(ON_BAR), None, canceled.is_set)


# --- bad files -----------------------------------------------------------------------------------


def other_network(path: Path, inputs: list, outputs: list) -> Path:
    """Write a network that computes constants of the output shapes."""
    graph = _Graph()
    for output in outputs:
        shape = [dim.dim_value or 1 for dim in output.type.tensor_type.shape.dim]
        graph.name(graph.constant(np.zeros(shape)), output.name)
    return graph.save(path, inputs, outputs)


def refusal(encoder: Path, decoder: Path) -> str:
    with pytest.raises(ClickModelRefused) as caught:
        ClickModel(encoder, decoder)
    assert "Settings > Click model" in str(caught.value)
    return str(caught.value)


def test_files_that_are_no_networks_are_refused(tmp_path, pairs):
    encoder, decoder = pairs["sam"]
    text = tmp_path / "text.onnx"
    text.write_bytes(b"no network")
    empty = tmp_path / "empty.onnx"
    empty.touch()
    assert "ONNX Runtime cannot load it" in refusal(text, decoder)
    assert "ONNX Runtime cannot load it" in refusal(encoder, empty)
    assert "the file does not exist" in refusal(tmp_path / "none.onnx", decoder)
    assert "it is not a regular file" in refusal(encoder, tmp_path)


def test_file_above_the_limit_is_not_read(tmp_path, pairs):
    large = tmp_path / "large.onnx"
    with large.open("wb") as file:
        file.truncate(2**31 + 5)  # sparse
    assert "larger than 2 GB" in refusal(large, pairs["sam"][1])


def test_exchanged_files_are_named(pairs):
    for kind in MAKERS:
        assert "exchange the two" in refusal(*pairs[kind][::-1])


def test_networks_of_another_kind_are_refused_with_what_was_found(tmp_path, pairs):
    encoder, decoder = pairs["sam"]
    feature = value("image_embeddings", [1, 1, SMALL, SMALL])
    gray = other_network(tmp_path / "gray.onnx", [value("image", [1, 1, 64, 64])], [feature])
    assert "one input for an image of 3 channels is expected" in refusal(gray, decoder)
    assert "image (float 1×1×64×64)" in refusal(gray, decoder)
    assert "the decoder" not in refusal(encoder, gray) and "point_coords and point_labels" in refusal(encoder, gray)
    half = other_network(tmp_path / "half.onnx", [value("image", [1, 3, 64, None])], [feature])
    assert "must both be free or at most 4096" in refusal(half, decoder)
    batch = other_network(tmp_path / "batch.onnx", [value("image", [2, 3, 64, 64])], [feature])
    assert "one input for an image" in refusal(batch, decoder)


def test_pair_that_does_not_fit_is_refused(tmp_path, pairs):
    for encoder, decoder in (("sam", "sam2"), ("sam2", "efficient_sam")):
        assert "the decoder needs" in refusal(pairs[encoder][0], pairs[decoder][1])
    image = value("image", [1, 3, 64, 64])
    size = other_network(tmp_path / "size.onnx", [image], [value("image_embeddings", [1, 1, 32, 32])])
    assert "image_embeddings (float 1×1×16×16)" in refusal(size, pairs["sam"][1])
    other_name = other_network(tmp_path / "name.onnx", [image], [value("output", [1, 1, SMALL, SMALL])])
    assert ClickModel(other_name, pairs["sam"][1]).interface.features == {"image_embeddings": "output"}


@pytest.mark.parametrize(
    "points, labels, more, text",
    [
        ([1, None, 3], [1, None], [], "points of 1×N×2"),
        ([1, None, 2], [1, None, 1], [], "points of 1×N×2"),
        ([4, None, 2], [4, None], [], "points of 1×N×2"),
        ([1, None, 2], [1, None], [value("mask_input", [1, 1, 16, 16])], "are expected together"),
        ([1, None, 2], [1, None], [value("orig_im_size", [2], TensorProto.UINT16)], "number type of orig_im_size"),
    ],
)
def test_decoder_with_other_inputs_is_refused(tmp_path, pairs, points, labels, more, text):
    inputs = [
        value("image_embeddings", [1, 1, SMALL, SMALL]),
        value("point_coords", points),
        value("point_labels", labels),
    ]
    decoder = other_network(tmp_path / "decoder.onnx", [*inputs, *more], [value("masks", [1, 1, 4, 4])])
    assert text in refusal(pairs["sam"][0], decoder)


def test_decoder_without_masks_is_refused(tmp_path, pairs):
    inputs = [value("image_embeddings", [1, 1, SMALL, SMALL]), value("point_coords", [1, None, 2])]
    inputs.append(value("point_labels", [1, None]))
    decoder = other_network(tmp_path / "decoder.onnx", inputs, [value("result", [1, 1, 4, 4])])
    assert "output low_res_masks, masks or output_masks" in refusal(pairs["sam"][0], decoder)


@pytest.mark.parametrize(
    "fault, text",
    [
        ("nan", "values that are not finite"),
        ("nan quality", "values that are not finite"),
        ("rank", "the masks have the shape"),
        ("qualities", "computes 3 masks and 2 qualities"),
    ],
)
@pytest.mark.parametrize("kind", ["sam", "efficient_sam"])
def test_faulty_output_is_refused(tmp_path, pairs, image, fault, text, kind):
    model = ClickModel(pairs[kind][0], toy_decoder(tmp_path / "decoder.onnx", kind, fault=fault))
    with pytest.raises(ClickModelRefused, match=text):
        segment(model, image, click(ON_BAR))


def test_features_that_are_not_finite_are_refused(tmp_path, pairs, image):
    model = ClickModel(toy_encoder(tmp_path / "encoder.onnx", "sam", nan=True), pairs["sam"][1])
    with pytest.raises(ClickModelRefused, match="not finite"):
        segment(model, image, click(ON_BAR))


def test_network_that_cannot_be_computed_is_refused(tmp_path, pairs, image):
    """The encoder has free sizes, and its features are of another size than the decoder needs."""
    network = onnx.load(str(pairs["edge_sam"][0]))
    for tensor in (network.graph.input[0], network.graph.output[0]):
        for side in (2, 3):
            tensor.type.tensor_type.shape.dim[side].dim_param = f"{tensor.name}{side}"
    onnx.save(network, str(tmp_path / "encoder.onnx"))
    model = ClickModel(tmp_path / "encoder.onnx", pairs["edge_sam"][1])
    assert model.interface.sides == (1024, 1024) and not model.interface.fixed
    with pytest.raises(ClickModelRefused, match="cannot be computed for this image or these points"):
        segment(model, image, click(ON_BAR))


def test_weights_in_a_second_file_are_found(tmp_path, pairs, image):
    network = onnx.load(str(pairs["sam"][0]))
    path = tmp_path / "外部" / "encoder.onnx"
    path.parent.mkdir()
    onnx.save(network, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert (path.parent / "weights.bin").exists()
    found = segment(ClickModel(path, pairs["sam"][1]), image, click(ON_BAR))
    assert np.array_equal(pixels(found.selection), area(BAR))
    (path.parent / "weights.bin").unlink()
    assert "ONNX Runtime cannot load it" in refusal(path, pairs["sam"][1])


def test_reduction_of_the_toy_networks():
    assert SIDE == SMALL * REDUCTION
