"""Symmetrising against a case worked by hand and against a literal reading of the published pseudo-code."""

from hypothesis import given
from hypothesis import strategies as st

from regard.analysis.symmetrize import SYMMETRIES, LinkSet, grow_diag_final_and, intersect, union
from regard.data.links import Link


def links(*pairs: tuple[int, int]) -> LinkSet:
    return frozenset(Link(*pair) for pair in pairs)


def test_worked_by_hand() -> None:
    """Source 0…5, target 0…5.

    Both say 0-0 and 1-1. Of the rest of the union, 2-1 is beside 1-1 and source 2 is free: it grows. 2-2, diagonal to
    1-1 and below 2-1, grows as target 2 is free. 0-1 is beside 0-0, but source 0 and target 1 both have links. 5-5
    touches nothing: source 5 and target 5 are free, so it is final. 4-5, of the backward links, comes too late for
    target 5; 4-0 finds target 0 taken.
    """
    forward = links((0, 0), (1, 1), (2, 2), (5, 5), (4, 0))
    backward = links((0, 0), (1, 1), (2, 1), (0, 1), (4, 5))
    assert grow_diag_final_and(forward, backward) == links((0, 0), (1, 1), (2, 1), (2, 2), (5, 5))
    assert intersect(forward, backward) == links((0, 0), (1, 1))
    assert len(union(forward, backward)) == 8


def test_growth_goes_on_from_what_has_grown() -> None:
    """A diagonal of which both say the last link only: it must be walked upwards, against the order of visits."""
    diagonal = links(*((place, place) for place in range(6)))
    assert grow_diag_final_and(diagonal, links((5, 5))) == diagonal


def test_without_an_intersection_only_free_words_are_linked() -> None:
    assert grow_diag_final_and(links((0, 0), (0, 1)), links((1, 0), (1, 2))) == links((0, 0), (1, 2))


def literal(forward: LinkSet, backward: LinkSet, size: int) -> set[tuple[int, int]]:
    """GROW-DIAG-FINAL-AND as the pseudo-code reads: loops over all e (target) and f (source)."""
    e2f, f2e = {(e, f) for f, e in forward}, {(e, f) for f, e in backward}
    alignment = e2f & f2e

    def aligned_e(e: int) -> bool:
        return any(point[0] == e for point in alignment)

    def aligned_f(f: int) -> bool:
        return any(point[1] == f for point in alignment)

    added = True
    while added:
        added = False
        for e in range(size):
            for f in range(size):
                if (e, f) not in alignment:
                    continue
                for de, df in ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                    new = (e + de, f + df)
                    if (not aligned_e(new[0]) or not aligned_f(new[1])) and new in e2f | f2e:
                        alignment.add(new)
                        added = True
    for direction in (e2f, f2e):
        for e in range(size):
            for f in range(size):
                if not aligned_e(e) and not aligned_f(f) and (e, f) in direction:
                    alignment.add((e, f))
    return {(f, e) for e, f in alignment}


SIZE = 6
sets = st.frozensets(st.builds(Link, st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=14)


@given(forward=sets, backward=sets)
def test_against_the_pseudo_code(forward: LinkSet, backward: LinkSet) -> None:
    assert grow_diag_final_and(forward, backward) == literal(forward, backward, SIZE)


@given(forward=sets, backward=sets)
def test_all_lie_between_intersection_and_union(forward: LinkSet, backward: LinkSet) -> None:
    for symmetry in SYMMETRIES.values():
        assert intersect(forward, backward) <= symmetry(forward, backward) <= union(forward, backward)
        assert symmetry(forward, forward) == forward
