# What lit.site.cfg.py in the build folder loads. Not named lit.cfg.py, or lit would take this folder for a suite of its
# own.
import os

import lit.formats

config.name = "shardonnay"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# Tests are beside what they test, so the suite is the whole tree.
config.test_source_root = config.shardonnay_source_dir
config.test_exec_root = os.path.join(config.shardonnay_binary_dir, "test")
config.excludes = ["build", "build-dev", "build-cov", "build-fuzz", ".venv", ".git", "e2e", "python", "Inputs"]
config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.shardonnay_binary_dir, "bin"),
        config.llvm_tools_dir,
        os.environ["PATH"],
    ]
)
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=all"
config.substitutions.append(("%python", "python3"))
config.substitutions.append(("%shardonnay_build", config.shardonnay_binary_dir))
