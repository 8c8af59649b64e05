"""What was made lately is not made again, within its bytes."""

import threading

import numpy as np
from numpy.typing import NDArray

from regard.data.recent import Recent


class Maker:
    def __init__(self) -> None:
        self.made: list[str] = []

    def get(self, recent: Recent, key: str, size: int = 10) -> NDArray[np.uint8]:
        def make() -> NDArray[np.uint8]:
            self.made.append(key)
            return np.full(size, ord(key), np.uint8)

        return recent.get(key, make)


def test_a_hit_is_what_a_miss_was() -> None:
    recent, maker = Recent(), Maker()
    assert maker.get(recent, "a").tolist() == maker.get(recent, "a").tolist() == [97] * 10
    assert maker.made == ["a"]


def test_the_one_unused_for_longest_goes() -> None:
    recent, maker = Recent(30), Maker()
    for key in "abcad":
        maker.get(recent, key)
    assert [key for key in "abcd" if key in recent] == ["a", "c", "d"]
    assert recent.bytes == 30
    maker.get(recent, "b")
    assert maker.made == list("abcdb")


def test_what_is_larger_than_all_room_is_not_kept() -> None:
    recent, maker = Recent(30), Maker()
    maker.get(recent, "a")
    assert len(maker.get(recent, "b", size=31)) == 31
    assert "a" in recent
    assert "b" not in recent


def test_bytes_are_counted_right_when_threads_meet() -> None:
    recent, maker, meet = Recent(50), Maker(), threading.Barrier(4)

    def work() -> None:
        meet.wait()
        for turn in range(200):
            maker.get(recent, "abcdefgh"[turn * 5 % 8])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recent.bytes == sum(10 for key in "abcdefgh" if key in recent) == 50
