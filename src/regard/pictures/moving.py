"""A drawing as GIF: its turns one after the other, for places that show no SVG."""

import io

from regard.pictures.drawing import Drawing, parted
from regard.pictures.markup import SECONDS
from regard.pictures.paint import layer

COMMENT, EXTENSION = 0xFE, 0x21


def gif(drawing: Drawing, numbers: str) -> bytes:
    """As many frames as the drawing has turns, or one; `numbers` are kept in a comment. What stays is painted once."""
    still, over = parted(drawing)
    painted = [layer(one) for one in (still, *over)]
    from PIL import Image  # comes with matplotlib, which has painted

    ground, *turns = [Image.open(io.BytesIO(one)).convert("RGBA") for one in painted]
    frames = [Image.alpha_composite(ground, turn) for turn in turns] or [ground]
    first, *others = [frame.convert("RGB").quantize() for frame in frames]
    target = io.BytesIO()
    clock = {"duration": round(1000 * SECONDS), "loop": 0}
    first.save(target, "GIF", save_all=True, append_images=others, comment=numbers.encode("ascii"), **clock)
    return target.getvalue()


def comment(content: bytes) -> str:
    """What `gif` kept: it stands in pieces of 255 bytes, in a block between the colours and the first frame."""
    try:
        place = 13 + (3 << (content[10] & 7) + 1 if content[10] & 128 else 0)
        while content[place] == EXTENSION:
            kind, place, body = content[place + 1], place + 2, []
            while length := content[place]:
                body.append(content[place + 1 : place + 1 + length])
                place += 1 + length
            place += 1
            if kind == COMMENT:
                return b"".join(body).decode("ascii")
    except IndexError:  # it is no GIF, or a part of one
        pass
    return ""
