"""Biases, agreement and given links change what attention learns, in the direction they should."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.agreement import backward_half
from regard.data.batching import Padded
from regard.data.readers import Example
from regard.errors import DataError
from regard.model import EncoderDecoder
from regard.recipe import Model, Recipe, Side
from regard.settings import build as recipe_of
from regard.tasks import sequence
from regard.tasks.codec import Codec
from regard.tasks.sequence import batch, build, encode, loss
from tests.command import backwards, done, refused, regard, train, words, write

SIZES = {"embed": 16, "hidden": 32, "compare": 16, "readout": 16, "dropout": 0.0}


def copies(count: int = 64, length: int = 9) -> list[Example]:
    """Words of two letters: what is around a place says little about which place it is."""
    draw = random.Random(1)
    texts = ["".join(draw.choice("ab") for _ in range(length)) for _ in range(count)]
    links = " ".join(f"{j}-{j}" for j in range(length))
    return [Example(text, text.upper(), where=links) for text in texts]


def learn(examples: list[Example], updates: int, **options: Any) -> tuple[EncoderDecoder, Any]:
    """A small model after so many updates on all the examples at once, and their batch."""
    torch.manual_seed(0)
    codec = Codec.learn(examples, Side(), Side(), features=False, lowercase=False)
    made = build(codec, Recipe(model=Model(**{**SIZES, **options})))
    given = batch(encode(codec, examples), list(range(len(examples))))
    rule = torch.optim.Adam(made.parameters(), lr=0.01)
    for _ in range(updates):
        rule.zero_grad()
        told = loss(made, given)
        (told.total / told.symbols).backward()
        rule.step()
    return made, given


@torch.no_grad()
def looks(made: EncoderDecoder, given: Any) -> Tensor:
    """Weights (B, T, S) of all symbols but END."""
    weights: Tensor = made(given.source, given.target.data[:, :-1]).weights[:, :-1]
    return weights


def on_diagonal(weights: Tensor) -> float:
    return float(weights.diagonal(dim1=1, dim2=2).mean())


@pytest.mark.parametrize("term", ["position", "markov"])
def test_a_diagonal_is_found_sooner(term: str) -> None:
    plain, biased = (on_diagonal(looks(*learn(copies(), 80, terms=terms))) for terms in ((), (term,)))
    assert biased > 0.5
    assert plain < 0.3


def test_supervision_moves_the_weights_onto_the_links() -> None:
    plain, told = (on_diagonal(looks(*learn(copies(), 70, supervision=weight))) for weight in (0.0, 1.0))
    assert told > 0.8
    assert plain < 0.4


@pytest.mark.parametrize("kind", ["cross-entropy", "squared"])
def test_supervision_of_either_kind_follows_links_that_are_not_useful(kind: str) -> None:
    """Places chosen by nobody's language: each symbol is linked to the first place."""
    astray = [Example(one.source, one.target, where=" ".join(f"0-{t}" for t in range(9))) for one in copies()]
    made, given = learn(astray, 30, supervision=3.0, supervision_kind=kind)
    assert float(looks(made, given)[:, :, 0].mean()) > 0.9


def test_agreement_raises_the_trace() -> None:
    def trace(bonus: float) -> float:
        made, given = learn(copies(), 50, agreement=bonus)
        back = backward_half(made)
        assert back is not None
        target, begin = given.target.data[:, 1:-1], given.target.data[:, :1]
        read = back(Padded(target, given.source.lengths), torch.cat([begin, given.source.data], 1)).weights[:, :-1]
        return float((looks(made, given) * read.detach().mT).sum() / len(read))

    alone, paid = trace(0.0), trace(3.0)
    assert 0 < alone < paid <= 9
    assert paid > 1.5 * alone


