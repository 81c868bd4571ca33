"""One table of options for Python, the command line and sdy-opt."""

import concurrent.futures
import dataclasses
import pickle
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import shardonnay
from shardonnay.cli import main
from shardonnay.options import OPTIONS

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
OF_COMPILE = {"to", "time_limit", "host_memory_limit", "debug_info", "report"}
PROGRAM = """sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.tanh %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""


def test_the_defaults_are_the_table():
    assert vars(shardonnay.Options()) == {option.name: option.default for option in OPTIONS}
    assert all(option.help and option.help in shardonnay.Options.__doc__ for option in OPTIONS)


def test_an_options_object_is_a_value():
    options = shardonnay.Options(memory_limit=2**40, device_model=Path("model.json"))
    assert options.device_model == "model.json"
    assert pickle.loads(pickle.dumps(options)) == options
    assert dataclasses.replace(options, device_model="cpu", memory_limit=0) == shardonnay.Options()
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.strict = True


def test_keywords_change_an_options_object():
    options = shardonnay.Options(to="parse", debug_info=True)
    assert "loc(" in shardonnay.compile(PROGRAM, options=options).text
    text = shardonnay.compile(PROGRAM, options=options, debug_info=False).text
    assert "sdy.sharding" in text and "loc(" not in text


@pytest.mark.parametrize(
    "keywords, kind, message",
    [
        ({"memory_limit": -1}, shardonnay.OptionError, "memory_limit: expected 0 (none) or more, got -1"),
        ({"time_limit": float("nan")}, ValueError, "time_limit: expected 0 (none) or more, got nan"),
        ({"arguments": "half"}, ValueError, "arguments: expected one of split, whole, got 'half'"),
        ({"to": "here"}, ValueError, "to: expected one of parse, import, propagate, export, reshard, collectives, "
                                     "partition, emit, got 'here'"),
        ({"memory_limit": "1GiB"}, TypeError, "memory_limit: expected a number of bytes below 2^63, got '1GiB'"),
        ({"memory_limit": 2**63}, TypeError, "memory_limit: expected a number of bytes below 2^63, got "
                                             "9223372036854775808"),
        ({"devices": 1.5}, TypeError, "devices: expected a whole number below 2^63, got 1.5"),
        ({"time_limit": "1 s"}, TypeError, "time_limit: expected a number, got '1 s'"),
        ({"device_model": 3}, TypeError, "device_model: expected a text, got 3"),
        ({"strict": None}, TypeError, "strict: expected True or False, got None"),
        ({"options": {"strict": True}}, TypeError, "options: expected a shardonnay.Options, got {'strict': True}; "
                                                   "single options are keywords"),
        ({"search_mod": "graph"}, TypeError, "there is no option 'search_mod'; did you mean 'search_mode'?"),
        ({"wrong": 1}, TypeError, "there is no option 'wrong'"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named(keywords, kind, message):
    with pytest.raises(kind) as caught:
        shardonnay.compile(PROGRAM, **keywords)
    assert str(caught.value) == message


def help_of(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    return " ".join(capsys.readouterr().out.split())


def test_the_command_line_has_every_option(capsys):
    compile_help, report_help = help_of(capsys, "compile"), help_of(capsys, "report")
    for option in OPTIONS:
        if option.name != "report":
            assert option.flag in compile_help
        assert (option.flag in report_help) == (option.name not in {"to", "target", "report", "debug_info"})


def test_a_pipeline_has_every_option_that_passes_read():
    text = subprocess.run([SDY_OPT, "--help"], capture_output=True, text=True, check=True).stdout
    section = text.split("--sdy-partition-pipeline")[1].split("\n      --sdy-")[0]
    found = {option.name for option in OPTIONS if re.search(rf" {option.flag}[= ]", section)}
    assert found == {option.name for option in OPTIONS} - OF_COMPILE


def test_a_pipeline_refuses_the_same_values():
    command = [SDY_OPT, "--sdy-partition-pipeline=arguments=half"]
    done = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, check=False)
    assert done.returncode and "arguments: expected one of split, whole, got 'half'" in done.stderr


def test_progress_names_the_stages_and_may_end_the_compilation():
    seen = []
    shardonnay.compile(PROGRAM, progress=seen.append)
    assert ("parse", *seen) == shardonnay.STAGES

    def interrupt(stage):
        if stage == "reshard":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shardonnay.compile(PROGRAM, progress=interrupt)


def long_program(count):
    ops = "".join(f"  %{i + 1} = stablehlo.add %{i}, %{i} : tensor<4x4xf32>\n" for i in range(count))
    return PROGRAM.replace("  return %0", f"{ops}  return %{count}")


def test_other_threads_run_while_the_compiler_does():
    thread = threading.Thread(target=shardonnay.compile, args=(long_program(4000),))
    start = last = time.monotonic()
    thread.start()
    longest = 0
    while thread.is_alive():
        time.sleep(0.001)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert longest < (time.monotonic() - start) / 3


def test_programs_compiled_at_once_are_those_compiled_one_by_one():
    texts = [long_program(count) for count in (10, 200, 400, 600)] * 3
    alone = [shardonnay.compile(text).text for text in texts]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert [compiled.text for compiled in pool.map(shardonnay.compile, texts)] == alone


def test_a_signal_ends_the_compilation():
    """One that comes while the compiler runs, and Python does not."""
    code = f"""
import shardonnay, signal
text = {long_program(40000)!r}
signal.signal(signal.SIGVTALRM, signal.default_int_handler)
try:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)  # of the processor's time: the machine may have other work
    shardonnay.compile(text)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted\n"
