"""An agent with two tools: it looks for a town, reads about it, and answers."""

import json
import sys
from pathlib import Path
from typing import Any

from openai import OpenAI

TOWNS: dict[str, str] = {}
for line in Path(__file__).with_name("towns.jsonl").read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    TOWNS[row["town"]] = row["context"]


def find_town(query: str) -> str:
    return next((town for town in TOWNS if town.lower() in query.lower()), "no such town")


def read_about(town: str) -> str:
    return TOWNS.get(town, "nothing is known of it")


def tool(name: str, description: str, parameter: str) -> Any:
    parameters = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    told = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": told}


TOOLS = [
    tool("find_town", "Which town a text is about.", "query"),
    tool("read_about", "What is known of a town.", "town"),
]
FUNCTIONS = {"find_town": find_town, "read_about": read_about}


def answer(question: str) -> str:
    client = OpenAI()  # the address and the key are in the environment
    messages: list[Any] = [
        {"role": "system", "content": "Use the tools. Answer with the shortest span."},
        {"role": "user", "content": question},
    ]
    for _ in range(6):
        message: Any = client.chat.completions.create(model="any", messages=messages, tools=TOOLS).choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = FUNCTIONS[call.function.name](**json.loads(call.function.arguments))
            print(f"{call.function.name}: {result}", file=sys.stderr)  # into the sample's log
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return ""


if __name__ == "__main__":
    print(json.dumps({"answer": answer(json.load(sys.stdin)["question"])}))
