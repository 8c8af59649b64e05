"""regard: `regard.train` with evaluation and saving left to the end, `run.predict` with attention in every answer."""

from pathlib import Path
from unittest.mock import patch

import regard
from regard.training.loop import Trainer
from toolkits.clock import Clock
from toolkits.part import Answer, Job, main
from toolkits.sizes import CLIP, DROPOUT, RATE


def train(job: Job, clock: Clock) -> None:
    class Timed(Trainer):
        """Starts with the first update; stops after the last, before the evaluation."""

        def run(self) -> None:
            clock.start()
            super().run()

        def _close_epoch(self) -> None:
            clock.stop()
            super()._close_epoch()

    size = job.size
    options = {
        "source.symbols": "tokens",
        "target.symbols": "tokens",
        "model.embed": size.embed,
        "model.hidden": size.hidden,
        "model.compare": size.hidden,
        "model.readout": size.hidden,
        "model.encoder_layers": size.layers,
        "model.decoder_layers": size.layers,
        "model.tie": False,
        "model.ctc": 0.0,
        "model.reverse": 0.0,
        "model.dropout": DROPOUT,
        "training.batch_size": job.batch,
        "training.batch_tokens": 1_000_000,
        "training.learning_rate": RATE,
        "training.schedule": "constant",
        "training.warmup": 0,
        "training.clip": CLIP,
        "training.smoothing": 0.0,
        "training.average": "none",
        "training.evaluate_every": job.epochs,
        "training.save_seconds": 1_000_000,
    }
    with patch("regard.training.Trainer", Timed):
        regard.train(
            f"{job.pairs}.tsv",
            task=size.task,
            dev=job.data / "dev.tsv",
            out=job.model,
            epochs=job.epochs,
            device="cpu",
            set=options,
            progress=False,
        )


def load(job: Job) -> Answer:
    run = regard.load(job.model, device="cpu")

    def answer(lines: list[str]) -> list[str]:
        return [one.output for one in run.predict(lines, beam=job.beam)]

    return answer


def weights(model: Path) -> int:
    return (model / "model.safetensors").stat().st_size


if __name__ == "__main__":
    main(train, load, weights)
