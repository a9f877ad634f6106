from __future__ import annotations

import json
from pathlib import Path

from seedbed.cli.main import main
from tests.support.toy import finished_run


def test_calls_are_spans_of_their_sample_in_the_words_of_the_conventions(tmp_path: Path) -> None:
    finished_run(tmp_path, n=2, ask=True)
    target = tmp_path / "calls.jsonl"
    assert main(["export", "toys", "--out", str(tmp_path / "out"), "--format", "otel", "--to", str(target)]) == 0
    lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    spans = [span for line in lines for part in line["resourceSpans"][0]["scopeSpans"] for span in part["spans"]]
    calls = [span for span in spans if "parentSpanId" in span]
    assert len(calls) == 4  # two samples, two seeds
    assert {span["parentSpanId"] for span in calls} == {span["spanId"] for span in spans if span not in calls}
    assert len({span["spanId"] for span in spans}) == len(spans)
    told = {each["key"]: each["value"] for each in calls[0]["attributes"]}
    assert told["gen_ai.operation.name"] == {"stringValue": "chat"}
    assert told["gen_ai.request.model"] == {"stringValue": "offline/reader"}
    assert int(told["gen_ai.usage.input_tokens"]["intValue"]) > 0
    assert json.loads(told["gen_ai.output.messages"]["stringValue"])[0]["role"] == "assistant"
    assert int(calls[0]["endTimeUnixNano"]) >= int(calls[0]["startTimeUnixNano"])
