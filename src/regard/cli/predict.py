"""`regard predict`"""

from itertools import compress
from typing import Any

import click

from regard.cli.opening import open_run
from regard.cli.options import DEVICES, SEEDS
from regard.console import Remarks, print_prediction, sources, spared
from regard.errors import DataError, UsageError


@click.command(short_help="Answer texts with a trained run.")
@click.argument("run")
@click.argument("text", nargs=-1)
@click.option("--input", "file", help="File with one source a line, or - for stdin.")
@click.option("--skip-bad-lines", is_flag=True, help="Answer lines that cannot be read by empty ones, and count them.")
@click.option("--beam", type=int, help="Hypotheses kept side by side; 1 is greedy. The recipe's by default.")
@click.option("--nbest", type=int, default=0, help="Print this many answers to each source, best first.")
@click.option("--batch-size", type=int, default=64, show_default=True, help="Sources answered at once.")
@click.option("--prefix", default="", help="Every answer begins with this.")
@click.option(
    "--features",
    "--beside",
    "features",
    default="",
    help="What is read beside every TEXT, for tasks that do so: features ('V;PST;3;SG'), a hypothesis, a question.",
)
@click.option("--ensemble", multiple=True, metavar="RUN", help="Further runs that answer together with RUN.")
@click.option("--sample", is_flag=True, help="Draw the answer by chance instead of looking for the best.")
@click.option("--temperature", type=float, default=1.0, show_default=True, help="With --sample.")
@click.option("--top-k", type=int, default=0, show_default="all", help="With --sample: only the k likeliest symbols.")
@click.option(
    "--top-p",
    type=float,
    default=1.0,
    show_default=True,
    help="With --sample: only the likeliest symbols with this mass.",
)
@click.option("--seed", type=SEEDS, default=1, show_default=True, help="With --sample.")
@click.option("--length-penalty", type=float, help="Score = log p / length^this.")
@click.option("--coverage-penalty", type=float, help="Weight of unread source places in the score.")
@click.option("--ctc", type=float, help="Weight of CTC's log p in the score, where the run has CTC.")
@click.option("--reverse", type=float, help="The same of the decoder from the end, where the run has one.")
@click.option("--no-repeat", type=int, help="Never write the same N symbols twice.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--attention", is_flag=True, help="Draw where each answer looked.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with attention.")
def predict(
    run: str,
    text: tuple[str, ...],
    file: str | None,
    skip_bad_lines: bool,
    beam: int | None,
    nbest: int,
    batch_size: int,
    prefix: str,
    features: str,
    ensemble: tuple[str, ...],
    sample: bool,
    temperature: float,
    top_k: int,
    top_p: float,
    seed: int,
    length_penalty: float | None,
    coverage_penalty: float | None,
    ctc: float | None,
    reverse: float | None,
    no_repeat: int | None,
    device: str,
    attention: bool,
    as_json: bool,
) -> None:
    """Answer TEXT…, or each line of --input, with a trained RUN (a folder, a hub id, or what export wrote).

    \b
    Example:
      regard predict runs/en attention regard --beam 5 --nbest 3
      regard predict runs/en --input words.txt --json > answers.jsonl
      regard predict runs/de absetzen --features 'V;IND;PST;3;SG'
    """
    from regard.data.rows import BadLine

    loaded = open_run(run, device)
    loaded = loaded.join(*(open_run(other, device) for other in ensemble))
    if skip_bad_lines and text:
        raise UsageError("--skip-bad-lines is for lines of --input; leave out the TEXT that cannot be read")
    try:
        read = sources(loaded, text, file, features, skip_bad_lines)
    except BadLine as error:
        raise DataError(f"{error} (--skip-bad-lines passes over it)") from error
    examples = read.examples
    given = {
        "beam": beam,
        "length_penalty": length_penalty,
        "coverage_penalty": coverage_penalty,
        "ctc": ctc,
        "reverse": reverse,
        "no_repeat": no_repeat,
    }
    call: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if beam is None and not sample:
        call |= loaded.widened(nbest)
    call |= {"nbest": nbest, "prefix": prefix, "batch_size": batch_size}
    call |= {"sampling": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    asked = [bool(example.source or text) for example in examples]  # an empty TEXT got so far only if it has an answer
    if skip_bad_lines:
        asked = spared(loaded, read, asked)
    remarks = Remarks()
    try:
        answers = loaded.answers(list(compress(examples, asked)), **call)
        for number, one in enumerate(asked, 1):
            prediction = next(answers) if one else None
            if prediction is not None:
                remarks.note(prediction)
            print_prediction(number, prediction, nbest, as_json, attention)
    except DataError as error:
        if text or skip_bad_lines:
            raise
        raise DataError(f"{error} (--skip-bad-lines passes over it)") from error
    finally:
        remarks.say()
