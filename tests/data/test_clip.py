"""Clips from videos, animations and folders: which frames are seen, in what order, and what is refused."""

import base64
import io
import itertools
import json
import os
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from regard.data import image, video
from regard.data.clip import Clip, ClipView, stack_clips
from regard.data.recent import Recent
from regard.data.reels import natural
from regard.data.view import View
from regard.errors import DataError, MissingExtra
from tests.data.made import animation, bomb, cut, film, flat_frames, grey, noise, save, sound

VIEW = ClipView(View(3, size=8), most=100)
FILMS = {"a.mp4": "mpeg4", "b.mp4": "libx264", "c.avi": "mpeg4", "d.webm": "libvpx", "e.webm": "libvpx-vp9"}


def folder(path: Path, count: int) -> str:
    path.mkdir()
    for number, pixels in enumerate(flat_frames(count)):
        save(path / f"frame{number}.png", pixels)
    (path / ".hidden.png").write_text("not looked at")
    (path / "notes.txt").write_text("not looked at")
    return str(path)


def made(path: Path, kind: str, count: int = 12) -> str:
    frames = flat_frames(count)
    if kind == "folder":
        return folder(path / "frames", count)
    if kind in ("gif", "webp"):
        return animation(path / f"a.{kind}", frames, **({"lossless": True} if kind == "webp" else {}))
    return film(path / kind, frames, FILMS[kind])


@pytest.mark.parametrize("kind", ["folder", "gif", "webp", *FILMS])
def test_frames_come_in_order_of_time(tmp_path: Path, kind: str) -> None:
    clip = Clip.open(made(tmp_path, kind), VIEW)
    assert clip.length == clip.reel.total == 12
    found = clip.pixels(Recent())
    assert found.shape == (12, 3, 8, 8)
    assert np.abs(found.mean((1, 2, 3)) - [grey(number) for number in range(12)]).max() < 4


@pytest.mark.parametrize("kind", ["folder", "gif", "webp", "a.mp4"])
def test_chosen_frames_are_those_of_all(tmp_path: Path, kind: str) -> None:
    source = made(tmp_path, kind)
    every = Clip.open(source, VIEW).pixels(Recent())
    for view in (ClipView(VIEW.frame, every=3), ClipView(VIEW.frame, most=5), ClipView(VIEW.frame, every=2, most=1)):
        clip = Clip.open(source, view)
        found = clip.pixels(Recent())
        assert len(found) == clip.length
        assert (found == every[view.chosen(12)]).all()


def test_chosen_by_hand() -> None:
    assert ClipView(every=3).chosen(10) == [0, 3, 6, 9]
    assert ClipView(most=2).chosen(8) == [2, 6]
    assert ClipView(most=1).chosen(9) == [4]
    assert ClipView(every=2, most=2).chosen(8) == [2, 6]
    assert ClipView(most=5).chosen(3) == [0, 1, 2]


@given(st.integers(1, 500), st.integers(1, 9), st.integers(1, 40))
def test_chosen_are_few_enough_ascending_and_evenly_spaced(frames: int, every: int, most: int) -> None:
    chosen = ClipView(every=every, most=most).chosen(frames)
    assert 1 <= len(chosen) <= most
    assert len(chosen) == min(most, len(range(0, frames, every)))
    assert all(0 <= number < frames and number % every == 0 for number in chosen)
    steps = {after - before for before, after in itertools.pairwise(chosen)}
    assert not steps or (min(steps) > 0 and max(steps) - min(steps) <= every)


def test_channels_and_scale_are_those_of_the_view(tmp_path: Path) -> None:
    source = made(tmp_path, "folder", 2)
    view = ClipView(View(1, size=4, invert=True, mean=(0.5,), std=(0.25,)))
    found = Clip.open(source, view).load(Recent())
    assert found.shape == (2, 1, 4, 4)
    np.testing.assert_allclose(found[1], ((255 - grey(1)) / 255 - 0.5) / 0.25, rtol=1e-5)


def test_a_stack_is_zero_after_the_last_frame_of_each(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(3)]
    for path in paths:
        path.mkdir()
    clips = [Clip.open(made(path, "folder", count), VIEW) for path, count in zip(paths, (3, 1, 5), strict=True)]
    found = stack_clips(clips)
    assert found.data.shape == (3, 5, 3, 8, 8)
    assert found.data.dtype == torch.float32
    assert found.lengths.tolist() == [3, 1, 5]
    assert found.data[~found.mask].abs().sum() == 0
    for row, clip in zip(found.data, clips, strict=True):
        assert (row[: clip.length].numpy() == clip.load()).all()
        assert (stack_clips([clip]).data[0] == row[: clip.length]).all()


