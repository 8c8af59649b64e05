"""Video files through PyAV: counted by their packets, decoded in order, only the frames that are wanted kept.

The container is told by the first bytes and its reader is named to FFmpeg, which otherwise guesses and would follow a
playlist to other files and addresses; it is handed an open file for the same reason, never a name.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from regard.data.image import check_pillow, check_pixels, flatten
from regard.data.origin import is_sent, name_of, open_bytes
from regard.errors import DataError, MissingExtra, RegardError

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")

MOST_BYTES = 512 * 2**20
MOST_FRAMES = 20_000
MOST_PIXELS = 8_000_000_000  # of all frames together, seen or not: two minutes of 1920 × 1080
MOST_SENT = (
    500_000_000  # the same of a clip that somebody sent: it can be made to fit into few bytes, not into little time
)
MICROSECONDS = 1_000_000  # FFmpeg's unit for a whole file
ENOUGH = 0.9  # of the frames and seconds that a file promises: containers are a little off, cut files are far off
READERS = (  # where its mark stands, the mark, FFmpeg's name
    (4, (b"ftyp", b"moov", b"mdat", b"free", b"wide"), "mp4"),
    (8, (b"AVI ",), "avi"),
    (0, (b"\x1a\x45\xdf\xa3",), "matroska"),
)


class Video(NamedTuple):
    """mp4, mov, avi, webm or mkv."""

    source: str
    total: int  # frames

    @classmethod
    def open(cls, source: str) -> "Video":
        """Reads all packets but decodes none."""
        with _opened(source) as (container, stream):
            total, seconds = 0, 0.0
            for packet in container.demux():
                total += packet.size > 0 and packet.stream is stream
                seconds = max(seconds, _end(packet))  # of any stream: sound may go on after the last frame
                check_frames(source, total, stream.width, stream.height)
            _check_whole(source, total, seconds, stream.frames, (container.duration or 0) / MICROSECONDS)
        return cls(source, total)

    def frames(self, numbers: Sequence[int], channels: int, show: "Callable[[Image], T]") -> list[T]:
        """`show` of the frames of these numbers, which ascend; the last of all stands in for a few that are missing."""
        found: list[T] = []
        wanted, reached, pixels, frame = set(numbers), 0, 0, None
        with _opened(self.source) as (container, stream):
            for number, frame in enumerate(container.decode(stream)):
                check_pixels(self.source, frame.width, frame.height)  # it may change within a stream
                pixels += frame.width * frame.height
                check_sum(self.source, pixels)
                reached = number + 1
                if number in wanted:
                    found.append(show(_upright(frame, channels)))
                if len(found) == len(numbers):
                    return found
            if frame is None or reached < ENOUGH * self.total:
                raise _cut_short(self.source, f"{reached:,} of {self.total:,} frames")
            return found + [show(_upright(frame, channels))] * (len(numbers) - len(found))


def check_frames(source: str, count: int, width: int, height: int) -> None:
    check_pixels(source, width, height)
    most = min(MOST_FRAMES, _most_pixels(source) // (width * height))
    if count > most:
        raise DataError(
            f"{name_of(source)} is too long: {count:,} or more frames of {width} × {height} pixels came, at most "
            f"{most:,} of this size are read; cut it or make it smaller"
        )


def check_sum(source: str, pixels: int) -> None:
    """Of the frames until now, which need not be as large as the first."""
    most = _most_pixels(source)
    if pixels > most:
        raise DataError(
            f"{name_of(source)} is too long: its frames have more than {most / 1e6:,.0f} million pixels together, "
            "which are all that are read; cut it or make it smaller"
        )


def _most_pixels(source: str) -> int:
    return MOST_SENT if is_sent(source) else MOST_PIXELS


def _check_whole(source: str, frames: int, seconds: float, all_frames: int, all_seconds: float) -> None:
    """By what the header promises: frames where it knows them (0: it does not), else seconds (webm)."""
    if all_frames and frames < ENOUGH * all_frames:
        raise _cut_short(source, f"{frames:,} of {all_frames:,} frames")
    if not frames or (not all_frames and seconds < ENOUGH * all_seconds):
        raise _cut_short(source, f"{frames:,} frames in {seconds:.1f} of {all_seconds:.1f} seconds")


def _cut_short(source: str, found: str) -> DataError:
    return DataError(f"{name_of(source)} has {found}; it seems cut short: copy or convert it again")


def _end(packet: Any) -> float:
    return 0.0 if packet.pts is None else float((packet.pts + (packet.duration or 0)) * packet.time_base)


@contextmanager
def _opened(source: str) -> Iterator[tuple[Any, Any]]:
    """Container and video stream; whatever fails inside is a DataError that names the file."""
    try:
        import av
        from av.stream import Disposition
    except ImportError as error:  # or it is too old
        raise MissingExtra("av", "video") from error
    check_pillow()
    with open_bytes(source, MOST_BYTES) as file:
        reader = _reader(source, file.read(16))
        file.seek(0)
        try:
            with av.open(file, format=reader, metadata_errors="ignore") as container:
                yield container, _stream(source, container, Disposition.attached_pic)
        except (RegardError, MemoryError):
            raise
        except Exception as error:  # FFmpeg's errors are of many kinds
            reason = getattr(error, "strerror", "") or error
            raise DataError(
                f"{name_of(source)} cannot be read as a video ({reason}); it may be cut short or damaged: copy it "
                "again or convert it to mp4"
            ) from error


def _reader(source: str, begin: bytes) -> str:
    for place, marks, name in READERS:
        if begin[place:].startswith(marks):
            return name
    raise DataError(
        f"{name_of(source)} is no clip, or its beginning is damaged; expected mp4, avi, webm, GIF, WebP or a folder of "
        "frames"
    )


def _stream(source: str, container: Any, cover: Any) -> Any:
    films = [one for one in container.streams.video if not one.disposition & cover]
    if not films:
        raise DataError(f"{name_of(source)} has no video in it, only {len(container.streams)} other streams")
    check_pixels(source, films[0].width, films[0].height)
    return films[0]


def _upright(frame: Any, channels: int) -> "Image":
    image = frame.to_image()
    return flatten(image.rotate(frame.rotation, expand=True) if frame.rotation else image, channels)
