"""The table of a race, from its raw numbers."""

from typing import Any, NamedTuple

from toolkits.sizes import BATCH, BEAM, DROPOUT, SINGLES

Race = dict[str, Any]


class Best(NamedTuple):
    wall: float
    cpu: float
    symbols: float
    size: int  # of the model's file, where it is told


def render(race: Race) -> str:
    """Markdown: what ran where, then a table per size and number of threads."""
    machine = race["machine"]
    lines = [
        f"{race['date']}, {machine['cpu']}, {machine['cores']} cores, load {machine['load']} before; the best of each "
        "table's rounds, toolkits in turn within a round.",
        "",
        *(f"    {command}" for command in race["commands"]),
        "",
        *(f"- {name}: {_listed(found)}" for name, found in race["versions"].items()),
        "",
        *(
            f"- matrix products, {threads} thread(s): {peak / 1e9:.0f} GFLOP/s"
            for threads, peak in race["peak"].items()
        ),
    ]
    for size in race["sizes"]:
        for threads in sorted({one["threads"] for one in race["records"] if one["size"] == size}):
            lines += ["", *_section(race, size, threads)]
    return "\n".join(lines)


def _section(race: Race, name: str, threads: int) -> list[str]:
    size = race["sizes"][name]
    decoded = f"{size['decoded']:,}"
    head = ["", "train 1 epoch", "CPU", "GFLOP", "of peak", f"greedy {decoded}", "CPU", f"beam {BEAM}, {decoded}"]
    head += ["CPU", f"one item, median of {SINGLES}", "symbols per answer", "file"]
    ran = {one["toolkit"] for one in race["records"] if one["size"] == name and one["threads"] == threads}
    rows = [[toolkit, *_cells(race, name, threads, toolkit)] for toolkit in race["versions"] if toolkit in ran]
    rows += [_ratios(race, name, threads)]
    filler = f" and {size['filler']:,} that fill the vocabulary" if size["filler"] else ""
    about = (
        f"{size['pairs']:,} pairs{filler}, embeddings {size['embed']}, encoder 2×{size['hidden'] // 2}, decoder "
        f"{size['hidden']}, {size['layers']} layer(s), {size['target_symbols']:,} target symbols, batch {BATCH}, "
        f"dropout {DROPOUT}"
    )
    here = {one["round"] for one in race["records"] if one["size"] == name and one["threads"] == threads}
    title = f"### {name}, {threads} thread{'s' if threads > 1 else ''}, {len(here)} round{'s' if len(here) > 1 else ''}"
    table = [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]
    return [title, "", about, "", *table, *_unlike(race, name, threads)]


def _cells(race: Race, size: str, threads: int, toolkit: str) -> list[str]:
    train, greedy, beam, single = (_best(race, size, threads, toolkit, part) for part in PARTS)
    flops = race["sizes"][size]["flops"].get(toolkit, 0.0)
    share = flops / train.wall / race["peak"][str(threads)] if train else 0.0
    return [
        *_times(train),
        f"{flops / 1e9:,.0f}" if train else MISSING,
        f"{share:.2f}" if train else MISSING,
        *_times(greedy),
        *_times(beam),
        f"{single.wall * 1000:.1f} ms" if single else MISSING,
        f"{greedy.symbols:.1f}, {beam.symbols:.1f}" if greedy and beam else MISSING,
        f"{greedy.size / 1e6:.1f} MB" if greedy and greedy.size else MISSING,
    ]


def _ratios(race: Race, size: str, threads: int) -> list[str]:
    """How many times faster the first toolkit (ours) is than the fastest of the others."""
    ours, *others = race["versions"]
    peers = [name for name in others if not name.startswith(ours)]  # our own graphs are none
    cells = []
    for part in PARTS:
        mine = _best(race, size, threads, ours, part)
        others = [best for peer in peers if (best := _best(race, size, threads, peer, part))]
        fastest = min(others, default=None)
        cells.append(f"**{fastest.wall / mine.wall:.2f}×**" if mine and fastest else MISSING)
    train, greedy, beam, single = cells
    return [f"{ours} against the fastest peer", train, "", "", "", greedy, "", beam, "", single, "", ""]


def _unlike(race: Race, size: str, threads: int) -> list[str]:
    """A warning where one toolkit's answers are much longer than another's."""
    for part in ("greedy", "beam"):
        found = [best.symbols for toolkit in race["versions"] if (best := _best(race, size, threads, toolkit, part))]
        if found and max(found) > ALIKE * min(found):
            return ["", f"Answers differ in length by more than {ALIKE}×: compare decoding times with care."]
    return []


def _best(race: Race, size: str, threads: int, toolkit: str, part: str) -> Best | None:
    wanted = {"size": size, "threads": threads, "toolkit": toolkit, "part": part}
    found = [record for record in race["records"] if wanted.items() <= record.items() and "error" not in record]
    return min(
        (Best(one["wall"], one["cpu"], one.get("symbols", 0.0), one.get("bytes", 0)) for one in found), default=None
    )


def _times(best: Best | None) -> list[str]:
    return [f"{best.wall:.2f} s", f"{best.cpu:.1f}"] if best else [MISSING, MISSING]


def _listed(found: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


MISSING = "–"
ALIKE = 1.3
PARTS = ("train", "greedy", "beam", "single")
