"""Marian through pymarian: its training command, and its Translator, which keeps the model loaded.

The clock starts and stops with the lines "Training started" and "Training finished" of its log. What cannot be made
equal: each direction of its encoder is as large as the decoder, its first decoder layer has two cells with attention
between them, and its readout has the size of an embedding; the fraction of peak counts its own matrix products.
Attention is returned (--alignment soft).
"""

import subprocess
import sys

from pymarian import Translator

from toolkits.clock import Clock
from toolkits.part import Answer, Job, main
from toolkits.sizes import BATCH, CLIP, DROPOUT, LONGEST, RATE

MODEL = "model.npz"


def train(job: Job, clock: Clock) -> None:
    job.model.mkdir(parents=True)
    size = job.size
    options = {
        "model": job.model / MODEL,
        "type": "s2s",
        "train-sets": f"{job.pairs}.src {job.pairs}.trg",
        "enc-cell": "lstm",
        "dec-cell": "lstm",
        "enc-depth": size.layers,
        "dec-depth": size.layers,
        "dim-emb": size.embed,
        "dim-rnn": size.hidden,
        "dropout-rnn": DROPOUT,
        "optimizer": "adam",
        "learn-rate": RATE,
        "clip-norm": CLIP,
        "cost-type": "ce-mean-words",
        "mini-batch": job.batch,  # split among the threads
        "after-epochs": job.epochs,
        "max-length": LONGEST + 1,
        "seed": 1,
        "sync-sgd": "",
        "overwrite": "",
    }
    command = [sys.executable, "-m", "pymarian", "train", *_common(job), *_arguments(options)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr
        for line in process.stderr:
            sys.stderr.write(line)
            if "Training started" in line:
                clock.start()
            if "Training finished" in line:
                clock.stop()
    if process.returncode:
        raise SystemExit(f"Marian left with {process.returncode}")


def load(job: Job) -> Answer:
    options = {
        "models": job.model / MODEL,
        "beam-size": job.beam,
        "normalize": 1.0,
        "mini-batch": BATCH,
        "maxi-batch": 100,
        "maxi-batch-sort": "src",
        "max-length-factor": 2,
        "alignment": "soft",
        "quiet": "",
        "quiet-translation": "",
    }
    translator = Translator(" ".join([*_common(job), *_arguments(options)]))

    def answer(lines: list[str]) -> list[str]:
        return [line.partition(" ||| ")[0] for line in translator.translate(lines)]

    return answer


def _common(job: Job) -> list[str]:
    vocabularies = f"{job.model}/source.yml {job.model}/target.yml"
    return _arguments({"vocabs": vocabularies, "cpu-threads": job.threads})


def _arguments(options: dict[str, object]) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name}", *str(value).split())]


if __name__ == "__main__":
    main(train, load)
