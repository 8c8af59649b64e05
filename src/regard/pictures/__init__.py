"""Weights and labels → pictures one can look at: in the terminal, as SVG."""

from regard.pictures.heatmap import svg as svg
from regard.pictures.terminal import heat_map as heat_map
