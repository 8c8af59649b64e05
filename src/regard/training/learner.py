"""What learns: a model, its optimiser and the running average of its weights, spread over the processes."""

import torch
from torch import Tensor, nn

from regard.errors import DataError
from regard.fast.adam import fast_adam
from regard.recipe import Training
from regard.training.average import RunningAverage
from regard.training.checkpoint import part
from regard.training.engine import Engine

RULES = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


class Learner:
    def __init__(self, model: nn.Module, options: Training, engine: Engine):
        self.options, self.engine = options, engine
        self.shapes = {name: weight.shape for name, weight in model.named_parameters()}
        self.learnt = [
            name for name, weight in model.named_parameters() if weight.requires_grad
        ]  # the others are frozen
        self.model = engine.spread(model.to(engine.device))
        rule = RULES[options.optimiser]
        learnt = [weight for weight in self.model.parameters() if weight.requires_grad]
        self.optimiser = rule(learnt, weight_decay=options.weight_decay, fused=not engine.shards)
        self.fast = None if engine.shards else fast_adam(self.optimiser)
        self.average = RunningAverage(self.model, options.ema) if options.average == "ema" else None

    def length(self) -> float:
        """Of the gradient that has piled up; from here on it may count as no longer than training.clip."""
        return float(self.engine.clip(self.model, self.options.clip)) if self.fast is None else self.fast.length()

    def step(self, rate: float, updates: int, length: float) -> None:
        """One update by the gradient, whose length was just asked for, after `updates` others."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step() if self.fast is None else self.fast.step(length, self.options.clip)
        for group in self.optimiser.param_groups:  # as its zero_grad does, which takes a tenth of a millisecond
            for weight in group["params"]:
                weight.grad = None
        if self.average:
            self.average.update(self.model, updates)

    def weights(self) -> dict[str, Tensor]:
        return self.engine.whole_weights(self.model, self.shapes)

    def candidate(self) -> dict[str, Tensor]:
        """The weights that would be kept now: the running average if there is one."""
        if not self.average:
            return self.weights()
        self.average.swap(self.model)
        weights = self.weights()
        self.average.swap(self.model)
        return weights

    def tensors(self) -> dict[str, Tensor]:
        """All that `restore` needs; a collective call."""
        tensors = {f"model/{name}": one for name, one in self.weights().items()}
        if self.average:
            tensors |= {f"average/{name}": one for name, one in self.candidate().items()}
        statistics = self.engine.optimiser_tensors(self.model, self.optimiser)
        return tensors | {f"optimiser/{name}": one for name, one in statistics.items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        self._check(tensors)
        if self.average:
            self.engine.load_weights(self.model, part(tensors, "average"))
            self.average = RunningAverage(self.model, self.options.ema)
        self.engine.load_weights(self.model, part(tensors, "model"))
        self.engine.load_optimiser(self.model, self.optimiser, part(tensors, "optimiser"))

    def _check(self, tensors: dict[str, Tensor]) -> None:
        """Half a state must not be filled up silently with first weights."""
        kinds = ["model/{}", "average/{}"] if self.average else ["model/{}"]
        wanted = {kind.format(name): shape for kind in kinds for name, shape in self.shapes.items()}
        for name in self.learnt:
            wanted |= {f"optimiser/{name}/{kind}": self.shapes[name] for kind in ("exp_avg", "exp_avg_sq")}
            wanted[f"optimiser/{name}/step"] = torch.Size()
        for name, shape in wanted.items():
            if name not in tensors or tensors[name].shape != shape:
                found = f"is {tuple(tensors[name].shape)}, not {tuple(shape)}" if name in tensors else "is missing"
                raise DataError(f"the training state is damaged: {name} {found}; train anew with another --out")
