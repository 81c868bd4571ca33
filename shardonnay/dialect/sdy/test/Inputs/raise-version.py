"""raise-version.py FILE VERSION: bytecode whose `sdy` dialect claims to be of another version, to stdout."""

import sys
from pathlib import Path


def varint(value):
    """MLIR's: the number of trailing zeros of the first byte says how many bytes follow. Up to 2**28."""
    size = next(size for size in (1, 2, 3, 4) if value < 1 << 7 * size)
    return ((value << 1 | 1) << size - 1).to_bytes(size, "little")


content = Path(sys.argv[1]).read_bytes()
magic, version = varint(0x594453), int(sys.argv[2])
place = content.index(magic) + len(magic)
assert content[place] & 1 and version < 1 << 7, "one byte stands for another"
sys.stdout.buffer.write(content[:place] + varint(version) + content[place + 1 :])
