"""`seedbed`: reads the command line and hands over to the module of the command."""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

from seedbed import __version__
from seedbed.cli.again import same_command
from seedbed.cli.parsing import Parser, number, whole
from seedbed.errors import LeftByExit, Signalled, SweepStopped, Unreachable, UserError, causes, staying
from seedbed.local.signals import interrupt, on_signal
from seedbed.storage.paths import explain, file_mask
from seedbed.storage.redact import redact

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. A user's mistake is one sentence and exit code 2, never a traceback; a signal ends it with 128 and
    its number."""
    words = list(sys.argv[1:] if argv is None else argv)
    arguments, leaving = argparse.Namespace(command=None), False

    def listen(number: int) -> None:
        if not leaving:
            interrupt(number)

    with on_signal(listen):
        try:
            arguments = _parsed(words)
            return _run(arguments)
        except KeyboardInterrupt as stop:
            leaving = True  # its last words are said whole
            again = same_command(arguments) if arguments.command in ("run", "demo") else shlex.join(["seedbed", *words])
            print(f"\nStopped. To go on: {again}", file=sys.stderr, flush=True)
            return stop.exit_code if isinstance(stop, Signalled) else EXIT_INTERRUPTED


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = make_parser()
    if words and words[0].startswith("-") and words[0] not in parser.options:
        parser.refuse_option(words[0])
    arguments, rest = parser.parse_known_args(words)
    if rest and arguments.command != "score":
        parser.refuse_unknown(rest, arguments.command)
    arguments.rest = rest
    return arguments


def _run(arguments: argparse.Namespace) -> int:
    try:
        # What a command makes, and what it starts, is for this user alone unless SEEDBED_UMASK says otherwise.
        before = os.umask(file_mask())
        try:
            command = importlib.import_module(f"seedbed.cli.{arguments.command}")
            with staying():
                return command.run(arguments)
        finally:
            os.umask(before)
    except UserError as error:
        print(redact(f"seedbed: {error}"), file=sys.stderr)
        return EXIT_USAGE
    except LeftByExit as error:
        print(redact(f"seedbed: {error}: code of a plugin or a scorer must return or raise; mend it."), file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        return EXIT_OK
    except Exception as error:
        stop = next((cause for cause in causes(error) if isinstance(cause, SweepStopped)), None)
        sentence = explain(error) if stop is None else str(stop)
        if sentence is None:
            raise
        print(redact(f"seedbed: {sentence}"), file=sys.stderr)
        # What a person has to mend, and what only came to an end, as a cap.
        return EXIT_USAGE if stop is None or isinstance(stop, Unreachable) else EXIT_FAILED


def make_parser() -> Parser:
    """All commands with their arguments."""
    parser = Parser(
        prog="seedbed", description="LLM experiments over seeds, benchmarks and systems, with every token counted."
    )
    parser.add_argument("--version", action="version", version=f"seedbed {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    def add(name: str, text: str, **settings: Any) -> Parser:
        parser.commands[name] = commands.add_parser(name, help=text, description=text, **settings)
        return parser.commands[name]

    init = add("init", "Write an example to start from: a commented config with its data, which runs offline at once.")
    init.add_argument(
        "--example", choices=["qa", "judge", "rag", "optimise", "agent"], default="qa", help="default: qa"
    )
    init.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="where to (default: here)")
    for name, text in (
        ("run", "Run a sweep, or go on with one that was interrupted."),
        ("demo", "Run all suites in a small size, with no key and no network."),
        ("plan", "Show the cells of a sweep and estimate its calls and dollars; nothing is run."),
    ):
        command = add(name, text)
        if name == "demo":
            command.set_defaults(config="configs/demo.yaml")
            told = "a real small model on this machine instead of the simulated one; needs seedbed[local]"
            command.add_argument("--real", action="store_true", help=told)
        else:
            more = "; or an archive (.zip) to make again, with --out" if name == "run" else ""
            command.add_argument("config", metavar="CONFIG", help=f"the sweep's YAML file{more}")
        command.add_argument(
            "--set", dest="overrides", metavar="FIELD=VALUE", action="append", default=[], help="override a field"
        )
        command.add_argument("--out", metavar="DIR", help="where results go (default: `out` of the config)")
        if name == "plan":
            command.add_argument("--json", action="store_true", help="the same as data")
            told = "how many samples and seeds would show a difference of D, judged by a run that is there"
            command.add_argument("--detect", metavar="D", type=float, help=told)
            command.add_argument("--pilot", metavar="SWEEP", help="judge by a run of this sweep instead of its own")
        else:
            command.add_argument(
                "--fresh", action="store_true", help="use nothing made before: pay for every call again"
            )
            command.add_argument(
                "--replay", action="store_true", help="make no call at all; fail on the first unknown one"
            )
            command.add_argument("--all", action="store_true", help="print every figure, not only what fits the width")
            command.add_argument("--trust-plugins", action="store_true", help="run code that came with an archive")
    status = add("status", "Show how far sweeps have come.")
    status.add_argument("sweep", metavar="SWEEP", nargs="?", help="name of a sweep; all if left out")
    costs = add("costs", "Show calls, tokens and dollars of a sweep by phase, role, model and outcome.")
    costs.add_argument("sweep", metavar="SWEEP")
    status.add_argument("--json", action="store_true", help="the same as data")
    watch = add("watch", "Look on at a running sweep, from another terminal or machine.")
    watch.add_argument("sweep", metavar="SWEEP", nargs="?", help="name of a sweep; the newest if left out")
    for command in (status, watch, costs):
        command.add_argument("--out", metavar="DIR", default="experiment_runs_data", help="where results are")
    _add_results(add)
    told = "Score answers made elsewhere; `seedbed score SUITE --help` lists the suite's options."
    score = add("score", told, add_help=False)
    for name in ("suite", "file"):
        score.add_argument(name, nargs="?")
    score.add_argument("--out")
    score.add_argument("-h", "--help", action="store_true")
    synth = add("synth", "Make a test set of RAG cases from documents.")
    synth.add_argument("documents", metavar="DOC", nargs="+", help="text or Markdown files, or folders of them")
    synth.add_argument("--out", metavar="CASES.jsonl", required=True, help="the file of cases to write")
    synth.add_argument("--cases", metavar="N", type=int, default=20)
    synth.add_argument("--model", metavar="MODEL", required=True, help="a litellm name, or offline/NAME")
    synth.add_argument("--seed", metavar="S", type=int, default=0)
    synth.add_argument("--personas", metavar="N", type=int, default=3)
    synth.add_argument("--multi-hop", metavar="SHARE", type=float, default=0.25, help="share that needs two units")
    synth.add_argument("--temperature", metavar="T", type=number(0), default=0.0)
    synth.add_argument("--concurrency", metavar="N", type=whole(1), default=8)
    synth.add_argument("--api-base", metavar="URL", help="address of an OpenAI-compatible endpoint")
    synth.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
    synth.add_argument("--max-usd", metavar="USD", type=number(0), help="start no call that could pass this sum")
    meta = add("meta", "Judge the judge: accuracy, bias and confusion on cases whose truth is planted.")
    meta.add_argument("suite", metavar="SUITE")
    meta.add_argument("--judge", metavar="MODEL", required=True, help="a litellm name, or offline/NAME")
    meta.add_argument("--judge-base", metavar="URL", help="address of an OpenAI-compatible endpoint")
    meta.add_argument("--judge-key-env", metavar="NAME", help="environment variable that holds the key")
    meta.add_argument("--judge-ability", metavar="0..1", type=number(0, 1), help="ability of an offline judge")
    meta.add_argument("--out", metavar="DIR", default="experiment_runs_data/meta", help="where results and ledger go")
    ledger = add("ledger", "Show, copy or clean up the record of all calls.")
    ledger.add_argument("action", choices=["stats", "export", "prune", "why"])
    ledger.add_argument("sample", metavar="SAMPLE", nargs="?", help="why: whose last run asked something new")
    ledger.add_argument("--out", metavar="DIR", default="experiment_runs_data", help="the results folder it lies in")
    ledger.add_argument("--ledger", metavar="FILE_OR_URL", help="a ledger elsewhere")
    ledger.add_argument("--sweep", metavar="NAME", help="only what this sweep asked (prune: and no other)")
    ledger.add_argument("--to", metavar="FILE", default="-", help="export: a .jsonl, or a .sqlite to replay from")
    ledger.add_argument("--no-bodies", action="store_true", help="export: leave requests and responses out")
    ledger.add_argument("--older-than", metavar="DAYS", type=number(0), help="prune: not used for so many days")
    ledger.add_argument("--yes", action="store_true", help="prune: do it; without this it is only counted")
    batches = add("batches", "List batches that models are to answer, wait for their answers, cancel or drop them.")
    batches.add_argument("action", choices=["list", "cancel", "wait", "drop"], nargs="?", default="list")
    batches.add_argument(
        "batch", metavar="BATCH", nargs="*", help="as `list` names them; all that are open if left out"
    )
    batches.add_argument("--out", metavar="DIR", default="experiment_runs_data", help="the results folder they lie in")
    batches.add_argument("--ledger", metavar="FILE_OR_URL", help="a ledger elsewhere")
    batches.add_argument("--sweep", metavar="NAME", help="only those with requests of this sweep")
    batches.add_argument("--all", action="store_true", help="list: also those that have ended")
    batches.add_argument("--json", action="store_true", help="list: the same as data")
    prices = add("prices", "Show what a model charges, and what a given usage costs.")
    prices.add_argument("model", metavar="MODEL", help="a litellm name, for example openai/gpt-4.1-mini")
    prices.add_argument("--usage", metavar="JSON_OR_FILE", help="a response's usage, or the response itself")
    prices.add_argument("--service-tier", metavar="TIER", help="price the usage at this tier (priority, flex)")
    prices.add_argument("--batch", action="store_true", help="price the usage as part of a batch")
    control = add(
        "server",
        "Start, stop, look at or tidy the local Prefect server; env: settings for the command prefect.",
    )
    control.add_argument("action", choices=["start", "stop", "status", "env", "tidy"])
    control.add_argument("--older-than", metavar="DAYS", type=number(0), help="tidy: runs that ended so many days ago")
    control.add_argument("--yes", action="store_true", help="tidy: do it; without this they are only counted")
    ui = add("ui", "Open sweeps as they run, their reports and the Prefect UI in a browser.")
    ui.add_argument("--no-open", action="store_true", help="only print the address")
    ui.add_argument("--out", metavar="DIR", help="show these results too, beside those of sweeps that ran here")
    _add_nightly(add)
    suites = add("suites", "List the suites with their benchmarks, systems and metrics.")
    suites.add_argument(
        "--plugin", metavar="MODULE", action="append", default=[], help="import a module of one's own first"
    )
    add("schema", "Print the JSON schema of a config (configs/schema.json is made from it).")
    completion = add("completion", "Print what lets a shell complete commands, options and names of sweeps.")
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    doctor = add("doctor", "Check versions, server, keys and weights on this machine, and the models of a config.")
    doctor.add_argument("config", metavar="CONFIG", nargs="?", help="ask each of its models something small, for real")
    return parser


def _add_nightly(add: Callable[[str, str], Parser]) -> None:
    """Commands for schedules, workers and baselines."""
    for name, text in (
        ("deploy", "Register sweep, nightly and rescore with the Prefect server, and what watches them."),
        ("serve", "Register them and carry them out from here: schedule and worker of a small lab."),
        ("worker", "Carry out the runs of a work pool."),
    ):
        command = add(name, text)
        command.add_argument("--pool", metavar="NAME", default="seedbed", help="work pool (default: seedbed)")
        if name == "worker":
            continue
        command.add_argument("config", metavar="CONFIG", help="the sweep's YAML file")
        command.add_argument("--cron", metavar="CRON", default="0 3 * * *", help="when (default: '0 3 * * *')")
        command.add_argument("--timezone", metavar="ZONE", default="UTC", help="of the schedule (default: UTC)")
        command.add_argument("--notify", metavar="TYPE/NAME", help="notification block that is told of bad nights")
        command.add_argument("--file", metavar="FILE", help="another prefect.yaml than Seedbed's")
    explain = add(
        "explain", "Say what moved the figures of a run: old and new judge, model, data and code are crossed."
    )
    explain.add_argument("a", metavar="SWEEP", help="its newest run against its baseline; with B: what is held against")
    explain.add_argument("b", metavar="B", nargs="?", help="another sweep, or the folder of a run")
    explain.add_argument("--max-usd", metavar="USD", type=number(0), help="what it may cost (default: of gate.explain)")
    explain.add_argument("--json", action="store_true", help="print JSON instead of text")
    explain.add_argument("--out", metavar="DIR", default="experiment_runs_data", help="where results are")
    baseline = add("baseline", "Accept a finished run as what nightly runs are held against, or list those accepted.")
    baseline.add_argument("action", choices=["accept", "list"])
    baseline.add_argument("sweep", metavar="SWEEP", help="name of a sweep, or the folder of its newest run")
    baseline.add_argument("--note", metavar="TEXT", default="", help="why, for the record")
    baseline.add_argument("--out", metavar="DIR", default="experiment_runs_data", help="where results are")


def _add_results(add: Callable[[str, str], Parser]) -> None:
    """Commands on the results of sweeps."""
    report = add("report", "Write tables, plots and report of a sweep again from its stored rows.")
    report.add_argument("--open", action="store_true", help="open the report in a browser")
    report.add_argument("--all", action="store_true", help="print every figure, not only what fits the width")
    report.add_argument("--baseline", metavar="SYSTEM", help="compare with this system instead of the first")
    report.add_argument(
        "--samples", type=whole(0), default=300_000, metavar="N", help="samples shown (default: %(default)s)"
    )
    compare = add("compare", "Compare two sweeps, two systems (SWEEP:SYSTEM) or two imports, sample by sample.")
    for name, text in (("a", "what is held against"), ("b", "what is judged: better, worse, ...")):
        compare.add_argument(name, metavar=name.upper(), help=f"{text}: SWEEP or SWEEP:SYSTEM")
    compare.add_argument("--metric", metavar="NAME", help="one metric only")
    compare.add_argument("--json", action="store_true", help="print JSON instead of tables")
    told = "write compare.html, with the answers of both sample by sample, and open it"
    compare.add_argument("--open", action="store_true", help=told)
    for command in (report, compare):
        told = "differences up to this are none (default: 0.05)"
        command.add_argument("--margin", type=number(0), default=0.05, metavar="D", help=told)
    power = add("power", "Show what a finished sweep could see, and what seeing a given difference would take.")
    power.add_argument("--detect", metavar="D", type=float, help="how many samples would show a difference of D")
    power.add_argument("--seeds", metavar="S", type=int, help="with so many seeds (default: as many as it has)")
    power.add_argument("--metric", metavar="NAME", help="another metric than the one that decides")
    power.add_argument("--json", action="store_true", help="the same as data")
    verify = add("verify", "Recompute every published figure from the stored rows; fail on any difference.")
    verify.add_argument(
        "path",
        metavar="PATH",
        help="name of a sweep; or what somebody sent: a folder, a .zip, s3://BUCKET/PREFIX; or a paper (.tex)",
    )
    verify.add_argument("sweeps", metavar="SWEEP", nargs="*", help="of a paper: the sweeps that its numbers are of")
    verify.add_argument("--claims", metavar="FILE", help="of a paper: sentences to check (default: PAPER.claims.yaml)")
    verify.add_argument(
        "--published", action="store_true", help="do not make answers and scores again from the ledger's replies"
    )
    verify.add_argument(
        "--trust-plugins", action="store_true", help="run code that came with the results; read it first"
    )
    rescore = add("rescore", "Score the stored answers of a sweep again, without generating any.")
    rescore.add_argument("--all", action="store_true", help="print every figure, not only what fits the width")
    export = add("export", "Write every sample of a sweep as one table, or a run as an archive to give away.")
    export.add_argument(
        "--format",
        choices=["csv", "parquet", "inspect", "mlflow", "otel", "labels"],
        help="a table (default: csv), logs of inspect_ai, runs of MLflow, traces of OpenTelemetry, or people's labels",
    )
    export.add_argument(
        "--to", metavar="WHERE", help="a file, a folder of logs, MLflow's store (default: in the run's folder)"
    )
    export.add_argument(
        "--archive", metavar="FILE.zip", help="pack results, ledger extract and config, for `verify` and `run --replay`"
    )
    export.add_argument("--with-data", action="store_true", help="put the files of your own benchmarks in the archive")
    label = add("label", "Label answers by hand on a page of this machine, to correct what a model judged.")
    label.add_argument("--metric", metavar="NAME", required=True, help="a metric that a model judges")
    label.add_argument("--rater", metavar="NAME", default="me", help="who labels; a second rater takes another name")
    label.add_argument("--system", dest="systems", metavar="LABEL", action="append", default=[],
                       help="only answers of this system; may be given again (default: all)")  # fmt: skip
    label.add_argument("--benchmark", metavar="LABEL", help="only this benchmark")
    told = "of the page (default: %(default)s; 0: any free one)"
    label.add_argument("--port", metavar="N", type=whole(0, 65535), default=4290, help=told)
    label.add_argument("--no-open", action="store_true", help="only print the link")
    imports = add("import", "Read results of inspect_ai or lm-evaluation-harness, to compare them.")
    imports.add_argument(
        "files", metavar="FILE", nargs="+", help="logs (.eval, .json) or sample files (samples_*.jsonl)"
    )
    imports.add_argument("--name", metavar="NAME", help="what `compare` calls it (default: the first file's name)")
    imports.add_argument("--out", metavar="DIR", default="experiment_runs_data", help="where results are")
    for command in (report, rescore, export, label, power):
        command.add_argument("sweep", metavar="SWEEP", help="name of a sweep, or the folder of one of its runs")
    for command in (report, compare, verify, rescore, export, label, power):
        command.add_argument("--out", metavar="DIR", default="experiment_runs_data", help="where results are")


if __name__ == "__main__":
    sys.exit(main())
