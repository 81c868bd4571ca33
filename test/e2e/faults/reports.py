"""What users of other partitioners report, and what is known to be wrong in the passes of jaxlib (`sdy-...`), by what
they are about.

Each is a test with the name in its own: a case of reported_faults.py or rule_faults.py, a test of
test_fault_programs.py, or the one that ELSEWHERE names.
"""

GATHERS = {
    "jax-20381": "an index under vmap gathers",
    "jax-25010": "what is rematerialised is gathered again",
    "jax-15773": "a roll gathers",
    "jax-23052": "a scatter at known places gathers",
    "jax-35650": "an argsort of another dim gathers twice",
    "xla-5963": "every device sums what all have whole",
    "xla-15048": "the update of one microbatch in a pipeline on three axes",
    "xla-4062": "rows by columns, and then gathers of both",
    "xla-47945": "a convolution in groups gathers its batch",
    "xla-48086": "a convolution in groups of more than one",
    "xla-48530": "a transform of a batch gathers it",
    "xla-44795": "one layer of a stack that is sharded by layers gathers the stack",
    "pytorch-131210": "two gathers where one all_to_all does",
}
WRONG = {
    "xla-49118": "an update out of range is dropped",
    "xla-49122": "a slice out of range is clamped in each shard",
    "xla-42481": "a scatter adds what it starts from once a device",
    "xla-24186": "an update at a 64-bit start does not compile",
    "xla-4340": "manual regions abort",
    "jax-19271": "top-k of more than a piece has",
    "jax-16909": "a transform of a volume is wrong",
    "jax-39301": "transposed rolls at one element a device do not compile",
    "pytorch-179502": "a reshape of a sharded dim that is not the first",
}
UNEVEN = {
    "jax-26946": "a constraint that does not divide replicates without a word",
    "jax-27808": "a result that does not divide is refused",
    "jax-15788": "a result that does not divide can not be looked at",
    "pytorch-143372": "flattening rows that do not divide",
    "pytorch-149764": "flattening columns that do not divide",
    "pytorch-161161": "flattening a dim between others",
    "pytorch-161950": "splitting a dim whose pieces do not nest",
}
NO_RULE = {
    "pytorch-147724": "one index of a dim",
    "pytorch-152249": "masked fill",
    "pytorch-167917": "detached values",
    "pytorch-147578": "the largest absolute value",
    "pytorch-124990": "the diagonal; sizes that are data are refused late",
    "pytorch-167977": "an op of several tensors with a rule of the user's",
    "pytorch-167677": "rules are hard to write",
    "torchtitan-3645": "top-k under another name",
}
EXISTING = {
    "sdy-halo": "convolution, windows, concatenation gather the dim",
    "sdy-select-and-scatter": "select_and_scatter gathers the dim",
    "sdy-reshape": "a reshape that merges or drops sharded dims gathers",
    "sdy-replicas": "replicas and partitions cannot both be more than one",
    "sdy-inserted": "a scatter with a sharded dim that is not indexed is an error",
    "sdy-search": "the search for a reshard does not see padding",
    "sdy-capacity": "an all_to_all into a dim that is smaller than its axes",
    "sdy-user-rules": "operands of an op with a rule of the user's are not resharded",
    "sdy-aborts": "user input aborts",
    "sdy-stride": "the stride of a slice is ignored",
    "sdy-padding": "what pads a dim is read by reduce, sort and dot",
    "sdy-suffix": "a gather of a minor axis gathers more",
    "sdy-combined": "a reduce_scatter of two dims, one of them not scattered",
    "sdy-overlap": "a sum over an axis that still shards the operand",
    "sdy-bytecode": "a reduction kind is lost in bytecode",
    "sdy-no-rule-if": "no rule",
    "sdy-no-rule-rng": "no rule",
    "sdy-no-rule-map": "no rule",
    "sdy-no-rule-batch-norm": "no rule for training and gradient",
    "sdy-no-rule-composite": "no rule",
    "sdy-no-rule-chlo": "no rule",
    "sdy-no-rule-top-k": "no rule",
    "sdy-no-rule-replica-id": "no rule",
    "sdy-no-rule-einsum": "no rule",
    "sdy-no-rule-torch-index-select": "no rule",
    "sdy-no-rule-quantise": "no rule",
    "sdy-warning": "one warning of an unknown op hides the later ones",
    "sdy-override": "the rule of an op cannot be overridden",
}
REPORTS = {**GATHERS, **WRONG, **UNEVEN, **NO_RULE, **EXISTING}

# Tests that have another name: file (from the top), and what they are called there.
ELSEWHERE = {
    "sdy-replicas": ("test/e2e/structure/test_known_passes.py", "test_replicas_times_partitions"),
    "sdy-aborts": ("test/e2e/structure/test_unlisted_programs.py", "test_ends_well"),
    "sdy-bytecode": ("shardonnay/dialect/sdy/test/bytecode/v1.mlir", "unreduced=max"),
    "sdy-no-rule-rng": ("test/e2e/ops/test_rng_and_composite.py", "test_all_devices_have_one_sample"),
    "sdy-no-rule-composite": ("test/e2e/ops/test_rng_and_composite.py", "test_composites"),
    "sdy-no-rule-quantise": ("shardonnay/models/StableHLO/test/elementwise-local.mlir", "uniform_quantize"),
}

# Reports of the same lists that are no test, with the reason.
NOT_OURS = {
    "rocm-xla-318": "of one vendor's runtime; its thread could not be read when this was written",
    "pytorch-167219": "its thread could not be read when this was written; ops without a rule are a family each of "
                      "test/differential",
    "pytorch-184443": "its thread could not be read when this was written; uneven sizes are in every family of "
                      "test/differential",
    "sdy: constants and priorities of one dialect": "propagation: an op says them through its interfaces "
                                                    "(shardonnay/models/Upstream)",
    "sdy: one callback for automatic partitioning": "search, which has an engine",
    "sdy: no viewer, no why": "explain",
    "sdy: one build system, no wheel": "packaging",
}
