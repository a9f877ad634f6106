"""The endpoint of the benchmark: `python -m bench.quick_server --latency-ms 50` prints its port, and serves.

It reads no more of a request than its length and gives all the same answer, so that the cores of the machine are left
to who is measured. For tests there is `tests/support/loopback.py`, which keeps books and takes three times the CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from typing import cast

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"

_TEXT = "[[ ## reasoning ## ]]\nThe last digit tells.\n\n[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]"
_BODY = json.dumps(
    {
        "id": "quick",
        "object": "chat.completion",
        "created": 0,
        "model": "loop",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": _TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 150, "completion_tokens": 25, "total_tokens": 175},
    }
).encode()
_REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)


class _Connection(asyncio.Protocol):
    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._got += data
        while (head := self._got.find(_END)) >= 0:
            found = _LENGTH.search(self._got, 0, head)
            end = head + len(_END) + (int(found[1]) if found else 0)
            if len(self._got) < end:
                return
            self._got = self._got[end:]
            asyncio.get_running_loop().call_later(self._latency_s, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(_REPLY)


async def _serve(latency_s: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(latency_s), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency-ms", type=float, default=0.0)
    asyncio.run(_serve(parser.parse_args().latency_ms / 1000))
