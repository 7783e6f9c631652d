"""LangChain's trim_messages: the newest messages that fit."""

from langchain_core.messages import trim_messages
from langchain_core.messages.utils import count_tokens_approximately

from peer import from_langchain, given, hand_back, to_langchain

task = given()
if task:
    kept = trim_messages(
        to_langchain(task["messages"]),
        max_tokens=task["budget_tokens"],
        token_counter=count_tokens_approximately,
        strategy="last",
        include_system=True,
        allow_partial=False,
    )
    hand_back(from_langchain(kept))
