"""Responses of the server: every form, and every reason for a refusal."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from dataclasses import fields, replace

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from starlette.exceptions import HTTPException

from tests.cli.serving.conftest import png
from tests.inference.conftest import BRIGHT, DARK, spotted
from workbench.cli.serving import request_handler
from workbench.cli.serving.http_app import description, read_resource
from workbench.cli.serving.responses import WIDTH, Counters, choose_form
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.io.image_io import decode_image
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.overlay_drawing import overlay
from workbench.inference.region_table import RegionLimit
from workbench.inference.regions import Region
from workbench.inference.verdict_rule import VerdictRule

IMAGE = spotted(np.random.default_rng(8), 120, 170)


def test_json_holds_regions_in_pixels_and_micrometers(served, gray_export):
    one = served(gray_export)
    answer = one.predict(png(IMAGE))
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    found, expected = answer.json(), one.predictor.predict(IMAGE).to_json()
    assert found["size"] == {"width": 170, "height": 120}
    assert (found["model"], found["run"], found["um_per_pixel"]) == ("spots", "2024-unet", 2.5)
    assert found["verdict"] is None and found["probabilities"] is None and found["milliseconds"] > 0
    assert len(found["regions"]) == len(expected["regions"]) > 2
    for region, requested in zip(found["regions"], expected["regions"]):
        assert region == requested and region["area_um2"] == requested["area"] * 6.25
        assert (region["width_um"], region["height_um"]) == (requested["width"] * 2.5, requested["height"] * 2.5)


def test_the_name_of_an_image_decides_about_its_inspection_area(served, gray_export):
    settings = load_settings(gray_export / "model.json")
    area = InspectionArea(100, 100, (AreaPolygon(((0, 0), (1, 0), (0, 1))),), "lot1")
    save_settings(replace(settings, areas=(area,)), gray_export / "model.json")
    one = served(gray_export)
    found = [one.predict(png(IMAGE), params={"name": f"{lot}/a.png"}).json()["regions"] for lot in ("lot1", "lot2")]
    assert found[0] == [] and found[1] and one.predict(png(IMAGE)).json()["regions"] == found[1]


def test_a_black_image_is_unsure_with_the_reason(served, limited_export):
    found = served(limited_export).predict(png(IMAGE * 0)).json()
    assert found["verdict"] == "unsure" and found["input"] == {"ok": False, "why": ["every pixel has the value 0"]}
    assert served(limited_export).predict(png(IMAGE)).json()["input"]["ok"]


def schema_of(name):
    return {**description(with_token=False), "$ref": f"#/components/schemas/{name}"}


def test_description_names_every_field(served, gray_export):
    forms = description(with_token=True)["components"]["schemas"]
    assert set(forms["RegionResponse"]["properties"]) == {field.name for field in fields(Region)}
    found = served(gray_export).predict(png(IMAGE), params={"include": ["mask", "overlay"]}).json()
    moving = {"placement"}  # only with an area that moves with the part
    assert set(found) | moving == set(forms["Prediction"]["properties"]) and "placement" not in found
    assert set(served(gray_export).ask("GET", "/health").json()) == set(forms["Health"]["properties"])


def test_mask_and_overlay_equal_those_of_the_predictor(served, gray_export):
    one = served(gray_export)
    mask = one.predictor.predict(IMAGE).mask
    drawn = png(overlay(IMAGE, mask, one.predictor.settings))
    assert len(np.unique(mask)) == 3
    for request, expected in (
        ({"headers": {"Accept": "image/png"}}, png(mask)),
        ({"headers": {"Accept": "image/png;overlay"}}, drawn),
        ({"params": {"overlay": "1"}}, drawn),
    ):
        answer = one.predict(png(IMAGE), **request)
        assert answer.headers["content-type"] == "image/png"
        assert answer.content == expected
    found = one.predict(png(IMAGE), params={"include": ["mask", "overlay"]}).json()
    assert base64.b64decode(found["mask"]) == png(mask) and base64.b64decode(found["overlay"]) == drawn


def test_raw_bytes_and_forms_give_the_same_result(served, gray_export):
    one = served(gray_export)
    expected = one.predict(png(IMAGE), headers={"Accept": "image/png"}).content
    for name in ("part.png", "../../etc/passwd", "片 [1] 🔍.png", "/etc/passwd", 'quo"te.png'):
        for field in ("image", "file", "picture"):
            form = {"files": {field: (name, png(IMAGE))}, "data": {"note": "x" * 3000}}
            answer = one.ask("POST", "/predict", headers={"Accept": "image/png"}, **form)
            assert answer.content == expected
    for kind in ("image/png", "application/x-www-form-urlencoded", "text/plain; charset=utf-8"):
        answer = one.predict(png(IMAGE), headers={"Accept": "image/png", "Content-Type": kind})
        assert answer.content == expected


def test_sixteen_bit_image(served, gray_export):
    one = served(gray_export)
    deep = IMAGE.astype(np.uint16) * 257
    eight, sixteen = (one.predict(png(each), headers={"Accept": "image/png"}).content for each in (IMAGE, deep))
    assert eight == sixteen


def test_verdict_has_probabilities_and_no_mask(served, verdict_export):
    one = served(verdict_export)
    dark = np.full((30, 50), 40, np.uint8)
    found = one.predict(png(dark), params={"include": ["mask", "overlay"]}).json()
    expected = one.predictor.predict(dark)
    assert found["verdict"] == expected.verdict == "NG"
    assert found["probabilities"] == expected.probabilities
    assert found["regions"] == [] and found["um_per_pixel"] is None and "mask" not in found
    for request in ({"headers": {"Accept": "image/png"}}, {"params": {"overlay": "true"}}):
        answer = one.predict(png(dark), **request)
        assert answer.status_code == 406 and "verdict" in answer.json()["detail"]


def test_rule_gives_verdict_and_reason(served, gray_export):
    path = gray_export / "model.json"
    limits = (RegionLimit(DARK.id, area=30), RegionLimit(BRIGHT.id, probability=1.0))
    good = np.full((40, 50), 128, np.uint8)
    rules = {
        VerdictRule("mass", 50): "NG",
        VerdictRule("region", limits=limits): "NG",
        VerdictRule("mass", 1e6, unsure=50): "unsure",
    }
    for rule, bad in rules.items():
        save_settings(replace(load_settings(path), verdict_rule=rule), path)
        one = served(gray_export)
        for image, verdict in ((IMAGE, bad), (good, "OK")):
            found, expected = one.predict(png(image)).json(), one.predictor.predict(image)
            jsonschema_rs.validate(schema_of("Prediction"), found)
            assert found["verdict"] == expected.verdict == verdict
            assert found["verdict_reason"] == expected.verdict_reason
            assert found["anomaly_score"] == expected.anomaly_score


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, "json"),
        ("", "json"),
        ("*/*", "json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "json"),
        ("image/png", "mask"),
        ("IMAGE/PNG ; Overlay", "overlay"),
        ("image/png;overlay=1", "overlay"),
        ("image/png;q=0.5, application/json;q=0.9", "json"),
        ("application/json;q=0, image/*", "mask"),
        ("image/png;overlay;q=0.9, image/png;q=0.8", "overlay"),
    ],
)
def test_accept_header_selects_the_form(accept, form):
    assert choose_form(accept, False) == form
    assert choose_form(accept, True) == "overlay"


@pytest.mark.parametrize("accept", ["text/html", "image/jpeg", "image/png;q=0", "application/json;q=x", ";;,"])
def test_other_forms_are_refused(accept):
    with pytest.raises(HTTPException) as refused:
        choose_form(accept, False)
    assert refused.value.status_code == 406


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "contains no image"),
        (b"/etc/passwd", "file format is unknown"),
        (b"GIF89a" + bytes(40), "file format is unknown"),
        (png(IMAGE)[:-40], "incomplete"),
        (b"\x89PNG\r\n\x1a\n" + bytes(8), "file format is unknown"),
        (png(IMAGE)[:60] + bytes(500) + png(IMAGE)[560:], "damaged"),
    ],
)
def test_broken_image_is_refused_with_the_reason(served, gray_export, content, expected):
    one = served(gray_export)
    answer = one.predict(content)
    assert answer.status_code == 422 and expected in answer.json()["detail"]
    answer = one.ask("POST", "/predict", files={"picture": ("p.png", content)})
    assert answer.status_code == 422 and expected in answer.json()["detail"]
    assert one.engine.calls == []


FORM = "multipart/form-data; boundary=b"
FILE = b'--b\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n' + png(IMAGE) + b"\r\n--b--"
PART, OTHER = (b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\nabc\r\n' % name for name in (b"picture", b"p"))


@pytest.mark.parametrize(
    ("kind", "body", "status", "expected"),
    [
        ("multipart/form-data", b"x", 400, "Missing boundary"),
        (FORM, b"nonsense", 400, "cannot be read"),
        (FORM, b"", 400, "end is missing"),
        (FORM, PART, 400, "end is missing"),
        (FORM, OTHER + b"--b--", 422, "the field 'image'"),
        (FORM, PART + PART + b"--b--", 422, "2 fields"),
        (FORM, PART + PART.replace(b"picture", b"image") + b"--b--", 422, "2 fields"),
        (FORM, FILE[:-4], 400, "end is missing"),
        (f"{FORM}{'b' * 999}", b"x", 400, "cannot be read"),
    ],
)
def test_damaged_form_is_refused(served, gray_export, kind, body, status, expected):
    answer = served(gray_export).predict(body, headers={"Content-Type": kind})
    assert answer.status_code == status and expected in answer.json()["detail"]


def test_too_large_request_is_refused(served, gray_export):
    one = served(gray_export, bytes=3000)
    taken = []

    async def chunks():
        for _ in range(10_000):
            taken.append(1)
            yield bytes(1000)

    assert one.predict(bytes(3001)).status_code == 413
    assert one.predict(chunks()).status_code == 413
    assert len(taken) < 5000  # most is not read
    assert one.ask("POST", "/predict", files={"picture": ("p.png", bytes(4000))}).status_code == 413
    assert one.predict(png(IMAGE[:20, :20])).status_code == 200
    assert one.counters['workbench_requests_total{status="413"}'] == 3


def bomb(width, height):
    """Return a valid PNG of a few kilobytes that decodes to width * height bytes."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    deflate = zlib.compressobj(9)
    rows = b"".join(deflate.compress(bytes((width + 1) * 64)) for _ in range(height // 64)) + deflate.flush()
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_image_with_too_many_pixels_is_refused_before_decoding(served, gray_export, monkeypatch):
    content = bomb(6400, 6400)
    assert len(content) < 50_000 and decode_image(content).size == 6400**2
    decoded = []
    monkeypatch.setattr(request_handler, "decode_image", lambda data: decoded.append(data) or decode_image(data))
    one = served(gray_export, pixels=40_000_000)
    answer = one.predict(content)
    assert answer.status_code == 413 and "6400 x 6400" in answer.json()["detail"] and "40 megapixels" in answer.text
    assert decoded == [] and one.engine.calls == []
    assert one.predict(png(IMAGE)).status_code == 200 and len(decoded) == 1


def test_token_is_required(served, gray_export):
    token = "s3cret+/="
    one = served(gray_export, token=token)
    wrong = ["Bearer wrong", f"Basic {token}", "Bearer", f"Bearer {token}x", "Bearer s3cr\xe9t".encode("latin-1")]
    for headers in [{}, *({"Authorization": each} for each in wrong)]:
        answer = one.predict(png(IMAGE), headers=headers)
        assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
        assert one.ask("GET", "/metrics", headers=headers).status_code == 401
        health = one.ask("GET", "/health", headers=headers)
        assert health.status_code == 200
        assert {key: value for key, value in health.json().items() if value is not None} == {
            "ready": True,
            "token_needed": True,
        }
    assert one.engine.calls == []
    right = {"Authorization": f"Bearer {token}"}
    assert one.predict(png(IMAGE), headers=right).status_code == 200
    assert one.ask("GET", "/metrics", headers=right).status_code == 200
    assert one.ask("GET", "/health", headers=right).json()["model"] == "spots"
    assert one.counters['workbench_requests_total{status="401"}'] == 2 * len([None, *wrong])


def test_failing_network_is_reported_and_the_next_image_works(served, gray_export):
    one = served(gray_export)
    works, one.engine.engine = one.engine.engine, lambda batch: (_ for _ in ()).throw(RuntimeError("out of\nsorts"))
    answer = one.predict(png(IMAGE))
    assert answer.status_code == 500 and answer.json()["detail"] == "The network failed: out of"
    one.engine.engine = lambda batch: batch[:0]
    assert "does not fit its settings" in one.predict(png(IMAGE)).json()["detail"]
    one.engine.engine = works
    assert one.predict(png(IMAGE)).status_code == 200
    assert one.ask("GET", "/health").json()["ready"] is True


def test_unexpected_error_reveals_no_detail(served, gray_export, monkeypatch, caplog):
    def fail(*args, **options):
        raise ZeroDivisionError("secret place")

    monkeypatch.setattr(request_handler, "write_response", fail)
    answer = served(gray_export).predict(png(IMAGE))
    assert answer.status_code == 500 and "secret" not in answer.text
    assert "secret place" in caplog.text


def test_health_names_the_model(served, gray_export, verdict_export):
    found = served(gray_export).ask("GET", "/health").json()
    assert found == {
        "ready": True,
        "token_needed": False,
        "model": "spots",
        "run": "2024-unet",
        "task": "segmentation",
        "engine": "gated",
        "device": None,
        "verdicts": [],
        "classes": [
            {"id": 3, "name": "dark scratch", "color": "#ff0000"},
            {"id": 7, "name": "亮点", "color": "#00ff80"},
        ],
    }
    one = served(verdict_export)
    assert one.ask("GET", "/health").json()["verdicts"] == ["OK", "NG"]
    one.app.state.handler.close()
    closed = one.ask("GET", "/health")
    assert closed.status_code == 503 and closed.json()["ready"] is False


def test_metrics_count_requests(served, gray_export):
    one = served(gray_export, pixels=30_000)
    one.predict(png(IMAGE))
    one.predict(png(IMAGE))
    one.predict(b"nothing")
    one.predict(png(np.zeros((300, 300), np.uint8)))
    assert one.ask("GET", "/nowhere").status_code == 404
    assert one.ask("GET", "/predict").status_code == 405
    answer = one.ask("GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    counted = one.counters
    for status, count in {200: 3, 422: 1, 413: 1, 404: 1, 405: 1, 503: 0}.items():
        assert counted[f'workbench_requests_total{{status="{status}"}}'] == count
    assert counted["workbench_predict_seconds_count"] == 4
    assert counted['workbench_predict_seconds_bucket{le="+Inf"}'] == 4
    assert counted["workbench_predict_seconds_sum"] > 0
    assert counted["workbench_queue_depth"] == counted["workbench_in_flight"] == 0
    assert counted["workbench_network_calls_total"] == len(one.engine.calls)
    assert counted["workbench_network_pictures_total"] == sum(shape[0] for shape in one.engine.calls)


def test_duration_buckets_are_cumulative():
    cells = [0.0] * (2 * WIDTH)
    first, second = Counters(cells, 0), Counters(cells, 1)
    for counters, seconds in ((first, 0.003), (first, 0.005), (second, 0.0051), (second, 999.0)):
        counters.observe_duration(seconds)
    second.set_load(3, 4)
    first.set_load(1, 2)
    first.count_response(418)
    text = second.text().splitlines()
    for line in (
        'workbench_predict_seconds_bucket{le="0.005"} 2',
        'workbench_predict_seconds_bucket{le="0.01"} 3',
        'workbench_predict_seconds_bucket{le="60.0"} 3',
        'workbench_predict_seconds_bucket{le="+Inf"} 4',
        "workbench_predict_seconds_count 4",
        "workbench_queue_depth 4",
        "workbench_in_flight 6",
        'workbench_requests_total{status="other"} 1',
    ):
        assert line in text
    assert Counters(cells, 1).text().count("workbench_queue_depth 1") == 1  # a new process has nothing in flight


def test_pages_load_no_external_resources(served, gray_export):
    one = served(gray_export)
    for path in ("/", "/docs"):
        page = one.ask("GET", path)
        assert page.status_code == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in page.headers["content-security-policy"]
        text = re.sub(r"http://(127\.0\.0\.1:8123|www\.w3\.org/2000/svg)", "", page.text)
        assert not re.search(r"https?://|//[a-z]|@import|<link[^>]+href=\"(?!data:)|\bsrc=\"", text)
    page = one.ask("GET", "/")
    for block in re.findall("<(?:script|style)>(.*?)</(?:script|style)>", page.text, re.S):
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page.headers["content-security-policy"]
    docs = one.ask("GET", "/docs").text
    for word in ("POST /predict", "area_um2", "include", "503", "DefectClass"):
        assert word in docs


def test_page_has_the_same_texts_in_both_languages():
    english, chinese = (
        re.search(rf"  {tag}: {{(.*?)\n  }},", read_resource("page.html"), re.S)[1] for tag in ("en", "zh")
    )
    keys = [re.findall(r"(?<![\w$])([a-z_]+|\d{3}): ", block) for block in (english, chinese)]
    assert sorted(keys[0]) == sorted(keys[1]) and len(keys[0]) > 25
    assert re.search("[\u4e00-\u9fff]", chinese) and not re.search("[\u4e00-\u9fff]", english)


LIMITED = settings(max_examples=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("kind", "token"), [("gray_export", None), ("verdict_export", "a-token")])
def test_every_response_is_described_in_the_schema(served, request, kind, token):
    import schemathesis  # not by every process that collects this test
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    one = served(request.getfixturevalue(kind), token=token)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    schema = schemathesis.openapi.from_asgi("/openapi.json", one.app)
    labels = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        labels.add(operation.label)

        @LIMITED
        @given(case=operation.as_strategy())
        def ask(case):
            # OpenAPI cannot state that the bytes have to be an image.
            case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance])

        ask()
    assert labels == {"POST /predict", "GET /health", "GET /metrics"}
    assert one.counters['workbench_requests_total{status="500"}'] == 0
    assert one.counters['workbench_requests_total{status="200"}'] > 3
