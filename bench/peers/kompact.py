"""kompact's pipeline with its own settings; it knows no budget."""

import sys

# This file has the name of the package it drives.
sys.path.append(sys.path.pop(0))

from peer import serve

from kompact.config import KompactConfig
from kompact.parser.messages import parse_request, serialize_request
from kompact.transforms.pipeline import run
from kompact.types import Provider


def compact(task, folder):
    request = parse_request({"model": "any", "messages": task["messages"]}, Provider.OPENAI)
    result = run(request, KompactConfig())
    after = serialize_request(result.request)["messages"]
    # Its own form of a request knows only user and tool; where no message is dropped, roles are those handed in.
    if len(after) == len(task["messages"]):
        for message, before in zip(after, task["messages"]):
            message["role"] = before["role"]
    return after


serve(compact)
