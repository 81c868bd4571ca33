"""`shardonnay build`: an executable, or a shared library, of the program that each process runs."""

from .shared import READS, DONE, add_command, add_json, add_options, options_from, compiled, read, told, write_json


def add(commands):
    parser = add_command(commands, "build", build_file, "Builds the program that each process of MPI runs.")
    parser.add_argument("input", metavar="IN", help=f"a program of linalg, TOSA, tensor, arith, math and scf: {READS}")
    parser.add_argument("-o", dest="output", metavar="OUT", required=True, help="what to write")
    parser.add_argument("--target", choices=("mpi",), default="mpi", help="default: %(default)s")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), help="default: MPICH if it is installed")
    parser.add_argument("--shared", action="store_true", help="a shared library (runtime/Library.c) instead")
    parser.add_argument("--march", metavar="CPU", help="what the program may use, such as native; default: any x86-64")
    add_json(parser, "print one JSON object: what was written, the manifest, diagnostics")
    add_options(parser)


def build_file(arguments):
    from .. import mpi

    found = mpi.find(arguments.mpi)
    program = compiled(read(arguments.input), **options_from(arguments))
    flags = [f"-march={arguments.march}"] if arguments.march else []
    mpi.build(program, arguments.output, found, shared=arguments.shared, flags=flags)
    if arguments.json:
        written = {"ok": True, "output": arguments.output, "manifest": program.manifest}
        write_json({**written, "diagnostics": told(program)})
    return DONE
