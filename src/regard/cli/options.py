"""Kinds of options that several commands have."""

import click

DEVICES = click.Choice(["auto", "cpu", "cuda"])
SEEDS = click.IntRange(0, 2**32 - 1)
