"""`seedbed prices`: what a model would charge."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.lm.prices import OFFLINE_PRICE, bundled_price


def run(arguments: argparse.Namespace) -> int:
    offline = arguments.model.startswith("offline/")
    price = OFFLINE_PRICE if offline else bundled_price(arguments.model)
    if price is None:
        raise UserError(
            f"the price of {arguments.model!r} is not in litellm's bundled list; give it in the config, "
            "price: {input: ..., output: ...} in dollars per million tokens."
        )
    print(f"{arguments.model} ({price.source}), dollars per million tokens:")
    print(f"  input {price.input * 1e6:g}   cached input {price.cached * 1e6:g}   output {price.output * 1e6:g}")
    return EXIT_OK
