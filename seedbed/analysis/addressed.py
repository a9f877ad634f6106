"""Every figure of a summary under the address by which a text can name it.

    [SWEEP:]BENCHMARK/SYSTEM[@MODEL]/METRIC[/FIGURE]

A sweep has each benchmark, system and model once, whatever its suites. The model may be left out where the sweep has
the system with one only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from seedbed.analysis.results import Comparison, Row, Summary
from seedbed.suite import Metric

Kind = Literal["value", "signed", "count", "dollars", "p", "p_text", "word"]


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A figure as a text may print it: one value, or two where it is an interval."""

    kind: Kind
    values: tuple[float | None, ...] = ()
    """None where undefined."""
    digits: int = 0
    share: bool = False
    """Whether it lies between 0 and 1 (a difference between -1 and 1), so that 61 can only mean 0.61."""
    word: str = ""
    spread: float | None = None
    """The standard deviation over seeds that a mean may be printed with."""
    comparison: Comparison | None = None

    @property
    def known(self) -> bool:
        return bool(self.word) if self.kind == "word" else bool(self.values) and None not in self.values

    @property
    def numbers(self) -> tuple[float, ...]:
        """Its values; none at all where one is undefined."""
        known = tuple(value for value in self.values if value is not None)
        return known if len(known) == len(self.values) else ()


@dataclass(frozen=True)
class AddressedRow:
    """A system on a benchmark: the names of the row, the full one first, and its figures by what follows the name."""

    names: Sequence[str]
    figures: Mapping[str, PrintedFigure]


def addressed_rows(summary: Summary) -> list[AddressedRow]:
    """All rows of a summary. A name that two rows would share is nobody's."""
    shorts = [f"{row.benchmark}/{row.label}" for row in summary.rows]
    made: list[AddressedRow] = []
    for row, short in zip(summary.rows, shorts, strict=True):
        names = [f"{short}@{row.model}", *([short] if shorts.count(short) == 1 else [])]
        made.append(AddressedRow([*(f"{summary.sweep}:{name}" for name in names), *names], _figures(summary, row)))
    return made


def _figures(summary: Summary, row: Row) -> dict[str, PrintedFigure]:
    own = {
        c.metric: c for c in summary.comparisons if (*row.key, row.label) == (c.suite, c.benchmark, c.model, c.label)
    }
    found: dict[str, PrintedFigure] = {}
    for metric in summary.metrics[row.suite]:
        found |= {f"{metric.name}/{name}" if name else metric.name: f for name, f in _of_metric(row, metric)}
        if metric.name in own:
            found |= {f"{metric.name}/{name}": f for name, f in _of_comparison(own[metric.name], metric)}
    # A metric of the same name comes first.
    return {name: figure for name, figure in _of_row(row) if name not in found} | found


def _of_row(row: Row) -> Iterator[tuple[str, PrintedFigure]]:
    for name, count in (("answers", row.n), ("errors", row.n_errors), ("skipped", row.n_skipped)):
        yield name, PrintedFigure("count", (count,))
    yield "tokens", PrintedFigure("count", (None if row.uncounted else row.tokens_in + row.tokens_out,))
    yield "usd", PrintedFigure("dollars", (row.list_usd,), 4)


def _of_metric(row: Row, metric: Metric) -> Iterator[tuple[str, PrintedFigure]]:
    over, samples, share = row.metrics[metric.name], row.samples[metric.name], _is_share(metric)

    def value(*values: float | None, spread: float | None = None) -> PrintedFigure:
        return PrintedFigure("value", values, metric.digits, share, spread=spread)

    yield "", value(over.mean, spread=over.std)
    yield "std", value(over.std if over.n_seeds > 1 else None)
    yield "low", value(samples.ci_low)
    yield "high", value(samples.ci_high)
    yield "interval", value(samples.ci_low, samples.ci_high)
    yield "n", PrintedFigure("count", (samples.n_samples,))
    yield "clusters", PrintedFigure("count", (samples.n_clusters,))
    yield "seeds", PrintedFigure("count", (over.n_seeds,))
    for seed, values in row.by_seed.items():
        yield f"seed-{seed}", value(values.get(metric.name))


def _of_comparison(c: Comparison, metric: Metric) -> Iterator[tuple[str, PrintedFigure]]:
    """Against the baseline. As in the tables of a paper, p is the one that decides: after Holm."""

    def signed(*values: float | None) -> PrintedFigure:
        return PrintedFigure("signed", values, metric.digits, _is_share(metric), comparison=c)

    yield "difference", signed(c.difference)
    yield "difference_low", signed(c.ci_low)
    yield "difference_high", signed(c.ci_high)
    yield "difference_interval", signed(c.ci_low, c.ci_high)
    yield "p", PrintedFigure("p", (c.p_holm,), 3, comparison=c)
    yield "p_text", PrintedFigure("p_text", (c.p_holm,), 3, comparison=c)
    yield "p_raw", PrintedFigure("p", (c.p,), 3, comparison=c)
    yield "effect_size", PrintedFigure("signed", (c.effect_size,), 2, comparison=c)
    yield "detectable", PrintedFigure("value", (c.detectable,), metric.digits, _is_share(metric))
    for name, count in (("pairs", c.n_pairs), ("wins", c.wins), ("ties", c.ties), ("losses", c.losses)):
        yield name, PrintedFigure("count", (count,))
    yield "verdict", PrintedFigure("word", word=c.verdict, comparison=c)
    yield "baseline", PrintedFigure("word", word=c.baseline)


def _is_share(metric: Metric) -> bool:
    return metric.range is not None and metric.range[0] >= -1 and metric.range[1] <= 1
