#!/usr/bin/env python3
"""What the textbook's plan of MaxText's programs sends: textbook.py, for docs/maxtext.md.

GiB that a device sends in a step, in rings, of one plan for each way to shard:

  tensor   Megatron with sequence parallelism: activations are sharded by sequence or width between blocks; each block
           (attention, MLP) gathers its input and reduce-scatters its output, forward, when computed again (but for what
           leaves the MLP) and backward: 6 times for attention, 5 for the MLP, there for each slot of an expert. Twice
           each at the embedding and at the logits.
  fsdp     a layer's weights are gathered in bf16 forward and again backward, their gradients reduce-scattered once
  data     gradients are all-reduced, after fsdp has scattered them
  experts  tokens go to their experts and back by all_to_all, a tensor's shard each: forward, when computed again,
           backward
  stage    what a stage hands on goes by a permute, forward and backward
"""

from dataclasses import dataclass

GIB, BF16 = 2**30, 2


def ring(whole, group):
    """What a device sends to gather `whole` bytes, or to reduce-scatter them, in a ring of `group`."""
    return whole * (group - 1) / group


@dataclass
class Step:
    """A train step: the model, and the axes of its mesh. `attention`, `mlp`: weights of a layer; `words`: of a table.
    """

    layers: int
    width: int
    attention: int
    mlp: int
    words: int
    rows: int  # sequences in the batch
    tables: int = 2  # embedding and logits, or one for both
    length: int = 4096
    data: int = 1
    fsdp: int = 1
    tensor: int = 1
    expert: int = 1
    stage: int = 1
    experts: int = 0  # weights of a layer's experts
    expert_layers: int = 0
    slots: int = 0  # tokens that experts take from one sequence, all experts together
    turns: int = 0  # of a pipeline's loop

    @property
    def activation(self):
        """Bytes of the activations of a device's sequences."""
        return self.rows // (self.data * self.fsdp * self.expert * self.stage) * self.length * self.width * BF16

    def sent_for_tensor(self):
        slots = self.expert_layers * self.slots / self.length + self.layers - self.expert_layers
        return (6 * self.layers + 5 * slots + 4) * ring(self.activation, self.tensor)

    def parts(self):
        """{part: GiB}"""
        across = self.fsdp * self.expert  # what is no expert's is sharded by both
        dense = self.layers * (self.attention + self.mlp) // self.stage
        kept = dense + self.tables * self.words
        found = {
            "tensor": self.sent_for_tensor(),
            "fsdp": 3 * ring(kept * BF16 / self.tensor, across),
            "data": 2 * ring(kept * BF16 / self.tensor / across, self.data),
        }
        if self.expert > 1:
            held = self.expert_layers * self.experts * BF16 / self.expert / self.tensor
            found["fsdp"] += 3 * ring(held, self.fsdp)
            sent = self.rows // across * self.slots * self.width // self.tensor * BF16
            found["experts"] = 6 * self.expert_layers * ring(sent, self.expert)
        if self.stage > 1:
            found["stage"] = 2 * self.turns * self.activation
            found["stage-sum"] = 2 * ring(self.tables * self.words * BF16 / across, self.stage)
        return {part: value / GIB for part, value in found.items() if value}


def _llama(layers, width, hidden, heads, kv, **more):
    attention = width * 128 * 2 * (heads + kv)
    return Step(layers, width, attention, 3 * width * hidden, 128256 * width, **more)


PROGRAMS = {
    "l3-8b-data16": _llama(32, 4096, 14336, 32, 8, rows=16, data=16),
    "l3-70b-d4-f8-t8": _llama(80, 8192, 28672, 64, 8, rows=256, data=4, fsdp=8, tensor=8),
    "l3-8b-fsdp8-tp8-unroll": _llama(32, 4096, 14336, 32, 8, rows=64, fsdp=8, tensor=8),
    "l3-8b-pp4-f8": _llama(32, 4096, 14336, 32, 8, rows=32, fsdp=8, stage=4, turns=7),
    "g2-9b-f8-t4": Step(42, 3584, 3584 * 256 * 2 * (16 + 8), 3 * 3584 * 14336, 256128 * 3584, rows=32, tables=1, fsdp=8,
                        tensor=4),
    "gpt3-175b-f32-t8": Step(96, 12288, 4 * 12288**2, 2 * 12288 * 49152, 50304 * 12288, rows=256, tables=1, fsdp=32,
                             tensor=8),
    "ds2-f8-e8-cap": Step(
        27, 2048, 2048 * (16 * 192 + 576 + 16 * 128) + 512 * 16 * 256, 3 * 2048 * 2816, 102400 * 2048, rows=64, fsdp=8,
        expert=8, experts=3 * 64 * 2048 * 1408, expert_layers=26, slots=64 * 480,
    ),
    "mixtral-f4-e8-t4-cap": Step(
        32, 4096, 4096 * 128 * 2 * (32 + 8), 4096 * 8, 32000 * 4096, rows=128, fsdp=4, expert=8, tensor=4,
        experts=3 * 8 * 4096 * 14336, expert_layers=32, slots=8 * 1280,
    ),
    "mixtral-f8-e8-ragged": Step(
        32, 4096, 4096 * 128 * 2 * (32 + 8), 4096 * 8, 32000 * 4096, rows=64, fsdp=8, expert=8,
        experts=3 * 8 * 4096 * 14336, expert_layers=32, slots=2 * 4096,
    ),
}  # fmt: skip


def main():
    for name, step in PROGRAMS.items():
        parts = step.parts()
        listed = ", ".join(f"{part} {value:.3g}" for part, value in parts.items())
        print(f"{name:24} {sum(parts.values()):8.4g} GiB: {listed}")


if __name__ == "__main__":
    main()
