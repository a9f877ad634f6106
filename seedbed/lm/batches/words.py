"""How batches are spoken of."""

from __future__ import annotations

from seedbed.lm.ledger.batch_views import BatchView


def going_on(count: int, requests: int) -> str:
    """What is said of batches that are left running."""
    what = "1 batch goes" if count == 1 else f"{count} batches go"
    asked = "1 request" if requests == 1 else f"{requests:,} requests"
    return f"{what} on without this process, with {asked}: run again to take the answers, or `seedbed batches cancel`"


def in_words(seconds: float) -> str:
    """An age as people say it."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole // 60, 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def batch_line(view: BatchView) -> str:
    """A batch in a line: age and counts."""
    count = f"{view.taken if view.ended else view.done:,} of {view.requests:,}"
    known = f" ({view.provider_id})" if view.provider_id else ""
    after = f" for {', '.join(view.sweeps)}" if view.sweeps else ""
    alone = "" if view.ended or view.at_work else "; no process looks after it"
    why = f"; {view.error}" if view.error else ""
    return f"{view.id}{known}: {view.model}, {view.state}, {count}, {in_words(view.age_s)}{after}{alone}{why}"
