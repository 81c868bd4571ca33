"""Every script of examples/ runs in a process of its own, agrees with `jax.jit`, and prints what the guides say.
SHARDONNAY_WRITE_DOCS=1 writes it there."""

from pathlib import Path

import printed
import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs/guides"
GUIDE_OF = {"data": "data-parallel", "two_d": "two-d", "three_d": "three-d"}
# All of them would take a minute of every run.
LONG = ["context", "expert", "pipeline", "sequence", "three_d"]
NAMES = ["data", "fsdp", "megatron", "two_d", *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]


@pytest.mark.pinned
@pytest.mark.parametrize("name", NAMES)
def test_example_prints_what_its_guide_says(name):
    guide = GUIDES / f"{GUIDE_OF.get(name, name)}.md"
    program = (ROOT / f"examples/{name}.py").read_text()
    shell = printed.Shell(ROOT)

    def block(language, text):
        if language == "python":
            assert text in program
            return text
        assert text.startswith(f"$ python examples/{name}.py\n")
        return shell.block(language, text)

    printed.compare(guide, printed.filled(guide.read_text(), block))
    assert "steps agree with jax.jit\n```" in guide.read_text()


def test_every_example_is_run():
    names = {name if isinstance(name, str) else name.values[0] for name in NAMES}
    assert names == {path.stem for path in (ROOT / "examples").glob("*.py")} - {"agreement"}
