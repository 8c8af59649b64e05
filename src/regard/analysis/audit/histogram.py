"""A small histogram as inline SVG; colours come from the page around it."""

from xml.sax.saxutils import escape, quoteattr

import numpy as np

from regard.analysis.audit.walking import Array

WIDTH, HEIGHT, BINS = 260, 84, 20
FOOT = 16  # room for the scale below the bars


def histogram(numbers: Array, lowest: float, highest: float, title: str) -> str:
    """How many of the numbers lie in each twentieth of the range; the dashed line is their mean."""
    counts, edges = np.histogram(numbers.clip(lowest, highest), BINS, (lowest, highest))
    top, width = max(int(counts.max()), 1), WIDTH / BINS
    bars = []
    for number, count in enumerate(counts.tolist()):
        tall = (HEIGHT - FOOT) * count / top
        place = f'x="{number * width + 0.5:.1f}" y="{HEIGHT - FOOT - tall:.1f}"'
        size = f'width="{width - 1:.1f}" height="{tall:.1f}"'
        told = f"{edges[number]:.2f} … {edges[number + 1]:.2f}: {count}"
        bars.append(f'<rect class="bar" {place} {size}><title>{escape(told)}</title></rect>')
    return "\n".join([_opening(title), *bars, _mean(float(numbers.mean()), lowest, highest), *_scale(lowest, highest)])


def _opening(title: str) -> str:
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="histogram" {size} role="img" aria-label={quoteattr(title)}>'


def _mean(mean: float, lowest: float, highest: float) -> str:
    x = f"{WIDTH * (mean - lowest) / (highest - lowest):.1f}"
    return f'<line class="mean" x1="{x}" x2="{x}" y1="0" y2="{HEIGHT - FOOT}"><title>mean {mean:.3f}</title></line>'


def _scale(lowest: float, highest: float) -> list[str]:
    foot = f'y="{HEIGHT - 3}" class="scale"'
    ends = [f'<text x="0" {foot}>{lowest:g}</text>', f'<text x="{WIDTH}" {foot} text-anchor="end">{highest:g}</text>']
    return [*ends, "</svg>"]
