"""Weights with their labels become pictures: in the terminal, as SVG, PNG, PDF, GIF, interactive HTML and JSON."""

from regard.pictures.heatmap import svg as svg
from regard.pictures.page import draw_html as draw_html
from regard.pictures.panel import Panel as Panel
from regard.pictures.raster import png_bytes as png_bytes
from regard.pictures.saving import draw_svg as draw_svg
from regard.pictures.saving import read as read
from regard.pictures.saving import save as save
from regard.pictures.scene import Clip as Clip
from regard.pictures.scene import Outline as Outline
from regard.pictures.scene import Plane as Plane
from regard.pictures.scene import Scene as Scene
from regard.pictures.showing import draw_text as draw_text
from regard.pictures.showing import show as show
from regard.pictures.terminal import heat_map as heat_map
