"""JoeyNMT through its own functions: TrainManager for training, prepare and predict for answers.

Worked around: it imports importlib_metadata without asking for it; its plateau schedule passes an argument that torch
has no more, and it takes no empty schedule, so it gets an exponential one that stays constant. It answers in the order
given, not sorted by length; its beam search returns no attention.
"""

from typing import Any

from joeynmt.config import parse_global_args
from joeynmt.prediction import predict, prepare
from joeynmt.training import TrainManager

from toolkits.clock import Clock
from toolkits.part import Answer, Job, main
from toolkits.sizes import BATCH, CLIP, DROPOUT, LONGEST, RATE


def train(job: Job, clock: Clock) -> None:
    class Timed(TrainManager):  # type: ignore[misc]
        """Stops when training is over, before the weights are saved; it never validates."""

        def _save_checkpoint(self, *given: Any) -> None:
            clock.stop()
            super()._save_checkpoint(*given)

    job.model.mkdir(parents=True)
    args = parse_global_args(_config(job), mode="train")
    model, pairs, dev, _ = prepare(args, rank=0, mode="train")
    trainer = Timed(
        rank=0,
        model=model,
        model_dir=args.model_dir,
        device=args.device,
        autocast=args.autocast,
        seed=args.seed,
        train_args=args.train,
        dev_args=args.test,
    )
    clock.start()
    trainer.train_and_validate(pairs, dev)


def load(job: Job) -> Answer:
    args = parse_global_args(_config(job), mode="translate")
    model, _, _, stream = prepare(args, rank=0, mode="translate")

    def answer(lines: list[str]) -> list[str]:
        stream.cache = [(line, None, None, None) for line in lines]
        stream.reset_indices()
        found = predict(model, stream, args.device, n_gpu=0, args=args.test, autocast=args.autocast)
        return list(found[2])

    return answer


def _config(job: Job) -> dict[str, Any]:
    size, never = job.size, 1_000_000
    side = {"level": "word", "lowercase": False, "max_length": LONGEST, "voc_min_freq": 1}
    layers = {"type": "recurrent", "rnn_type": "lstm", "num_layers": size.layers, "dropout": DROPOUT}
    layers |= {"embeddings": {"embedding_dim": size.embed, "dropout": DROPOUT}}
    return {
        "name": "speed",
        "model_dir": str(job.model),
        "use_cuda": False,
        "data": {
            "train": str(job.pairs),
            "dev": str(job.data / "dev"),
            "dataset_type": "plain",
            "src": {"lang": "src", **side},
            "trg": {"lang": "trg", **side},
        },
        "training": {
            "optimizer": "adam",
            "learning_rate": RATE,
            "learning_rate_min": 0.0,
            "scheduling": "exponential",
            "decrease_factor": 1.0,
            "clip_grad_norm": CLIP,
            "batch_size": job.batch,
            "normalization": "tokens",
            "epochs": job.epochs,
            "logging_freq": never,
            "validation_freq": never,
        },
        "testing": {
            "load_model": str(job.model / "latest.ckpt"),
            "batch_size": BATCH,
            "beam_size": job.beam,
            "beam_alpha": 1.0,
            "return_attention": job.beam == 1,
        },
        "model": {
            "encoder": {**layers, "hidden_size": size.hidden // 2, "bidirectional": True},
            "decoder": {
                **layers,
                "hidden_size": size.hidden,
                "hidden_dropout": DROPOUT,
                "attention": "bahdanau",
                "init_hidden": "bridge",
                "input_feeding": True,
            },
        },
    }


if __name__ == "__main__":
    main(train, load)
