"""A budget against what a sweep will take, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seedbed.errors import UserError
from seedbed.phases.forecast import SweepForecast, forecast
from seedbed.sweep.plan import Plan


def refuse_small_budget(plan: Plan, root: Path, warn: Callable[[str], None], *, fresh: bool) -> None:
    """`check_budget` on a forecast made now; every way to start a sweep asks it before anything is written."""
    if plan.config.budget.max_usd is None:
        return
    warning = check_budget(plan, forecast(plan, root, fresh=fresh))
    if warning is not None:
        warn(warning)


def check_budget(plan: Plan, found: SweepForecast) -> str | None:
    """Refuse a cap that cannot hold even if all goes as cheaply as it may; warn where it may not hold."""
    cap, usd = plan.config.budget.max_usd, found.total.usd
    if cap is None or usd is None:
        return None
    used = f" (${found.spent_usd:.4f} of it is spent already)" if found.spent_usd else ""
    if found.spent_usd + usd.low > cap:
        raise UserError(
            f"field budget.max_usd: ${cap:g} cannot hold{used}: what is left takes ${usd.low:.2g} at least, "
            f"${usd.likely:.2g} likely; raise it, or ask less (fewer seeds, `limit` of a benchmark)."
        )
    if found.spent_usd + usd.high > cap:
        return (
            f"budget.max_usd ${cap:g} may not be enough{used}: what is left takes ${usd.low:.4f} to ${usd.high:.4f}. "
            "At the cap the sweep stops, keeps what is paid for, and can go on with a larger one."
        )
    return None
