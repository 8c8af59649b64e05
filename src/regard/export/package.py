"""The exported file: a zip archive, not compressed, of a description and ONNX graphs that any ONNX tool can open.

regard.json    format, version, task, recipe, vocabulary: what a run folder holds in four files
encoder.onnx   source → state and memory
step.onnx      last symbols, state and memory → log p of the next, attention, next state
reverse.onnx   the same for the decoder from the end, where there is one
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import DataError, UsageError
from regard.files import write_bytes
from regard.recipe import Recipe, to_dict
from regard.settings import build, flatten
from regard.tasks import TASKS
from regard.tasks.codec import Codec
from regard.tasks.turns import TurnCodec

FORMAT = 1
MEMBERS = ("regard.json", "encoder.onnx", "step.onnx")
FURTHER = "reverse.onnx"


class Package(NamedTuple):
    recipe: Recipe
    codec: Codec
    attends: bool  # whether its weights say where it looked
    encoder: bytes
    step: bytes
    reverse: bytes | None = None


def write_package(path: Path, package: Package, version: str) -> None:
    """The same package gives the same bytes."""
    about = {
        "model_type": "regard-onnx",
        "format": FORMAT,
        "regard_version": version,
        "attends": package.attends,
        "recipe": to_dict(package.recipe),
        "vocabulary": package.codec.to_json(),
    }
    text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        members = (text.encode("utf-8"), package.encoder, package.step, package.reverse)
        for name, member in zip((*MEMBERS, FURTHER), members, strict=True):
            if member is not None:
                archive.writestr(zipfile.ZipInfo(name), member)
    write_bytes(path, content.getvalue())


def read_package(path: Path) -> Package:
    """Everything checked, but for the graphs themselves."""
    members = _members(path)
    try:
        about = json.loads(members["regard.json"])
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is damaged: regard.json: {error}") from error
    if not isinstance(about, dict) or about.get("model_type") != "regard-onnx":
        raise DataError(f"{path} does not describe an exported regard run (model_type is not regard-onnx)")
    if about.get("format") != FORMAT:
        raise DataError(
            f"{path} has format {about.get('format')!r:.40}, this version of regard reads {FORMAT}: "
            "install the version of regard that wrote it"
        )
    if not isinstance(about.get("attends"), bool):
        raise DataError(f"{path} is damaged: attends is {about.get('attends')!r:.40}; expected true or false")
    return Package(
        _recipe(about.get("recipe"), path),
        _codec(about.get("vocabulary"), path),
        about["attends"],
        members["encoder.onnx"],
        members["step.onnx"],
        members.get(FURTHER),
    )


def _members(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            if sorted(set(infos) - {FURTHER}) != sorted(MEMBERS):
                raise DataError(f"{path} is no exported run: it should hold {', '.join(MEMBERS)}")
            if any(
                info.compress_type != zipfile.ZIP_STORED for info in infos.values()
            ):  # a little could unpack to a lot
                raise DataError(f"{path} is compressed inside, which `regard export` does not do")
            return {name: archive.read(name) for name in infos}
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}: expected one that `regard export` wrote") from error
    except zipfile.BadZipFile as error:
        raise DataError(
            f"{path} is not what `regard export` wrote, or it is damaged: {error} (a run is loaded by its folder)"
        ) from error
    except (
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ) as error:  # RuntimeError: it has a password
        raise DataError(f"cannot read {path}: {error}") from error


def _recipe(content: Any, path: Path) -> Recipe:
    try:
        if not isinstance(content, dict):
            raise UsageError("the recipe should hold options by name")
        recipe = build(dict(flatten(content)), "recipe")
        if recipe.task not in TASKS:
            raise UsageError(f"there is no task {recipe.task!r:.40}")
    except UsageError as error:  # here not the call is wrong, but the file
        raise DataError(f"{path} is damaged, or another version of regard wrote it: {error}") from error
    return recipe


def _codec(content: Any, path: Path) -> Codec:
    try:
        turns = isinstance(content, dict) and "turns" in content  # by what it holds: to ask the task would need torch
        return TurnCodec.from_json(content) if turns else Codec.from_json(content)
    except DataError as error:
        raise DataError(f"{path} is damaged: vocabulary: {error}") from error
