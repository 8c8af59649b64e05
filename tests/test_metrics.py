from typing import Any

import jiwer
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.metrics import (
    Scored,
    accuracy,
    answer_words,
    bleu,
    chrf,
    crr,
    exact_match,
    expression_rate,
    macro_f1,
    rouge,
    symbol_error,
    ter,
    wer,
    word_error_rate,
    word_f1,
    wrr,
)

OUTPUTS = ["The cat sat on the mat.", "A dog runs fast!", "It's raining again, they say."]
FIRST = ["The cat is sitting on the mat.", "The dog runs very fast!", "It is raining again, they say."]
REFERENCES = [[text] for text in FIRST]
SECOND = ["On the mat sat the cat.", "A dog runs fast.", "They say that it's raining."]

sentences = st.lists(st.sampled_from(["a", "b", "c", "dd"]), min_size=1, max_size=7).map(" ".join)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5)


def test_accuracy_takes_any_reference() -> None:
    assert accuracy(["a", "b", "c", "d"], [["x", "a"], ["b"], ["d"], ["c", "e"]]) == 50
    assert accuracy([["k", "a"], ["t"]], [[["k", "a"]], [["t", "t"]]]) == 50
    assert wer(["a", "b", "c", "d"], [["x", "a"], ["b"], ["d"], ["c", "d"]]) == 25


def test_symbol_error_by_hand() -> None:
    # kitten → sitting: 3 edits over 7 symbols; "ab" → "ab": none over 2.
    assert symbol_error(["kitten", "ab"], [["sitting"], ["ab"]]) == pytest.approx(300 / 9)


def test_symbols_may_be_longer_than_a_letter() -> None:
    assert symbol_error([["AH0", "T"]], [[["AH1", "T"]]]) == 50


def test_symbol_error_takes_the_closest_reference() -> None:
    # 2 edits in 4 are closer than 1 edit in 1.
    assert symbol_error(["ab"], [["a", "abcd"]]) == 50
    # Equally close: the first counts, (1 + 0) / (2 + 2), not (2 + 0) / (4 + 2).
    assert symbol_error(["ab", "qr"], [["ax", "abcd"], ["qr"]]) == 25
    assert symbol_error(["ab", "qr"], [["abcd", "ax"], ["qr"]]) == pytest.approx(100 / 3)


def test_symbol_error_may_pass_a_hundred_and_survives_emptiness() -> None:
    assert symbol_error(["abc"], [["x"]]) == 300
    assert symbol_error([""], [["ab"]]) == 100
    assert symbol_error([""], [[""]]) == 0


@given(corpora)
def test_word_and_character_error_agree_with_jiwer(pairs: list[tuple[str, str]]) -> None:
    outputs, references = [output for output, _ in pairs], [reference for _, reference in pairs]
    options = [[reference] for reference in references]
    assert word_error_rate(outputs, options) == pytest.approx(100 * jiwer.wer(references, outputs))
    assert symbol_error(outputs, options) == pytest.approx(100 * jiwer.cer(references, outputs))


def test_recognition_rates_are_what_errors_leave() -> None:
    assert crr(["kitten", "ab"], [["sitting"], ["ab"]]) == pytest.approx(100 - 300 / 9)
    assert crr(["abc"], [["x"]]) == -200
    assert wrr(["the cat sat"], [["the cat is sad"]]) == 50


def test_expressions_may_be_forgiven_a_few_symbols() -> None:
    """None, one and two edits, the last by the nearer of two references."""
    outputs = [["x", "^", "2"], ["\\frac", "1", "2"], ["a", "+"]]
    references = [[["x", "^", "2"]], [["\\frac", "1", "3"]], [["a"] * 9, ["a", "+", "b", "c"]]]
    assert [expression_rate(outputs, references, errors) for errors in range(3)] == pytest.approx(
        [100 / 3, 200 / 3, 100]
    )


def test_bleu_is_sacrebleu_on_finished_text() -> None:
    metric = sacrebleu.BLEU()
    expected = metric.corpus_score(OUTPUTS, [FIRST]).score
    assert bleu(OUTPUTS, REFERENCES) == Scored(expected, str(metric.get_signature()))
    assert expected == sacrebleu.corpus_bleu(OUTPUTS, [FIRST]).score
    assert "nrefs:1|case:mixed" in bleu(OUTPUTS, REFERENCES).signature
    assert "tok:13a" in bleu(OUTPUTS, REFERENCES).signature


def test_bleu_by_hand() -> None:
    # 4 of 5, 3 of 4, 2 of 3 and 1 of 2 n-grams are right, no brevity penalty: (4/5 · 3/4 · 2/3 · 1/2)^(1/4).
    assert bleu(["a b c d x"], [["a b c d e"]]).score == pytest.approx(100 * 0.2**0.25)


def test_several_references_and_not_equally_many() -> None:
    both = [[*options, second] for options, second in zip(REFERENCES, SECOND, strict=True)]
    streams = [FIRST, SECOND]
    assert bleu(OUTPUTS, both).score == sacrebleu.corpus_bleu(OUTPUTS, streams).score
    uneven = [both[0], REFERENCES[1], both[2]]
    repeated = [both[0], REFERENCES[1] * 2, both[2]]
    for measure in (bleu, chrf, ter):
        assert measure(OUTPUTS, uneven).score == pytest.approx(measure(OUTPUTS, repeated).score)
    assert "nrefs:var" in bleu(OUTPUTS, uneven).signature


