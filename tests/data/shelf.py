"""Made-up packages that Python finds before any real ones."""

from collections.abc import Mapping
from pathlib import Path

from regard.data.corpora.package import Package, sum_of_sums


def install(folder: Path, package: Package, files: Mapping[str, bytes], version: str = "") -> Package:
    """Put the files there under the package's name. → the package, with their sum as the expected one"""
    version = version or package.version
    info = folder / f"{package.name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return package._replace(sha256=sum_of_sums(dict(sorted(files.items()))))
