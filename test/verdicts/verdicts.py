"""What the two implementations say of a module: None if they accept it, else the first error."""

import os
import re
import subprocess
import sys
from pathlib import Path

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
SEPARATOR = "\n// -----\n"


def ours(texts):
    """One run over all; a crash is an error of the module that it happens in."""
    verdicts = [None] * len(texts)
    starts, line = [], 1
    for text in texts:
        starts.append(line)
        line += text.count("\n") + SEPARATOR.count("\n")
    run = subprocess.run(
        [SDY_OPT, "--split-input-file", "-o", os.devnull], input=SEPARATOR.join(texts), capture_output=True, text=True
    )
    if run.returncode < 0 and len(texts) == 1:
        return [f"crash {-run.returncode}"]
    if run.returncode < 0:
        half = len(texts) // 2
        return ours(texts[:half]) + ours(texts[half:])
    index = 0
    for match in re.finditer(r"^<stdin>:(\d+):\d+: error: (.*)", run.stderr, flags=re.M):
        number = int(match[1])
        index = max(i for i in range(len(starts)) if starts[i] <= number)
        verdicts[index] = verdicts[index] or match[2]
    assert run.returncode or not any(verdicts), run.stderr
    return verdicts


def theirs(texts):
    """In processes of their own: jaxlib aborts on some."""
    verdicts = []
    while len(verdicts) < len(texts):
        child = subprocess.run(
            [sys.executable, __file__], input="\0".join(texts[len(verdicts) :]), capture_output=True, text=True
        )
        answers = re.findall(r"^\x01(.*)$", child.stdout, flags=re.M)
        verdicts += [None if answer == "ok" else answer for answer in answers]
        if child.returncode:
            verdicts.append(f"crash {abs(child.returncode)}")
    return verdicts


def _answer(text):
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    try:
        if "!quant" in text:
            # Only this knows the quantised types.
            stablehlo.serialize_portable_artifact_str(text, stablehlo.get_current_version())
        else:
            with jax_mlir.make_ir_context():
                ir.Module.parse(text)
    except ir.MLIRError as error:
        return re.sub(r"^.*?error: (\"-\":\d+:\d+: )?", "", " ".join(str(error).split("\n", 1)[-1].split()))[:300]
    except Exception as error:
        return " ".join(str(error).split())[:300]
    return "ok"


if __name__ == "__main__":
    for module in sys.stdin.read().split("\0"):
        print("\x01" + _answer(module), flush=True)
