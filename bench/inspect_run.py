"""inspect_ai on the same questions. Runs in a virtual environment of its own, so it imports nothing of this project."""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--messages", required=True, help="JSON: the chat messages, with @@ for the question's number")
    parser.add_argument("--total", type=int, required=True)
    parser.add_argument("--concurrency", type=int, required=True)
    parser.add_argument("--logs", required=True)
    arguments = parser.parse_args()
    os.environ["INSPECT_LOG_DIR"] = arguments.logs

    from inspect_ai import Task
    from inspect_ai import eval as run_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    system, user = (message["content"] for message in json.loads(arguments.messages))

    def task(count: int, start: int) -> Task:
        samples = [
            Sample(
                input=[ChatMessageSystem(content=system), ChatMessageUser(content=user.replace("@@", str(number)))],
                target="yes",
            )
            for number in range(start, start + count)
        ]
        return Task(dataset=samples, solver=generate(), scorer=includes())

    model = get_model("openai/loop", base_url=arguments.url, api_key="none", responses_api=False)
    settings = {
        "model": model,
        "max_connections": arguments.concurrency,
        "max_samples": arguments.concurrency,
        "display": "none",
        "log_dir": arguments.logs,
    }
    run_eval(task(64, 1_000_000), **settings)
    before, began = _cpu(), time.perf_counter()
    logs = run_eval(task(arguments.total, 0), **settings)
    took = time.perf_counter() - began
    assert logs[0].status == "success", logs[0].error
    json.dump({"rps": arguments.total / took, "cpu_ms": (_cpu() - before) * 1000 / arguments.total}, sys.stdout)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
