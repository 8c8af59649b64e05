"""Two directions of links → one. Each model links every word it writes; where both read, they correct each other.

`forward` has a link for each target word (a model source → target), `backward` one for each source word.
"""

from collections.abc import Callable, Iterator

from regard.data.links import Link

LinkSet = frozenset[Link]
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))  # target, source


def intersect(forward: LinkSet, backward: LinkSet) -> LinkSet:
    """What both say: precise."""
    return forward & backward


def union(forward: LinkSet, backward: LinkSet) -> LinkSet:
    """What either says: complete."""
    return forward | backward


def grow_diag_final_and(forward: LinkSet, backward: LinkSet) -> LinkSet:
    """From the intersection towards the union (Koehn, Axelrod, Mayne et al. 2005).

    grow-diag: again and again, a link of the union beside one that is there (sideways, up, down or diagonal) joins if
    its source word or its target word has no link yet. final-and: then any link of `forward`, after them of
    `backward`, joins if both of its words have none. Links are visited by target word, then by source word; a link
    that joins counts at once.
    """
    grown = Grown(forward & backward)
    either = forward | backward
    while grown.grow(either):
        pass
    for direction in (forward, backward):
        for link in _in_order(direction):
            if link.source not in grown.sources and link.target not in grown.targets:
                grown.add(link)
    return frozenset(grown.links)


class Grown:
    """The links so far, and the words that have one."""

    def __init__(self, links: LinkSet):
        self.links = set(links)
        self.sources = {link.source for link in links}
        self.targets = {link.target for link in links}

    def add(self, link: Link) -> None:
        self.links.add(link)
        self.sources.add(link.source)
        self.targets.add(link.target)

    def places(self) -> Iterator[Link]:
        """The links in order of target and source; also those that joined in the meantime, further on."""
        last = Link(-1, -1)
        while ahead := [link for link in self.links if _rank(link) > _rank(last)]:
            last = min(ahead, key=_rank)
            yield last

    def grow(self, either: LinkSet) -> bool:
        """One round over all links; whether any neighbour joined."""
        before = len(self.links)
        for link in self.places():
            for down, right in NEIGHBOURS:
                new = Link(link.source + right, link.target + down)
                if new in either and (new.source not in self.sources or new.target not in self.targets):
                    self.add(new)
        return len(self.links) > before


def _rank(link: Link) -> tuple[int, int]:
    return link.target, link.source


def _in_order(links: LinkSet) -> list[Link]:
    return sorted(links, key=_rank)


SYMMETRIES: dict[str, Callable[[LinkSet, LinkSet], LinkSet]] = {
    "intersect": intersect,
    "union": union,
    "grow-diag-final-and": grow_diag_final_and,
}
