"""An agent with the openai package and two tools. Reads a case as JSON, prints the answer as JSON."""

import json
import sys
from typing import Any

from openai import OpenAI

POPULATION = {"Lyon": 522_000, "Porto": 232_000, "Graz": 292_000}


def find_city(text: str) -> str:
    return next((city for city in POPULATION if city in text), "unknown")


def population(city: str) -> str:
    return f"The city of {city} has {POPULATION.get(city, 0)} inhabitants."


FUNCTIONS = {"find_city": find_city, "population": population}
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]},
        },
    }
    for name, description, field in (
        ("find_city", "The city that a text is about.", "text"),
        ("population", "How many people live in a city.", "city"),
    )
]


def answer(question: str) -> str:
    client = OpenAI()
    messages: list[Any] = [
        {"role": "system", "content": "Use the tools. Answer with the shortest span."},
        {"role": "user", "content": question},
    ]
    for _ in range(5):
        message: Any = client.chat.completions.create(model="any", messages=messages, tools=TOOLS).choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            said = FUNCTIONS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": said})
    raise RuntimeError("no answer after five rounds")


if __name__ == "__main__":
    print(json.dumps({"answer": answer(json.load(sys.stdin)["question"])}))