def test_clips_of_unequal_size_share_a_block(tmp_path: Path) -> None:
    """And a frame that differs from the first of its clip is shown at the size of that one."""
    paths = [tmp_path / str(number) for number in range(2)]
    for path, sizes in zip(paths, ([(9, 4), (4, 9)], [(6, 6)]), strict=True):
        path.mkdir()
        for number, size in enumerate(sizes):
            Image.new("RGB", size, (200, 100, 50)).save(path / f"{number}.png")
    found = stack_clips([Clip.open(str(path), ClipView(View(fit="within", size=9))) for path in paths], Recent())
    assert found.data.shape == (2, 2, 3, 6, 9)
    assert found.sizes.tolist() == [[4, 9], [6, 6]]
    assert found.data[~found.places[:, :, None].expand_as(found.data)].abs().sum() == 0
    assert (found.data[0, :, 0, :4] > 0.7).all()


@given(st.lists(st.integers(0, 9999), min_size=1, unique=True))
def test_names_are_sorted_by_their_numbers(numbers: list[int]) -> None:
    names = [f"shot 2, frame{number}.png" for number in numbers]
    assert sorted(names, key=natural) == [f"shot 2, frame{number}.png" for number in sorted(numbers)]


def test_every_name_can_be_compared() -> None:
    names = ["a", "1", "a1", "a01", "1a", "", "²3", "a1b2", "a1b10"]
    backwards = names[::-1]
    assert sorted(names, key=natural) == sorted(backwards, key=natural)
    assert sorted(["a1b10", "a1b2", "a01"], key=natural) == ["a01", "a1b2", "a1b10"]


def test_a_video_is_turned_upright(tmp_path: Path) -> None:
    """The matrix in the track's header says how a phone was held: a quarter turn clockwise."""
    frame = np.zeros((32, 32, 3), np.uint8)
    frame[:16] = 255  # light above
    path = Path(film(tmp_path / "a.mp4", [frame] * 3))
    content = bytearray(path.read_bytes())
    matrix = content.index(b"tkhd") + 44
    content[matrix : matrix + 36] = struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 32 << 16, 0, 1 << 30)
    path.write_bytes(content)
    found = Clip.open(str(path), VIEW).pixels(Recent())[0].mean(0)
    assert found[:, 5:].min() > 200  # now to the right
    assert found[:, :3].max() < 50


@pytest.mark.parametrize("kind", ["gif", "webp", *FILMS])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_a_file_cut_short_is_refused(tmp_path: Path, kind: str, share: float) -> None:
    frames = [noise(64, 64, seed=number) for number in range(12)]
    path = tmp_path / (kind if "." in kind else f"a.{kind}")
    source = film(path, frames, FILMS[kind]) if kind in FILMS else animation(path, frames)
    with pytest.raises(DataError, match=f"cut-{path.name} .*(cut short|damaged)"):
        Clip.open(cut(source, share), VIEW).pixels(Recent())


def test_a_stream_cut_short_behind_a_whole_header_is_refused(tmp_path: Path) -> None:
    frames = [noise(64, 64, seed=number) for number in range(12)]
    source = film(tmp_path / "a.mp4", frames, movflags="faststart")
    with pytest.raises(DataError, match=r"has \d of 12 frames; it seems cut short"):
        Clip.open(cut(source, 0.6), VIEW)


def test_frames_that_a_header_promised_wrongly_are_stood_in_for(tmp_path: Path) -> None:
    source = made(tmp_path, "a.mp4", 12)
    reel = video.Video(source, 13)
    found = reel.frames([10, 11, 12], 1, lambda one: float(np.asarray(one).mean()))
    np.testing.assert_allclose(found, [grey(10), grey(11), grey(11)], atol=3)
    with pytest.raises(DataError, match="12 of 20 frames"):
        video.Video(source, 20).frames([18], 1, np.asarray)


def test_sound_alone_is_no_clip(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.mp4 has no video in it"):
        Clip.open(sound(tmp_path / "a.mp4"), VIEW)


@pytest.mark.parametrize(
    "content", [b"hello, world", b"#EXTM3U\n#EXTINF:1,\n/etc/passwd\n", b"ffconcat version 1.0\nfile b"]
)
def test_what_is_no_clip_is_refused_and_playlists_are_not_followed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mp4").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mp4 is no clip"):
        Clip.open(str(tmp_path / "a.mp4"), VIEW)


def test_names_that_ffmpeg_would_take_for_addresses_are_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "a.mp4")
    monkeypatch.chdir(tmp_path)
    for source in ("file:a.mp4", "concat:a.mp4", "http://127.0.0.1:9/a.mp4"):
        with pytest.raises(DataError, match="there is no file"):
            Clip.open(source, VIEW)
    os.rename("a.mp4", "file:a.mp4")
    assert Clip.open("file:a.mp4", VIEW).length == 12


