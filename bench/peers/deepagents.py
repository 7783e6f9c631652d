"""The summarisation middleware of deepagents: a model summarises, the history goes to a file."""

import os
import sys

# This file has the name of the package it drives.
sys.path.append(sys.path.pop(0))

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from peer import copyist, from_langchain, given, hand_back, to_langchain

task = given()
if task:
    model = copyist(task["budget_tokens"])
    messages = to_langchain(task["messages"])
    backend = FilesystemBackend(root_dir=os.environ.get("EVIDENCE_BENCH_DIR", "."), virtual_mode=True)
    middleware = SummarizationMiddleware(
        model=model, backend=backend, trigger=("tokens", max(task["budget_tokens"], 1)), keep=("messages", 20)
    )
    sent = []

    def handler(request):
        sent.append(request.messages)
        return ModelResponse(result=[AIMessage("ok")])

    request = ModelRequest(
        model=model, messages=messages, tools=[], tool_choice=None, response_format=None,
        state={"messages": messages}, runtime=Runtime(), system_message=None,
    )
    middleware.wrap_model_call(request, handler)
    hand_back(from_langchain(sent[-1]))
