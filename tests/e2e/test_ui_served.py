"""The web UI as the daemon gives it to browsers, and to others."""
import gzip
import re

import pytest

from api import LISTEN, Api

HTML = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
GZIP = {"Accept-Encoding": "gzip, deflate, br"}
BROWSER = {**HTML, **GZIP}
JSON = {"Accept": "application/json"}
MODULE = re.compile(r'["\'(](?:/static/|\./)([\w.-]+-[A-Za-z0-9]{8,}\.[a-z0-9]+)["\')]')
WHOLE_BYTES_MAX = 200 * 1024
POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'",
    "img-src": "'self' data: blob:", "connect-src": "'self'", "font-src": "'self'",
    "manifest-src": "'self'", "base-uri": "'none'", "form-action": "'none'",
    "frame-ancestors": "'none'",
}


@pytest.fixture
def api(up):
    return Api(up(env=LISTEN))


def text_of(answer):
    if answer.headers["Content-Encoding"] == "gzip":
        return gzip.decompress(answer.bytes).decode()
    return answer.text


def assets_of(api):
    """Every file that the page asks for, or that one of those names."""
    found, todo = {}, [api("GET", "/", headers=BROWSER, code=200)]
    while todo:
        answer = todo.pop()
        if not answer.headers["Content-Type"].startswith(("text/", "image/svg")):
            continue
        for name in MODULE.findall(text_of(answer)):
            if name not in found:
                found[name] = api("GET", f"/static/{name}", headers=BROWSER, code=200)
                todo.append(found[name])
    return found


def test_a_browser_gets_the_page_at_every_path_of_the_page(api):
    page = api("GET", "/", headers=BROWSER, code=200)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Encoding"] == "gzip"
    assert page.headers["Cache-Control"] == "no-cache"
    assert "Accept-Encoding" in page.headers["Vary"]
    assert text_of(page).lower().startswith("<!doctype html>")
    for path in ("/dags/sales/grid", "/runs/17", "/runs/17?tab=log", "/sign-in?link=used", "/dags/",
                 "/dags/a%2Fb/grid", "/dags/caf%C3%A9"):
        deep = api("GET", path, headers=BROWSER, code=200)
        assert deep.bytes == page.bytes, path


def test_who_does_not_unpack_gets_the_page_as_it_is(api):
    packed = api("GET", "/", headers=BROWSER, code=200)
    for headers in ({}, HTML, {**HTML, "Accept-Encoding": "gzip;q=0, identity"}):
        plain = api("GET", "/", headers=headers, code=200)
        assert "Content-Encoding" not in plain.headers
        assert plain.text == text_of(packed)
        assert plain.headers["ETag"] != packed.headers["ETag"], "one for each form"


def test_files_are_kept_for_ever_and_are_small(api):
    assets = assets_of(api)
    assert assets, "the page is made of files"
    for name, asset in assets.items():
        assert asset.headers["Cache-Control"] == "public, max-age=31536000, immutable", name
        assert asset.headers["Vary"] == "Accept-Encoding"
        assert asset.headers["X-Content-Type-Options"] == "nosniff"
        assert asset.headers["ETag"] and int(asset.headers["Content-Length"]) == len(asset.bytes)
    kinds = {name.rpartition(".")[2]: asset.headers["Content-Type"]
             for name, asset in assets.items()}
    assert kinds["js"] == "text/javascript; charset=utf-8"
    page = api("GET", "/", headers=BROWSER, code=200)
    whole = len(page.bytes) + sum(len(asset.bytes) for asset in assets.values())
    assert whole < WHOLE_BYTES_MAX, {name: len(asset.bytes) for name, asset in assets.items()}


def test_what_a_browser_has_is_not_sent_again(api):
    for path in ("/", "/runs/17", f"/static/{next(iter(assets_of(api)))}"):
        tag = api("GET", path, headers=BROWSER, code=200).headers["ETag"]
        again = api("GET", path, headers={**BROWSER, "If-None-Match": tag}, code=304)
        assert again.bytes == b"" and again.headers["ETag"] == tag
        assert again.headers["Cache-Control"] != "no-store"
        api("GET", path, headers={**BROWSER, "If-None-Match": '"other"'}, code=200)


def test_head_says_what_get_would(api):
    for path in ("/", "/runs/17", f"/static/{next(iter(assets_of(api)))}"):
        told, sent = (api(method, path, headers=BROWSER, code=200) for method in ("HEAD", "GET"))
        assert told.bytes == b""
        for name in ("Content-Length", "Content-Type", "Content-Encoding", "ETag", "Cache-Control"):
            assert told.headers[name] == sent.headers[name], name


@pytest.mark.parametrize("method, path, headers, status", [
    ("GET", "/api", BROWSER, 404), ("GET", "/api/v1/nowhere", BROWSER, 404),
    ("GET", "/api/v2/dags", BROWSER, 404), ("GET", "/hooks", BROWSER, 404),
    ("GET", "/healthz/x", BROWSER, 404), ("GET", "/metrics/", BROWSER, 404),
    ("GET", "/static", BROWSER, 404), ("GET", "/static/app-00000000.js", BROWSER, 404),
    ("GET", "/static/../index.html", BROWSER, 404),
    ("GET", "/static/..%2findex.html", BROWSER, 404),
    ("GET", "/static/%2e%2e/index.html", BROWSER, 404),
    ("GET", "/static/..%2f..%2f..%2fetc%2fpasswd", BROWSER, 404),
    ("GET", "/../../etc/passwd", BROWSER, 404), ("GET", "//evil.example/x", BROWSER, 404),
    ("GET", "/runs/%00", BROWSER, 404), ("GET", "/runs/%ff", BROWSER, 404),
    ("GET", "/runs/17", JSON, 404), ("GET", "/runs/17", {}, 404), ("GET", "/", JSON, 404),
    ("POST", "/", BROWSER, 405), ("DELETE", "/runs/17", BROWSER, 405),
    ("PUT", "/static/app-00000000.js", BROWSER, 405), ("POST", "/runs/17", JSON, 404),
])
def test_everything_else_is_a_problem_as_before(api, method, path, headers, status):
    answer = api(method, path, headers=headers, code=status)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json["status"] == status
    assert answer.headers["Cache-Control"] == "no-store"
    if status == 405:
        assert answer.headers["Allow"] == "GET, HEAD"


def test_a_page_runs_nothing_but_its_own_files(api):
    for path in ("/", "/runs/17", "/static/none-00000000.js", "/api/v1/version"):
        policy = api("GET", path, headers=BROWSER).headers["Content-Security-Policy"]
        parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert parts == POLICY
    page = text_of(api("GET", "/", headers=BROWSER, code=200))
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_it_is_no_part_of_the_api(api):
    paths = api.get("/api/v1/openapi.json")["paths"]
    assert not [path for path in paths if path == "/" or path.startswith("/static")]


def test_it_is_told_where_it_is(up):
    daemon = up(env=LISTEN)
    api = Api(daemon)
    assert re.search(rf"^  ui      http://127\.0\.0\.1:{api.port}/$", daemon.text(), re.MULTILINE)