def test_global_fertility_pulls_what_is_read_towards_its_mean() -> None:
    def missed(weight: float) -> float:
        """How far the places' sums are from one another: a mean of their own is what a copy's places have in common."""
        read = looks(*learn(copies(), 60, fertility=weight)).sum(1)  # (B, S)
        return float((read - read.mean()).abs().mean())

    assert missed(3.0) < 0.7 * missed(0.0)


# -- through the command line --------------------------------------------------------------------------------------


LETTERS = words("abcd", 3, 4)


def mirrored(folder: Path, rows: list[str], name: str = "pairs") -> tuple[Path, Path]:
    """The toy language that reads backwards, and its links."""
    pairs = write(folder / f"{name}.tsv", ((word, backwards(word)) for word in rows))
    links = [" ".join(f"{len(word) - 1 - t}-{t}" for t in range(len(word))) for word in rows]
    return pairs, write(folder / f"{name}.pharaoh", [[line] for line in links])


def mass(run: Path, pairs: Path, gold: Path, *more: object) -> float:
    measures = run / "measures.json"
    done("align", run, pairs, "--gold", gold, "--measures", measures, *more)
    return float(json.loads(measures.read_text())["shifts"]["0"]["mass"])


def test_a_row_whose_links_are_none_can_be_skipped(tmp_path: Path) -> None:
    table = str(write(tmp_path / "pairs.tsv", [("a b", "A B", "0-0"), ("a b", "A B", "0:9"), ("a b", "A B", "")]))
    recipe = recipe_of({"task": "pronounce", "data.where_column": 3}, "here")
    with pytest.raises(DataError, match=r"line 2: '0:9' is no link.*--skip-bad-lines"):
        sequence.read(table, recipe)
    found = sequence.read(table, recipe, skip_bad_lines=True)
    assert ([one.where for one in found.examples], list(found.numbers)) == (["0-0", ""], [0, 2])


def test_given_links_teach_in_few_epochs_where_to_look(tmp_path: Path) -> None:
    pairs, links = mirrored(tmp_path, LETTERS[:250])
    unseen = mirrored(tmp_path, LETTERS[250:300], "unseen")
    told = train(pairs, tmp_path / "told", "--alignments", links, "--set", "model.supervision=3", epochs=5)
    assert told.code == 0, told.err
    assert train(pairs, tmp_path / "plain", epochs=5).code == 0
    assert mass(tmp_path / "told", *unseen) > 0.8
    assert mass(tmp_path / "plain", *unseen) < 0.7


def test_links_stay_with_their_pairs(tmp_path: Path) -> None:
    """Bad lines, a dev part split off and links in a column: what is learnt is the same, weight by weight."""
    rows = LETTERS[:60]
    pairs, links = mirrored(tmp_path, rows)
    linked = zip(pairs.read_text().splitlines(), links.read_text().splitlines(), strict=True)
    table = write(tmp_path / "table.tsv", [[line, link] for line, link in linked])
    broken = tmp_path / "broken.tsv"
    broken.write_text("alone\n" + pairs.read_text())
    more = tmp_path / "more.pharaoh"
    more.write_text("\n" + links.read_text())
    calls: dict[str, tuple[Path, list[object]]] = {
        "file": (pairs, ["--alignments", links]),
        "column": (table, ["--set", "data.where_column=3"]),
        "skipped": (broken, ["--alignments", more, "--skip-bad-lines"]),
    }
    for name, (given, options) in calls.items():
        result = train(given, tmp_path / name, "--recipe", "tiny", "--set", "model.supervision=1", *options)
        assert result.code == 0, result.err
    file, column, skipped = ((tmp_path / name / "model.safetensors").read_bytes() for name in calls)
    assert file == column == skipped


