from pathlib import Path

import pytest

from regard.analysis.compare.cost import weights_computed
from regard.run import Run
from regard.settings import build
from tests.tiny import CODEC, EXAMPLES, model

# S · (T + 1), the step that writes the end included: cab → uvw, fedcbaf → y, e → wwxyu, badefc → xu, ff → vyxwvux,
# decaf → wxvu, abba → yyuxwv
BY_HAND = 3 * 4 + 7 * 2 + 1 * 6 + 6 * 3 + 2 * 8 + 5 * 5 + 4 * 7


def run(longest: int = 1000, **options: object) -> Run:
    chosen = {f"model.{key}": value for key, value in options.items()}
    return Run(Path(), build({**chosen, "data.longest": longest}, "test"), CODEC, [model(**options)])


@pytest.mark.parametrize(
    ("options", "times"),
    [
        ({}, 1),
        ({"score": "dot"}, 1),
        ({"window": 2}, 1),
        ({"attention": "monotonic"}, 1),
        ({"heads": 2}, 2),
        ({"attention": "none"}, 0),
        ({"attention": "fixed"}, 0),
    ],
)
def test_a_weight_for_each_head_source_place_and_step(options: dict[str, object], times: int) -> None:
    assert BY_HAND == 119
    assert weights_computed(run(**options), EXAMPLES) == times * BY_HAND


def test_it_is_how_many_the_decoder_gives(tmp_path: Path) -> None:
    """Forced decoding shows a row for each symbol, and the step of the end has one more."""
    reader = run()
    rows = [one.attention for one in reader.force_examples(EXAMPLES)]
    assert all(row is not None for row in rows)
    shown = sum(row.size + row.shape[1] for row in rows if row is not None)
    assert weights_computed(reader, EXAMPLES) == shown


def test_pairs_too_long_to_be_read_cost_nothing() -> None:
    assert weights_computed(run(longest=5), EXAMPLES) == 3 * 4 + 1 * 6 + 5 * 5
    assert weights_computed(run(longest=6), EXAMPLES) == BY_HAND - 7 * 2 - 2 * 8
