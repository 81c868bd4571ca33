"""What the compiler emits for MPI, as an object: MLIR's own passes to LLVM, then clang."""

from .toolchain import llvm_tool, run_tool

_NARROW = ",".join(
    "bf16 f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU".split()
)

# In order: ops on tensors become loops' worth of linalg; tensors become buffers, which are freed where they were
# made; loops; LLVM.
PASSES = f"""
    func.func(tosa-optional-decompositions,tosa-make-broadcastable,tosa-to-scf,tosa-to-linalg-named,tosa-to-linalg,
              tosa-to-arith{{include-apply-rescale=true}},tosa-to-tensor),
    convert-elementwise-to-linalg, canonicalize, cse,
    linalg-fuse-elementwise-ops, canonicalize, cse, eliminate-empty-tensors, empty-tensor-to-alloc-tensor,
    one-shot-bufferize{{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map
                        allow-return-allocs-from-loops}},
    buffer-deallocation-pipeline, convert-bufferization-to-memref,
    func.func(convert-linalg-to-loops),
    math-extend-to-supported-types{{extra-types=f64 target-type=f32}},
    arith-emulate-unsupported-floats{{source-types={_NARROW} target-type=f32}},
    canonicalize, cse, loop-invariant-code-motion,
    expand-strided-metadata, lower-affine, convert-scf-to-cf,
    convert-complex-to-standard, convert-math-to-llvm, convert-math-to-libm, arith-expand{{include-bf16=true}},
    convert-complex-to-llvm, convert-arith-to-llvm, convert-index-to-llvm, finalize-memref-to-llvm, convert-cf-to-llvm,
    convert-func-to-llvm, convert-ub-to-llvm, reconcile-unrealized-casts
"""


def to_llvm_ir(text):
    """LLVM IR of a module that was compiled with target="mpi"."""
    pipeline = " ".join(PASSES.split())
    lowered = run_tool(
        [llvm_tool("mlir-opt"), "-", "--mlir-print-debuginfo", f"--pass-pipeline=builtin.module({pipeline})"], text
    )
    # What math-extend-to-supported-types makes of f16 keeps an attribute of arith, which MLIR 22 does not translate.
    return run_tool([llvm_tool("mlir-translate"), "-", "--mlir-to-llvmir", "--allow-unregistered-dialect"], lowered)


def to_object(text, path, flags=()):
    """Writes the object of such a module to `path`. flags: of clang, such as -march=native."""
    command = [llvm_tool("clang"), "-x", "ir", "-", "-c", "-O2", "-fPIC", "-Wno-override-module", *flags, "-o",
               str(path)]
    run_tool(command, to_llvm_ir(text))
