"""Files of tables: checked wherever they come from, and a cache with nothing else in it."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from publicmoments.datasets import uci
from publicmoments.datasets.uci import FOLDER_VARIABLE, Source, content

DATA = b"a,b\n1,2\n"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


INNER = zipped(table=DATA, other=b"not this one")
OUTER = zipped(inner=INNER, table=b"nor this one")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        pages = self.server.pages
        if self.path not in pages:
            self.send_error(404)
            return
        data, announced = pages[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.pages = {
            "/plain": (DATA, len(DATA)),
            "/archive": (INNER, len(INNER)),
            "/nested": (OUTER, len(OUTER)),
            "/truncated": (OUTER[:-30], len(OUTER) - 30),
            "/broken-off": (OUTER[:-30], len(OUTER)),
        }
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no folder named by the environment."""
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(uci, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def make(server):
    """Make a source of the data at one of the pages."""
    server.asked = []

    def make(page, members=(), archive=None):
        address = f"http://127.0.0.1:{server.server_port}{page}"
        digest = None if archive is None else sha256(archive)
        return Source("table.csv", sha256(DATA), address, digest, members)

    return make


def listed(folder):
    return sorted(os.listdir(folder)) if folder.exists() else []


# Downloading


@pytest.mark.parametrize(
    ("page", "members", "archive"),
    [
        ("/plain", (), None),
        ("/archive", ("table",), INNER),
        ("/nested", ("inner", "table"), OUTER),
    ],
)
def test_a_file_is_downloaded_once_and_kept_alone(cache, make, server, page, members, archive):
    source = make(page, members, archive)
    assert content(source) == DATA
    assert content(source) == DATA
    assert server.asked == [page]
    assert listed(cache) == ["table.csv"]
    assert (cache / "table.csv").read_bytes() == DATA


def test_a_damaged_cached_file_is_replaced(cache, make, server):
    cache.mkdir()
    (cache / "table.csv").write_bytes(DATA[:-1])
    assert content(make("/plain")) == DATA
    assert server.asked == ["/plain"]
    assert (cache / "table.csv").read_bytes() == DATA


def test_a_truncated_archive_is_refused(cache, make):
    source = make("/truncated", ("inner", "table"), OUTER)
    with pytest.raises(ValueError, match="must have sha256") as caught:
        content(source)
    message = str(caught.value)
    assert message.startswith(source.address)
    assert sha256(OUTER) in message
    assert sha256(OUTER[:-30]) in message
    assert f"set {FOLDER_VARIABLE} to a folder that holds the original table.csv" in message
    assert listed(cache) == []


def test_another_file_in_a_known_archive_is_refused(cache, make):
    source = make("/nested", ("inner", "other"), OUTER)
    with pytest.raises(ValueError, match=r"^other in inner in http.* must have sha256") as caught:
        content(source)
    assert sha256(DATA) in str(caught.value)
    assert sha256(b"not this one") in str(caught.value)
    assert listed(cache) == []


@pytest.mark.parametrize("page", ["/broken-off", "/absent"])
def test_a_failed_download_says_what_to_do(cache, make, page):
    source = make(page, ("inner", "table"), OUTER)
    with pytest.raises(ConnectionError, match="could not be downloaded") as caught:
        content(source)
    assert source.address in str(caught.value)
    assert f"set {FOLDER_VARIABLE} to a folder that holds table.csv" in str(caught.value)
    assert listed(cache) == []


def test_no_network(cache, make):
    # Port 9 discards what it is sent, where anything listens at all.
    source = replace(make("/plain"), address="http://127.0.0.1:9/plain")
    with pytest.raises(ConnectionError, match=f"check the network, or set {FOLDER_VARIABLE}"):
        content(source)
    assert listed(cache) == []


def test_a_failed_write_leaves_nothing(cache, make, monkeypatch):
    def broken(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        content(make("/plain"))
    assert listed(cache) == []


def test_the_cache_is_the_users(monkeypatch):
    pooch = pytest.importorskip("pooch")
    assert str(uci.cache_folder()) == str(pooch.os_cache("publicmoments"))


def test_without_pooch(monkeypatch, make):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'publicmoments\[data\]'") as caught:
        content(make("/plain"))
    assert FOLDER_VARIABLE in str(caught.value)


def test_importing_is_light():
    command = (
        "import sys, publicmoments.datasets; "
        "print(sorted({'pooch', 'requests', 'pandas', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# The folder named by the environment


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    # Neither pooch nor the network has a part in it.
    monkeypatch.setitem(sys.modules, "pooch", None)
    return tmp_path


def test_a_folder_is_read(folder, make, server):
    (folder / "table.csv").write_bytes(DATA)
    assert content(make("/plain")) == DATA
    assert server.asked == []
    assert listed(folder) == ["table.csv"]


def test_the_folder_may_be_in_the_home(folder, make, monkeypatch):
    (folder / "table.csv").write_bytes(DATA)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv(FOLDER_VARIABLE, f"~/{folder.name}")
    assert content(make("/plain")) == DATA


def test_an_empty_name_is_no_folder(cache, make, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, "")
    assert content(make("/plain")) == DATA
    assert listed(cache) == ["table.csv"]


def test_a_folder_without_the_file(folder, make, server):
    with pytest.raises(FileNotFoundError, match=r"^table\.csv is not in") as caught:
        content(make("/plain"))
    assert str(folder) in str(caught.value)
    assert make("/plain").address in str(caught.value)
    assert server.asked == []


def test_a_folder_with_another_file(folder, make):
    (folder / "table.csv").write_bytes(b"other")
    with pytest.raises(ValueError, match="must have sha256") as caught:
        content(make("/plain"))
    message = str(caught.value)
    assert message.startswith(str(folder / "table.csv"))
    assert sha256(DATA) in message
    assert sha256(b"other") in message
    assert "replace it by the original" in message
    assert (folder / "table.csv").read_bytes() == b"other"
