"""A program's text on a mesh of other sizes."""

import math
import re


def resized(text, sizes):
    """`text` with a mesh of the axes {name: size}, and of as many devices."""
    mesh = "sdy.mesh @mesh = <[" + ", ".join(f'"{name}"={size}' for name, size in sizes.items()) + "]>"
    text = re.sub(r"sdy\.mesh @mesh = .*", mesh, text)
    return re.sub(r"mhlo\.num_partitions = \d+", f"mhlo.num_partitions = {math.prod(sizes.values())}", text)