@pytest.mark.parametrize(
    ("lines", "options", "code", "said"),
    [
        ("0-0\n", [], 1, "1 lines for 5 pairs"),
        ("0-0\n0-9\n\n\n\n", [], 1, "line 2: a link leads to target word 10, but that side has 3"),
        ("0-0\n0:0\n\n\n\n", [], 1, "line 2, read as pharaoh: '0:0' is no link"),
        ("\n\n\n\n\n", [], 1, "holds no links at all"),
        ("0-0\n\n\n\n\n", ["--set", "model.supervision=0"], 2, "links and model.supervision need each other"),
        ("0-0\n\n\n\n\n", ["--set", "data.where_column=3"], 2, "leave one of them out"),
        ("0-0\n\n\n\n\n", ["--set", "model.attention=none"], 2, "model.supervision needs weights"),
    ],
)
def test_wrong_links_are_explained(tmp_path: Path, lines: str, options: list[str], code: int, said: str) -> None:
    pairs, links = mirrored(tmp_path, ["abc", "bca", "cab", "abb", "cba"])
    links.write_text(lines)
    given = ["--alignments", links, "--set", "model.supervision=1", *options]
    refused(train(pairs, tmp_path / "run", "--dev", pairs, *given), code, said)
    assert not (tmp_path / "run").exists()


def test_a_supervised_run_without_links_is_refused(few: Path, tmp_path: Path) -> None:
    refused(train(few, tmp_path / "run", "--recipe", "supervised"), 2, "give links by --alignments FILE")


def test_two_directions_that_agree_symmetrise_by_themselves(tmp_path: Path) -> None:
    pairs, unseen = mirrored(tmp_path, LETTERS[:250])[0], mirrored(tmp_path, LETTERS[250:300], "unseen")
    assert train(pairs, tmp_path / "both", "--set", "model.agreement=1", epochs=12).code == 0
    assert mass(tmp_path / "both", *unseen) > 0.8
    one, both = (done("align", tmp_path / "both", unseen[0], *more).out for more in ((), ("--symmetrize", "intersect")))
    for mine, agreed in zip(one.splitlines(), both.splitlines(), strict=True):
        assert set(agreed.split()) <= set(mine.split())
    assert sum(len(line.split()) for line in both.splitlines()) > 0.8 * sum(
        len(line.split()) for line in one.splitlines()
    )
    answers = done("predict", tmp_path / "both", *LETTERS[250:300]).out.splitlines()
    right = sum(answer == backwards(word) for answer, word in zip(answers, LETTERS[250:300], strict=True))
    assert right >= 40
    assert train(pairs, tmp_path / "alone").code == 0
    refused(regard("align", tmp_path / "alone", unseen[0], "--symmetrize", "union"), 2, "add --reverse")


def test_features_cannot_be_written_back(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", ((word, word.upper(), "V;UP") for word in words("ab", 2, 4)))
    refused(
        train(pairs, tmp_path / "run", "--set", "model.agreement=1", task="inflect"), 2, "model.agreement", "features"
    )


@pytest.mark.parametrize(
    ("variant", "task"),
    [
        ("position", "translate"),
        ("markov", "inflect"),
        ("fertility-local", "transliterate"),
        ("fertility-global", "pronounce"),
        ("biases", "translate"),
        ("agreement", "transliterate"),
        ("agreement-biases", "translate"),
    ],
)
def test_every_recipe_trains_and_answers(tmp_path: Path, variant: str, task: str) -> None:
    pairs = write(tmp_path / "copy.tsv", ((word, " ".join(word.upper()), "V;UP") for word in words("ab", 2, 4)))
    sizes = [part for key, value in {**SIZES, "dropout": 0.1}.items() for part in ("--set", f"model.{key}={value}")]
    subwords = ["--set", "source.subwords=20", "--set", "target.subwords=20"]
    result = train(pairs, tmp_path / "run", "--recipe", variant, *sizes, *subwords, task=task)
    assert result.code == 0, result.err
    for answer in done("predict", tmp_path / "run", "abba", "ba", "--beam", 2, "--json").objects:
        assert [sum(row) for row in answer["attention"]] == pytest.approx([1] * len(answer["output_tokens"]), abs=1e-5)