def test_the_first_source_may_have_the_fewest_references() -> None:
    assert bleu(["a b c d", "e f g h"], [["a b c d"], ["x", "e f g h"]]).score == pytest.approx(100)


def test_chrf_and_ter_are_sacrebleu() -> None:
    streams = [FIRST]
    assert chrf(OUTPUTS, REFERENCES).score == sacrebleu.corpus_chrf(OUTPUTS, streams).score
    assert ter(OUTPUTS, REFERENCES, lowercase=True).score == sacrebleu.corpus_ter(OUTPUTS, streams).score
    assert "nc:6" in chrf(OUTPUTS, REFERENCES).signature


@pytest.mark.parametrize(("measure", "best"), [(bleu, 100), (chrf, 100), (ter, 0)])
def test_case_counts_unless_told(measure: Any, best: float) -> None:
    shouted = [text.upper() for text in OUTPUTS]
    same = [[text] for text in OUTPUTS]
    assert measure(shouted, same, lowercase=True).score == pytest.approx(best)
    assert measure(shouted, same).score != pytest.approx(best)
    assert measure(shouted, same).signature != measure(shouted, same, lowercase=True).signature


@pytest.mark.parametrize(
    "measure", [accuracy, wer, symbol_error, word_error_rate, crr, wrr, expression_rate, bleu, chrf, ter]
)
def test_what_cannot_be_measured(measure: Any) -> None:
    with pytest.raises(DataError, match="nothing to measure"):
        measure([], [])
    with pytest.raises(DataError, match="2 outputs for 1"):
        measure(["a", "b"], [["a"]])
    with pytest.raises(DataError, match="output 2 has no reference"):
        measure(["a", "b"], [["a"], []])


def test_macro_f1_by_hand() -> None:
    outputs, references = ["a", "a", "b", "c"], [["a"], ["b"], ["b"], ["d"]]
    # a: 2·1 / (2 + 1), b: 2·1 / (1 + 2), c and d: 0
    assert macro_f1(outputs, references) == pytest.approx(100 * (2 / 3 + 2 / 3) / 4)
    assert macro_f1(["a", "b"], [["a"], ["b"]]) == 100


def test_macro_f1_counts_rare_classes_as_much_as_frequent_ones() -> None:
    outputs, references = ["a"] * 10, [["a"]] * 9 + [["b"]]
    assert accuracy(outputs, references) == 90
    assert macro_f1(outputs, references) == pytest.approx(100 * (18 / 19) / 2)


def test_of_several_classes_that_would_be_right_the_one_given_counts() -> None:
    assert macro_f1(["b", "c"], [["a", "b"], ["a", "b"]]) == pytest.approx(100 * 1 / 3)  # b right, c given, a wanted


def test_rouge_tells_words_apart_that_differ_in_a_vowel_sign() -> None:
    assert rouge(["वह की"], [["वह के"]]) == pytest.approx((50, 0, 50))
    assert rouge(["«मेरा घर»"], [["मेरा-घर"]]) == pytest.approx((100, 100, 100))


def test_rouge_by_hand() -> None:
    # 3 of 6 and of 7 words: 2 · 3 / 13; pairs: "the cat" of 5 and 6; longest common subsequence: the cat the
    found = rouge(["The cat saw the big dog."], [["the cat was found under the bed"]])
    assert found == pytest.approx((600 / 13, 200 / 11, 600 / 13))
    # police killed the gunman: Lin 2004, 3.1; with F1, of 4 words each: 3 and 2 in order, one pair each
    lin = [["police killed the gunman"]]
    assert rouge(["police kill the gunman"], lin) == pytest.approx((75, 100 / 3, 75))
    assert rouge(["the gunman kill police"], lin) == pytest.approx((75, 100 / 3, 50))


def test_rouge_takes_the_best_reference_and_the_mean_of_outputs() -> None:
    assert rouge(["a b", "c"], [["x", "a b"], ["d"]]) == pytest.approx((50, 50, 50))
    assert rouge(["a b c"], [["a c", "b a c d"]]).rougeL == pytest.approx(80)


def test_rouge_counts_a_word_as_often_as_both_have_it() -> None:
    assert rouge(["the the the"], [["the cat"]]).rouge1 == pytest.approx(40)


def test_rouge_survives_emptiness_and_knows_all_scripts() -> None:
    assert rouge([""], [["a"]]) == (0, 0, 0)
    assert rouge(["."], [["!"]]) == (0, 0, 0)
    assert rouge(["Größe – नमस्ते_x"], [["größe, नमस्ते x"]]).rouge1 == 100


def test_answers_are_compared_as_squad_does() -> None:
    assert answer_words("The  Cat's a-sat, an (owl)!") == ["cats", "asat", "owl"]
    outputs = ["the cat sat", "Dog!", "a", "owl"]
    references = [["Cat sat."], ["cat", "dog"], ["the"], ["owls"]]
    assert exact_match(outputs, references) == 75
    assert word_f1(outputs, references) == 75


def test_word_f1_by_hand_and_with_the_best_reference() -> None:
    # 2 words shared of 3 and 4, each as often as it stands in both: 2 · 2 / 7; the other reference shares 1 of 3 and 1
    assert word_f1(["x x y"], [["x y z w"]]) == pytest.approx(400 / 7)
    assert word_f1(["x x y"], [["y", "x y z w"]]) == pytest.approx(400 / 7)
    assert word_f1(["x x y"], [["x x"]]) == pytest.approx(80)
    assert word_f1(["", "b"], [["b"], [""]]) == 0