def test_too_many_frames_or_pixels_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [made(tmp_path, kind) for kind in ("folder", "gif", "webp", "a.mp4")]
    for limit, said in (("MOST_FRAMES", "at most 11"), ("MOST_PIXELS", "at most 11")):
        with monkeypatch.context() as patch:
            patch.setattr(video, limit, 11 * (32 * 32 if limit == "MOST_PIXELS" else 1))
            for source in sources:
                with pytest.raises(DataError, match=said):
                    Clip.open(source, VIEW)
    monkeypatch.setattr(image, "MOST_PIXELS", 32 * 32 - 1)
    for source in sources:
        with pytest.raises(DataError, match="32 × 32 pixels"):
            Clip.open(source, VIEW)


@pytest.mark.parametrize("kind", ["gif", "webp", "a.mp4"])
def test_a_clip_that_was_sent_may_have_fewer_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A few bytes can hold minutes of work, and nobody knows the sender."""
    path = made(tmp_path, kind)
    sent = "data:video/any;base64," + base64.b64encode(Path(path).read_bytes()).decode()
    monkeypatch.setattr(video, "MOST_SENT", 11 * 32 * 32)
    assert Clip.open(path, VIEW).length == 12
    with pytest.raises(DataError, match="at most 11"):
        Clip.open(sent, VIEW)


def growing(path: Path, sizes: list[int]) -> str:
    """A GIF whose header says that it is as small as its first frame, which the others are not."""

    def frame(size: int) -> tuple[bytes, bytes]:
        stream = io.BytesIO()
        Image.new("L", (size, size), 9).save(stream, "GIF")
        content = stream.getvalue()
        begin = 13 + 3 * 2 ** ((content[10] & 7) + 1)  # after the screen and its colours
        while content[begin] == 0x21:  # extensions
            begin += 2
            while content[begin]:
                begin += content[begin] + 1
            begin += 1
        return content[: 13 + 3 * 2 ** ((content[10] & 7) + 1)], content[begin:-1]

    header, _ = frame(sizes[0])
    path.write_bytes(header + b"".join(frame(size)[1] for size in sizes) + b";")
    return str(path)


def test_frames_that_grow_are_counted_as_large_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = growing(tmp_path / "a.gif", [1, *[32] * 11])
    assert Clip.open(source, VIEW).pixels(Recent()).shape[0] == 12
    monkeypatch.setattr(video, "MOST_PIXELS", 11 * 32 * 32)
    clip = Clip.open(source, ClipView(VIEW.frame, most=1))
    assert clip.length == 1
    clip.pixels(Recent())  # the middle one: what comes after is never read
    with pytest.raises(DataError, match="pixels together"):
        Clip.open(growing(tmp_path / "b.gif", [1, *[32] * 11, 1]), VIEW).pixels(Recent())


@pytest.mark.parametrize("kind", ["gif", "webp", "a.mp4"])
def test_no_more_is_decoded_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Whatever the header had said."""
    clip = Clip.open(made(tmp_path, kind), VIEW)
    monkeypatch.setattr(video, "MOST_PIXELS", 11 * 32 * 32)
    with pytest.raises(DataError, match="pixels together"):
        clip.pixels(Recent())


def test_bad_frames_in_a_folder_are_named(tmp_path: Path) -> None:
    source = made(tmp_path, "folder", 12)
    bomb(Path(source) / "frame7.png", 60_000, 60_000)
    with pytest.raises(DataError, match=r"frame7\.png"):
        Clip.open(source, VIEW)
    assert Clip.open(source, ClipView(every=2)).length == 6  # nobody looks at it
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty has no frames"):
        Clip.open(str(tmp_path / "empty"), VIEW)


def test_a_second_epoch_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recent, clips = Recent(), [Clip.open(made(tmp_path, kind), VIEW) for kind in ("folder", "gif", "a.mp4")]
    first = stack_clips(clips, recent)
    monkeypatch.setattr(View, "fitted", lambda *_: pytest.fail("decoded"))
    assert (stack_clips(clips, recent).data == first.data).all()


def test_without_pyav_the_extra_is_named_and_animations_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, moving = made(tmp_path, "a.mp4"), made(tmp_path, "gif")
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtra, match=r"av.*regard\[video\]"):
        Clip.open(source, VIEW)
    assert Clip.open(moving, VIEW).length == 12


def test_json_there_and_back() -> None:
    for view in (ClipView(), ClipView(View(1, size=7), 3, 5)):
        assert ClipView.from_json(json.loads(json.dumps(view.to_json()))) == view


@pytest.mark.parametrize(
    "change",
    [{"every": 0}, {"most": 0}, {"most": 2.0}, {"most": True}, {"frame": {"fit": "height"}}, {"frame": 3}, {"k": 1}],
)
def test_what_is_no_view_of_a_clip_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(DataError, match="expected"):
        ClipView.from_json(ClipView().to_json() | change)
    with pytest.raises(DataError, match="expected how a clip is seen"):
        ClipView.from_json([])
