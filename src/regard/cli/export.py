"""`regard export`"""

import click


@click.command(short_help="Write a run as ONNX graphs, which answer without torch.")
@click.argument("run")
@click.option("--format", "kind", type=click.Choice(["onnx"]), required=True, help="What to write.")
@click.option("--int8", is_flag=True, help="Weights of 8 bits: smaller, often faster, a little less exact.")
@click.option("--out", required=True, help="File to write.")
def export(run: str, kind: str, int8: bool, out: str) -> None:
    """Write a RUN to one file that `regard predict` and `regard.load` answer from without torch.

    \b
    Example:
      regard export runs/hu --format onnx --int8 --out hu.onnx
      regard predict hu.onnx alma --beam 5
      regard evaluate hu.onnx test.tsv                   what 8 bits cost
    """
    from regard.export.write import export_onnx
    from regard.run import load

    exported = export_onnx(load(run, device="cpu"), out, int8=int8)
    size = f"{exported.fp32 / 1e6:.2f} MB in fp32"
    if exported.int8 is not None:
        size = f"{exported.int8 / 1e6:.2f} MB in int8, {size}"
    click.echo(f"{out}: {size}", err=True)
    click.echo(f"next: regard predict {out} …; regard evaluate {out} PAIRS says what it is worth", err=True)
