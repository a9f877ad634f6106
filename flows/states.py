"""How the end of a sweep shows in Prefect."""

from __future__ import annotations

from typing import Any

from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed


def state_of(status: str, more: str) -> State[Any]:
    """The state of a flow run whose sweep ended with a status; `more` is said behind it."""
    message = f"{status}: {more}"
    match status:
        case "completed":
            return Completed(message=message)
        case "interrupted":
            return Cancelled(message=message)
        case _:
            return Failed(message=message)
