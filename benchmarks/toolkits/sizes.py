"""The sizes of the race: how much data, how large a model. The same for all toolkits."""

from typing import NamedTuple

BATCH = 64
LEARN_BATCH = 16  # more updates in less time, for the models that decode
LONGEST = 50  # symbols; longer pairs are left out
DROPOUT = 0.2
RATE = 0.001
CLIP = 1.0
DECODED = 2000
SINGLES = 50  # items answered one by one
BEAM = 5


class Size(NamedTuple):
    name: str
    task: str
    pairs: int  # of the measured epoch
    learn_pairs: int  # of the model that decodes
    learn_epochs: int
    embed: int
    hidden: int  # of the decoder; each direction of the encoder has half
    layers: int
    vocabulary: int = 0  # symbols on either side; 0 is what the data has
    decoded: int = DECODED

    def quick(self) -> "Size":
        """A tenth of the data and a quarter of the width: to see whether everything runs, not how fast."""
        return self._replace(
            pairs=self.pairs // 10,
            learn_pairs=self.learn_pairs // 10,
            vocabulary=self.vocabulary // 10,
            embed=self.embed // 4,
            hidden=self.hidden // 4,
            decoded=self.decoded // 10,
        )


SIZES = {
    size.name: size
    for size in (
        Size("pronounce", "pronounce", 20_000, 20_000, 1, embed=128, hidden=256, layers=1),
        Size("transliterate", "transliterate", 2_000, 16_000, 1, embed=128, hidden=512, layers=1),
        Size("translate8k", "translate", 500, 6_000, 2, embed=512, hidden=512, layers=2, vocabulary=8_000),
        Size("translate32k", "translate", 500, 3_000, 3, embed=512, hidden=512, layers=2, vocabulary=32_000),
    )
}


def size_of(name: str, quick: bool) -> Size:
    return SIZES[name].quick() if quick else SIZES[name]
