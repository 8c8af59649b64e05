"""Which weights are kept: the best so far, and the best few checkpoints where these are averaged at the end."""

from pathlib import Path

from torch import Tensor

from regard import __version__
from regard.folder import Folder, read_tensors, write_tensors
from regard.recipe import Recipe
from regard.training.average import mean_weights
from regard.training.checkpoint import Progress
from regard.training.evaluation import Evaluation


class Keeper:
    def __init__(self, folder: Folder, recipe: Recipe, writes: bool):
        self.folder, self.recipe, self.writes = folder, recipe, writes

    def judge(self, progress: Progress, evaluation: Evaluation, weights: dict[str, Tensor]) -> bool:
        """Whether these are the best weights so far; if not, since when is counted."""
        options = self.recipe.training
        better = self.offer(progress, evaluation, weights)
        if better:
            progress.best_epoch = progress.epoch
            progress.worse = progress.since_fall = 0
        else:
            progress.worse, progress.since_fall = progress.worse + 1, progress.since_fall + 1
        if progress.since_fall > options.plateau_patience:
            progress.falls, progress.since_fall = progress.falls + 1, 0
        if options.average == "checkpoints":
            self._remember(progress, evaluation, weights)
        return better

    def offer(self, progress: Progress, evaluation: Evaluation, weights: dict[str, Tensor]) -> bool:
        """Keep the weights if they are better than those kept: by the metric, and of equals by the loss."""
        best = (progress.best, progress.best_loss)
        if progress.best is not None and (evaluation.score, evaluation.loss) >= best:
            return False
        progress.best, progress.best_loss = evaluation.score, evaluation.loss
        progress.best_metrics = evaluation.metrics
        if self.writes:
            write_tensors(self.folder.weights, weights)
            self.folder.write_config(self.recipe.task, __version__, evaluation.metrics, progress.epoch)
        return True

    def mean(self, progress: Progress) -> dict[str, Tensor]:
        """The mean of the checkpoints kept."""
        return mean_weights([read_tensors(self._checkpoint(update))[0] for _, _, update in progress.kept])

    def tidy(self, progress: Progress) -> None:
        """Remove checkpoints that neither this state nor, since it is saved, an older one needs."""
        kept = {self._checkpoint(update) for _, _, update in progress.kept}
        for old in set((self.folder.path / "checkpoints").glob("update-*.safetensors")) - kept:
            old.unlink()

    def _remember(self, progress: Progress, evaluation: Evaluation, weights: dict[str, Tensor]) -> None:
        this = [evaluation.score, evaluation.loss, float(progress.update)]
        progress.kept = sorted([*progress.kept, this])[: self.recipe.training.checkpoints]
        if self.writes and this in progress.kept:
            (self.folder.path / "checkpoints").mkdir(exist_ok=True)
            write_tensors(self._checkpoint(progress.update), weights)

    def _checkpoint(self, update: float) -> Path:
        return self.folder.path / "checkpoints" / f"update-{int(update)}.safetensors"
