#!/usr/bin/env python3
"""Where the bytes of a plan are: collectives.py [--top 10] [--causes] [--keep-propagated] [PART OF A NAME...]

The collectives of MaxText's programs by bytes that a device sends in a step, loops as often as they run: the raw data
of docs/maxtext.md, in which a person reads them. Names are JAX's, what all of a program's share left out.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import files
import shardonnay

GIB = 2**30


def _name(entry):
    """The name of the operation, without what JAX writes before every one."""
    parts = [
        part for part in entry["name"].split("/") if part not in ("", "jit(train_step)", "while", "body", "closed_call")
    ]
    return "/".join(parts)


def rows(report, top):
    """(GiB, share, entry) of the largest."""
    total = report["executed_bytes"] or 1
    found = sorted(report["collectives"], key=lambda entry: entry["bytes"] * entry["trips"], reverse=True)
    for entry in found[:top]:
        sent = entry["bytes"] * entry["trips"]
        yield sent / GIB, sent / total, entry


def show(name, report, options):
    print(f"\n{name}: {report['executed_bytes'] / GIB:.4g} GiB in {len(report['collectives'])} collectives, "
          f"{report['devices']} devices")
    print(f"{'GiB':>8} {'share':>6} {'times':>9} {'kind':18} {'axes':24} {'operand -> result':70} of")
    for gib, share, entry in rows(report, options.top):
        times = f"{entry['count']} x {entry['trips']}"
        types = f"{entry['operand']} -> {entry['result']}".replace("tensor", "")
        print(f"{gib:8.3f} {share:6.1%} {times:>9} {entry['kind']:18} {', '.join(entry['axes']):24} {types:70} "
              f"{_name(entry)}")
        if options.causes:
            print(f"{'':26}{entry['source']}: {entry['cause']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--causes", action="store_true", help="with each its source, and why it is there")
    parser.add_argument("--keep-propagated", action="store_true")
    parser.add_argument("--device-model", default="cpu")
    parser.add_argument("names", nargs="*")
    files.add_option(parser)
    options = parser.parse_args()
    for name in files.names(options.maxtext):
        if options.names and not any(part in name for part in options.names):
            continue
        try:
            text = files.text(options.maxtext, name)
            compiled = shardonnay.compile(
                text, device_model=options.device_model, keep_propagated=options.keep_propagated, report=True
            )
        except shardonnay.CompileError as error:
            print(f"\n{name}: refused: {error.diagnostics[0]}")
            continue
        show(name, compiled.report, options)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
