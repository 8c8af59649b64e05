"""What no proper client sends: the answer is a refusal or an answer, never a failure, and the next one is right."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest

from regard import Run
from regard.service.models import Model
from regard.service.static import read_files
from tests.service.http import Service, serving

JSON = {"Content-Type": "application/json"}
BODIES = {
    "NaN": b'{"source": "abc", "length_penalty": NaN}',
    "Infinity": b'{"source": "abc", "coverage_penalty": Infinity}',
    "an overflowing number": b'{"source": "abc", "length_penalty": 1e999}',
    "a number of 5,000 digits": b'{"source": "abc", "beam": %s}' % (b"9" * 5000),
    "a fraction of a beam": b'{"source": "abc", "beam": 1.5}',
    "a beam below zero": b'{"source": "abc", "beam": -99999999999999999999}',
    "true as a beam": b'{"source": "abc", "beam": [true]}',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "deep sources": b'{"sources": ' + b"[" * 500 + b"]" * 500 + b"}",
    "invalid UTF-8": b'{"source": "\xff\xfe"}',
    "UTF-16": '{"source": "abc"}'.encode("utf-16"),
    "half a surrogate pair": b'{"source": "\\ud800"}',
    "half a surrogate pair as a model": b'{"source": "abc", "model": "\\udfff"}',
    "half a surrogate pair as a key": b'{"source": "abc", "\\ud800": 1}',
    "half a surrogate pair in a prefix": b'{"source": "abc", "prefix": ["\\ud800"]}',
    "NUL": b'{"source": "a\\u0000b"}',
    "control characters": b'{"source": "\\u0001\\u001b[2J\\u007f\\u0085"}',
    "raw control characters": b'{"source": "a\nb"}',
    "only a byte order mark": b'{"source": "\\ufeff"}',
    "a tab where no features are": b'{"source": "a\\tb"}',
    "turned text": '{"source": "\u202eabc\u2066"}'.encode(),
    "one letter under a thousand marks": json.dumps({"source": "a" + "\u0301" * 1000}).encode(),
    "a key twice": b'{"source": "abc", "source": "cba"}',
    "null": b"null",
    "a text": b'"abc"',
    "null as a source": b'{"source": null}',
    "an object as a source": b'{"source": {"$ref": "#"}}',
    "a path as a model": b'{"source": "abc", "model": "../../etc/passwd"}',
    "a template as a model": b'{"source": "abc", "model": "{0.__class__} {{7*7}} %s ${x}"}',
    "special symbols as a prefix": b'{"source": "abc", "prefix": ["<end>", "<pad>"]}',
    "empty symbols": b'{"source": "abc", "prefix": [""]}',
    "attributes of an object": b'{"source": "abc", "__class__": {}, "constructor": {"prototype": 1}}',
}


@pytest.fixture(scope="module")
def hostile(run: Run) -> Iterator[Service]:
    """At the end everything that was asked has been answered by 500 not once."""
    with serving([Model("reverse", run)]) as service:
        yield service
        assert service.predict("abcd")["output"] == "D C B A"
    assert not [line for line in service.log if '"error"' in line]


@pytest.mark.parametrize("path", ["predict", "force", "choices", "picture"])
@pytest.mark.parametrize("name", BODIES)
def test_a_strange_body_is_answered_or_refused(hostile: Service, name: str, path: str) -> None:
    response = hostile.client.post(f"/v1/{path}", content=BODIES[name], headers=JSON)
    assert response.status_code in (200, 400, 404, 413, 422), response.text
    drawn = path == "picture" and response.status_code == 200  # of the run's own answer, since no target came
    assert ElementTree.fromstring(response.content) if drawn else json.loads(response.text.encode("utf-8"))
    assert "__class__} 49" not in response.text


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/..%5c..%5capp.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/page.js%00.html",
        "/static/./page.js",
        "/static/page.js/",
        "/static/PAGE.JS",
        "/static/__init__.py",
        "//etc/passwd",
        "/static/..;/app.py",
    ],
)
def test_there_is_no_way_out_of_the_table_of_files(hostile: Service, path: str) -> None:
    answer = hostile.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 404 ")


def test_the_table_of_files_has_only_what_a_browser_reads() -> None:
    assert {name.rpartition(".")[2] for name in read_files()} <= {"html", "js", "css", "svg"}


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_and_the_next_one_answered(hostile: Service, request_: bytes) -> None:
    try:
        answer = hostile.raw(request_)
    except ConnectionError:  # closed before it was all sent
        answer = b""
    assert b" 500 " not in answer.split(b"\r\n")[0]
    assert hostile.client.get("/health").status_code == 200
