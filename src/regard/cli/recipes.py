"""`regard recipes`"""

import json

import click


@click.command(short_help="List recipes, or all options of one.")
@click.argument("name", required=False)
def recipes(name: str | None) -> None:
    """List the recipes, or every option of one: default, type and meaning.

    \b
    Example:
      regard recipes pronounce
    """
    from regard.draft import load_draft, recipe_names
    from regard.recipe import describe

    if name is None:
        for one in recipe_names():
            recipe = load_draft(one).unscaled({})
            click.echo(f"{one:<24}{recipe.about}")
        return
    draft = load_draft(name)
    for line in describe(draft.unscaled({})):
        click.echo(f"{line.name} = {json.dumps(line.default, ensure_ascii=False)}    ({line.kind})\n    {line.meaning}")
    for size in (size for layer in draft.layers for size in layer.scale):
        most = "more pairs" if size["up_to"] is None else f"up to {size['up_to']:,} pairs"
        click.echo(f"{most}: " + ", ".join(f"{key}={value}" for key, value in size["set"].items()))
