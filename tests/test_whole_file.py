"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from nardcore import _whole_file
from nardcore._whole_file import write_whole


def test_it_replaces_what_stood_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for data in (b"one", b"", b"three"):
        write_whole(path, data)
        assert path.read_bytes() == data
        assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", b"data")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"data"


def test_errors_name_what_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "none" / "x.json"
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(path, b"data")
    assert caught.value.filename == str(path)
    assert ".part" not in str(caught.value)
    with pytest.raises(OSError, match="no regular file"):
        write_whole(tmp_path, b"data")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch, error) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise error

    monkeypatch.setattr(_whole_file.os, "fsync", fail)
    with pytest.raises(type(error)):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
