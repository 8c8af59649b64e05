"""Pillow, or what to install."""

from regard.errors import MissingExtra

try:
    from PIL import Image as Image
    from PIL import ImageDraw as ImageDraw
    from PIL import ImageFilter as ImageFilter
    from PIL import ImageFont as ImageFont
    from PIL import features as features
except ImportError as error:
    raise MissingExtra("pillow", "vision") from error
