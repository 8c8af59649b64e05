"""yoyodyne through its own classes and Lightning's trainer.

Worked around: the torchvision that it pulls cannot be imported beside this torch and is removed. A Lightning callback
holds the clock around the epoch. For answers its batches are made in this process, without the worker that its data
module would start, which is to its advantage; it does not sort by length, and returns no attention.
"""

from typing import Any

import lightning
import torch
from yoyodyne import models, trainers
from yoyodyne.data import DataModule, collators, datasets, mappers
from yoyodyne.models import modules

from toolkits.clock import Clock
from toolkits.part import Answer, Job, main
from toolkits.sizes import BATCH, CLIP, DROPOUT, LONGEST, RATE

WEIGHTS = "weights.pt"


def train(job: Job, clock: Clock) -> None:
    class Timed(lightning.Callback):  # type: ignore[misc]
        def on_train_epoch_start(self, *_: Any) -> None:
            clock.start()

        def on_train_epoch_end(self, *_: Any) -> None:
            clock.stop()

    job.model.mkdir(parents=True)
    data = DataModule(
        model_dir=str(job.model), train=f"{job.pairs}.tsv", source_sep=" ", target_sep=" ", batch_size=job.batch
    )
    model = _model(job, data.vocab_size, data.target_vocab_size)
    _trainer(max_epochs=job.epochs, gradient_clip_val=CLIP, callbacks=[Timed()]).fit(model, data)
    torch.save(model.state_dict(), job.model / WEIGHTS)


def load(job: Job) -> Answer:
    mapper = mappers.Mapper.read(str(job.model))
    model = _model(job, mapper.index.vocab_size, mapper.index.target_vocab_size)
    model.load_state_dict(torch.load(job.model / WEIGHTS))
    model.trainer = _trainer()  # it asks its trainer whether it is validating
    model.eval()
    model.beam_width = job.beam
    collate = collators.Collator(has_features=False, has_target=False)

    @torch.inference_mode()
    def answer(lines: list[str]) -> list[str]:
        items = [datasets.Item(mapper.encode_source(line.split())) for line in lines]
        answers: list[str] = []
        for begin in range(0, len(items), BATCH):
            found = model.predict_step(collate(items[begin : begin + BATCH]), 0)
            best = found[0][:, 0] if job.beam > 1 else found
            answers += [" ".join(mapper.decode_target(row)) for row in best.tolist()]
        return answers

    return answer


def _trainer(**options: Any) -> trainers.Trainer:
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    return trainers.Trainer(accelerator="cpu", enable_model_summary=False, **quiet, **options)


def _model(job: Job, vocabulary: int, target_vocabulary: int) -> models.SoftAttentionLSTMModel:
    size = job.size
    encoder = modules.LSTMEncoder(
        dropout=DROPOUT,
        embedding_size=size.embed,
        hidden_size=size.hidden // 2,
        layers=size.layers,
        bidirectional=True,
    )
    return models.SoftAttentionLSTMModel(
        source_encoder=encoder,
        decoder_hidden_size=size.hidden,
        decoder_layers=size.layers,
        decoder_dropout=DROPOUT,
        embedding_size=size.embed,
        compute_accuracy=False,
        max_source_length=LONGEST,
        max_target_length=LONGEST + 1,
        optimizer=lambda weights: torch.optim.Adam(weights, lr=RATE),
        vocab_size=vocabulary,
        target_vocab_size=target_vocabulary,
    )


if __name__ == "__main__":
    main(train, load)
