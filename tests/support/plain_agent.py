"""An agent of the standard library alone, for tests of programs as systems: it asks twice, the second time with what
the first answer said. As a server (`--serve`) it answers lines of JSON."""

import json
import os
import sys
import time
import urllib.request


def ask(environment, text):
    body = {"model": "any", "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(
        f"{environment['OPENAI_BASE_URL']}/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {environment['OPENAI_API_KEY']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


def answer(environment, question):
    if "crash" in question:
        print("a line before\nno idea", file=sys.stderr)
        sys.exit(3)
    if "sleep" in question:
        if os.fork() == 0:
            time.sleep(600)
        time.sleep(600)
    if "past the gateway" in question:
        return "nobody was asked"
    first = ask(environment, question)
    print(f"thinking about {question}", file=sys.stderr, flush=True)
    return ask(environment, f"{question} {first}")


def main():
    if "--serve" in sys.argv:
        for line in sys.stdin:
            case = json.loads(line)
            said = answer(case["environment"], case["inputs"]["question"])
            print(json.dumps({"answer": said, "pid": os.getpid()}), flush=True)
        return
    given = json.load(sys.stdin)
    if "text" in given["question"]:
        print("42")
        return
    seen = {name: os.environ[name] for name in ("SEEDBED_SEED", "SEEDBED_SAMPLE")}
    assert os.access(os.environ["SEEDBED_WORKDIR"], os.W_OK)
    print(json.dumps({"answer": answer(os.environ, given["question"]), **seen}))


if __name__ == "__main__":
    main()
