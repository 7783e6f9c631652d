"""LangChain's trim_messages: the newest messages that fit."""

from peer import from_langchain, serve, to_langchain

from langchain_core.messages import trim_messages
from langchain_core.messages.utils import count_tokens_approximately


def compact(task, folder):
    kept = trim_messages(
        to_langchain(task["messages"]),
        max_tokens=task["budget_tokens"],
        token_counter=count_tokens_approximately,
        strategy="last",
        include_system=True,
        allow_partial=False,
    )
    return from_langchain(kept)


serve(compact)
