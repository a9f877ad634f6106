"""Telling somebody of a verdict. Whether that works has no influence on the verdict."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from prefect import get_run_logger
from prefect.blocks.core import Block

from seedbed.lm.providers.openai_http import is_loopback
from seedbed.sweep.config import NotifyConfig

_TIMEOUT_S = 20.0


async def notify(config: NotifyConfig, verdict: Mapping[str, Any]) -> None:
    """Send a verdict to the block and the webhook that the config names, if it is one they are to hear of."""
    if verdict["verdict"] not in config.on:
        return
    if config.block is not None:
        await _tried(f"block {config.block}", _through_block(config.block, verdict))
    if config.url_env is not None:
        url = os.environ.get(config.url_env)
        if not url:
            get_run_logger().error("gate.notify.url_env: %s is not set, so nobody was told", config.url_env)
            return
        await _tried(f"the webhook in {config.url_env}", _post(url, verdict))


async def _tried(where: str, sending: Any) -> None:
    try:
        await sending
        get_run_logger().info("the verdict was sent to %s", where)
    except Exception as error:
        # The address may hold a secret: only the kind of error is said.
        get_run_logger().error("the verdict could not be sent to %s: %s", where, type(error).__name__)


async def _through_block(slug: str, verdict: Mapping[str, Any]) -> None:
    block: Any = await Block.aload(slug)
    lines = [*verdict["reasons"], *([f"What moved it: {verdict['explanation']}"] if verdict.get("explanation") else [])]
    body = "\n".join(f"- {line}" for line in lines) or verdict["headline"]
    await block.notify(body=body, subject=f"Nightly {verdict['sweep']}: {verdict['verdict']}")


async def _post(url: str, verdict: Mapping[str, Any]) -> None:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    session = aiohttp.ClientSession(timeout=timeout, trust_env=not is_loopback(url))
    async with session, session.post(url, json=dict(verdict)) as reply:
        reply.raise_for_status()
