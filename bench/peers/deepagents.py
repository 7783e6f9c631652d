"""The summarisation middleware of deepagents: a model summarises, the history goes to a file, and its tools search there."""

import sys

# This file has the name of the package it drives.
sys.path.append(sys.path.pop(0))

from peer import copyist, from_langchain, serve, to_langchain

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime


def backend_in(folder):
    return FilesystemBackend(root_dir=folder, virtual_mode=True)


def compact(task, folder):
    model = copyist(task["budget_tokens"])
    messages = to_langchain(task["messages"])
    middleware = SummarizationMiddleware(
        model=model, backend=backend_in(folder), trigger=("tokens", max(task["budget_tokens"], 1)), keep=("messages", 20)
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
    return from_langchain(sent[-1])


def recall(folder, messages, literal):
    """Whether the search that its agents have finds the literal in what was offloaded."""
    return bool(backend_in(folder).grep(literal, path="/").matches)


serve(compact, recall)
