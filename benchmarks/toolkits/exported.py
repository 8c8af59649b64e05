"""regard's model as ONNX graphs, which answer without torch; with weights of 8 bits where the name says int8."""

from pathlib import Path

from regard.export.onnx_run import OnnxRun
from toolkits.clock import Clock
from toolkits.part import Answer, Job, main

FILE = "model.onnx"


def train(job: Job, clock: Clock) -> None:
    """Nothing is learnt here: what regard learnt is exported."""
    from regard.export.write import export_onnx
    from regard.run import load as load_run

    job.model.mkdir(parents=True)
    export_onnx(load_run(job.model.parent / "regard", device="cpu"), job.model / FILE, int8="int8" in job.model.name)


def load(job: Job) -> Answer:
    run = OnnxRun.read(job.model / FILE)

    def answer(lines: list[str]) -> list[str]:
        return [one.output for one in run.predict(lines, beam=job.beam)]

    return answer


def weights(model: Path) -> int:
    return (model / FILE).stat().st_size


if __name__ == "__main__":
    main(train, load, weights)
