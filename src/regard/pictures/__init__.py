"""Weights with their labels become pictures: in the terminal, as SVG, PNG, PDF, interactive HTML and JSON."""

from regard.pictures.heatmap import svg as svg
from regard.pictures.page import draw_html as draw_html
from regard.pictures.panel import Panel as Panel
from regard.pictures.saving import draw_svg as draw_svg
from regard.pictures.saving import read as read
from regard.pictures.saving import save as save
from regard.pictures.terminal import heat_map as heat_map
