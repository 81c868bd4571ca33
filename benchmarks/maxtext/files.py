"""MaxText's training steps, where they are: --maxtext FOLDER, $SHARDONNAY_MAXTEXT, or ../shared/programs/maxtext."""

import lzma
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def add_option(parser):
    default = os.environ.get("SHARDONNAY_MAXTEXT", ROOT.parent / "shared/programs/maxtext")
    parser.add_argument(
        "--maxtext", type=Path, default=default, metavar="FOLDER", help="of *.mlir.xz (default: %(default)s)"
    )


def names(folder, twins=False):
    """Of the programs, or of their twins, which are small enough to run; none, with a message, where there is no such
    folder.
    """
    found = sorted(path.name.removesuffix(".mlir.xz") for path in Path(folder).glob("*.mlir.xz"))
    if not found:
        print(f"MaxText's programs: skipped, there are none in {folder} (--maxtext, SHARDONNAY_MAXTEXT)")
    return [name for name in found if name.startswith("f-") == twins]


def text(folder, name):
    return lzma.open(Path(folder) / f"{name}.mlir.xz", "rt").read()


def written(folder, name, target):
    """The path of the program as plain text, in `target`."""
    path = Path(target) / f"{name}.mlir"
    path.write_text(text(folder, name))
    return path


def devices(text):
    return int(re.search(r"mhlo\.num_partitions = (\d+)", text)[1])
