"""`shardonnay build`: an executable, or a shared library, of the program that each process runs."""

import argparse

from .shared import (
    OF_COMPILE_ALONE, READS, DONE, add_command, add_json, add_options, compiled, options_from, read, told, write_json,
)


def _device_counts(text):
    """`2,4,8`: numbers, each once."""
    counts = [int(word) if word.isdecimal() else 0 for word in text.split(",")]
    if min(counts) < 1 or len(set(counts)) < len(counts):
        raise argparse.ArgumentTypeError(f"expected different numbers of devices, such as 2,4,8, got {text}")
    return counts


def add(commands):
    parser = add_command(commands, "build", build_file, "Builds the program that each process of MPI runs.")
    parser.add_argument("input", metavar="IN", help=f"a program of linalg, TOSA, tensor, arith, math and scf: {READS}")
    parser.add_argument("-o", dest="output", metavar="OUT", required=True, help="the file to write")
    parser.add_argument(
        "--target", choices=("mpi",), default="mpi", help="what runs the program (default: %(default)s)"
    )
    parser.add_argument(
        "--mpi", choices=("mpich", "openmpi"), help="the MPI to build with (default: MPICH if it is installed)"
    )
    parser.add_argument(
        "--shared", action="store_true", help="write a shared library (runtime/Library.c) instead of an executable"
    )
    parser.add_argument(
        "--march", metavar="CPU", help="the CPU whose instructions may be used, such as native (default: any x86-64)"
    )
    parser.add_argument(
        "--devices",
        "--ranks",
        type=_device_counts,
        default=[0],
        metavar="N[,N...]",
        help="the numbers of processes that the program can be started with, if its mesh has an axis of size '?'; each "
        "has a plan of its own (default: as many as the mesh has devices)",
    )
    add_json(parser, "print one JSON object: what was written, the manifest (of several numbers of processes, by "
        "number), diagnostics")
    add_options(parser, without=(*OF_COMPILE_ALONE, "devices"))


def build_file(arguments):
    from .. import mpi

    found = mpi.find(arguments.mpi)
    source = read(arguments.input)
    programs = [compiled(source, **options_from(arguments, devices=devices)) for devices in arguments.devices]
    flags = [f"-march={arguments.march}"] if arguments.march else []
    mpi.build(programs, arguments.output, found, shared=arguments.shared, flags=flags)
    if arguments.json:
        manifests = {program.manifest["devices"]: program.manifest for program in programs}
        manifest = manifests if len(programs) > 1 else programs[0].manifest
        diagnostics = [diagnostic for program in programs for diagnostic in told(program)]
        write_json({"ok": True, "output": arguments.output, "manifest": manifest, "diagnostics": diagnostics})
    return DONE
