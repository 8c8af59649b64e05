"""A run folder: what lies where, written atomically, and checked in full when it is read.

config.json           format, version, task, metrics: what hub and people look at first
recipe.yaml           every option, resolved
vocabulary.json       how text becomes numbers and back
model.safetensors     the best weights
training.safetensors  last weights, optimiser, random states and counters: what a resumed run needs
log.jsonl             one line per event
README.md             the model card
"""

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from regard.errors import DataError, UsageError
from regard.files import remove_leftovers, write_bytes, write_text
from regard.recipe import Recipe, to_dict
from regard.settings import build, flatten, parse_yaml

FORMAT = 1


class Folder:
    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._hold: int | None = None  # the folder, open and locked

    @property
    def weights(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def training(self) -> Path:
        return self.path / "training.safetensors"

    @property
    def log(self) -> Path:
        return self.path / "log.jsonl"

    @property
    def holds_run(self) -> bool:
        return any((self.path / name).exists() for name in ("config.json", "recipe.yaml", "training.safetensors"))

    def make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.path)
        except OSError as error:
            raise UsageError(f"cannot make the folder {self.path}: {error.strerror}; choose another --out") from error

    def hold(self) -> None:
        """Keep other trainings out of a folder that exists, until `release` or the end of the process, however it ends.

        The lock is on the folder itself and leaves no file. Where there are no locks (Windows, some network disks),
        nobody is kept out.
        """
        if self._hold is not None or not self.path.is_dir() or find_spec("fcntl") is None:
            return
        import fcntl

        handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise UsageError(f"{self.path} is being trained by another process: wait for it, or stop it") from None
        except OSError:
            os.close(handle)
        else:
            self._hold = handle

    def release(self) -> None:
        if self._hold is not None:
            os.close(self._hold)
            self._hold = None

    def write_config(self, task: str, version: str, metrics: dict[str, float], epochs: int) -> None:
        config = {
            "model_type": "regard",
            "format": FORMAT,
            "regard_version": version,
            "task": task,
            "epochs_trained": epochs,
            "dev_metrics": metrics,
        }
        write_text(self.path / "config.json", json.dumps(config, indent=2, ensure_ascii=False) + "\n")

    def read_config(self) -> dict[str, Any]:
        config = self._json("config.json")
        if not isinstance(config, dict) or config.get("model_type") != "regard":
            raise DataError(f"{self.path / 'config.json'} does not describe a regard run (model_type is not regard)")
        if config.get("format") != FORMAT:
            raise DataError(
                f"{self.path} has format {config.get('format')!r}, this version of regard reads {FORMAT}: "
                "install the version of regard that wrote it"
            )
        if not isinstance(config.get("dev_metrics"), dict):
            raise DataError(f"{self.path / 'config.json'} is damaged: it holds no dev_metrics")
        return config

    def write_recipe(self, recipe: Recipe) -> None:
        text = yaml.safe_dump(json.loads(json.dumps(to_dict(recipe))), sort_keys=False, allow_unicode=True)
        write_text(self.path / "recipe.yaml", text)

    def read_recipe(self) -> Recipe:
        path, text = str(self.path / "recipe.yaml"), self._text("recipe.yaml")
        try:
            content = parse_yaml(text, path)
            if not isinstance(content, dict):
                raise UsageError(f"{path}: it should hold options by name")
            return build(dict(flatten(content)), path)
        except UsageError as error:  # here not the call is wrong, but the file
            raise DataError(f"{error} (the file is damaged, or another version of regard wrote it)") from error

    def write_vocabulary(self, content: dict[str, Any]) -> None:
        write_text(self.path / "vocabulary.json", json.dumps(content, ensure_ascii=False) + "\n")

    def read_vocabulary(self) -> Any:
        return self._json("vocabulary.json")

    def _json(self, name: str) -> Any:
        try:
            return json.loads(self._text(name))
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.path / name} is damaged: {error}") from error

    def _text(self, name: str) -> str:
        try:
            return (self.path / name).read_text("utf-8")
        except FileNotFoundError as error:
            raise UsageError(f"{self.path} is not a finished run: {name} is missing") from error
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read {self.path / name}: {error}") from error


def write_tensors(path: Path, tensors: dict[str, Tensor], notes: dict[str, str] | None = None) -> None:
    write_bytes(path, save({name: tensor.contiguous() for name, tensor in tensors.items()}, notes))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors of a file and its notes; a damaged file is an error, never half a model."""
    try:
        with safe_open(str(path), "pt") as content:
            names = content.keys()
            return {name: content.get_tensor(name) for name in names}, content.metadata() or {}
    except FileNotFoundError as error:
        raise UsageError(f"{path.parent} is not a finished run: {path.name} is missing") from error
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path} is damaged: {error}") from error
