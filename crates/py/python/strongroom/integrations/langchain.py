"""LangChain: a middleware in place of `SummarizationMiddleware`, with tools to ask about what was compacted.

agent = create_agent(
    model,
    tools=tools,
    middleware=[EvidenceMiddleware(strongroom.open(), trigger=("tokens", 60_000), keep=("tokens", 20_000))],
)
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Optional, Union

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, RemoveMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import BaseTool, tool
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime

from ..archive import Archive
from . import _shared

__all__ = ["EvidenceMiddleware", "evidence_tools"]

ContextSize = tuple[str, Union[int, float]]
TriggerClause = Mapping[str, Union[int, float]]
Trigger = Union[ContextSize, TriggerClause, Sequence[Union[ContextSize, TriggerClause]]]
TokenCounter = Callable[[Iterable[Any]], int]

_UNITS = ("tokens", "messages", "fraction")


class EvidenceMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Compacts the messages of an agent when they have grown, and keeps every original.

    The parameters mean what they mean to LangChain's `SummarizationMiddleware`:

    - `trigger`: when to compact. A pair (`("tokens", 60_000)`, `("messages", 50)`, `("fraction", 0.8)` of what the
      model can read), a dict of such limits that must all be reached, or a list of which one must be.
    - `keep`: what is left afterwards, in the same units. `("messages", 20)` is the size of the newest 20 messages;
      the user's own words, standing constraints and refused spans stay wherever they are.
    - `token_counter`: counts for `trigger`.
    - `model`: needed for fractions alone; it is never called.

    What could not be compacted stays as it is, with a warning to the logger `strongroom`. The conversation is kept
    under the name of the thread. The tools of `evidence_tools` are added to the agent.
    """

    def __init__(
        self,
        archive: Archive,
        *,
        trigger: Optional[Trigger] = None,
        keep: ContextSize = ("messages", 20),
        token_counter: TokenCounter = count_tokens_approximately,
        model: Any = None,
        **deprecated: Any,
    ) -> None:
        super().__init__()
        limit = deprecated.pop("max_tokens_before_summary", None)
        if limit is not None:
            warnings.warn(
                "max_tokens_before_summary is deprecated. Use trigger=('tokens', value) instead.",
                DeprecationWarning,
                stacklevel=2,
            )
            trigger = trigger if trigger is not None else ("tokens", limit)
        if deprecated:
            raise TypeError(f"unknown parameters: {', '.join(deprecated)}")
        self.archive = archive
        self.token_counter = token_counter
        self.model = model
        self.clauses = _clauses(trigger)
        self.keep = _checked(keep, "keep")
        if any("fraction" in clause for clause in [*self.clauses, dict([self.keep])]):
            self._readable()
        self.tools = evidence_tools(archive)
        self._growth = _shared.Growth()

    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Optional[dict[str, Any]]:
        """Compacts before the model is called."""
        messages = state["messages"]
        name = _thread()
        if not self._is_due(messages) or not self._growth.is_enough(name, self.token_counter(messages)):
            return None
        compacted = _shared.compacted(self.archive, messages, self._budget(messages), name)
        self._growth.note(name, self.token_counter(compacted or messages))
        if compacted is None:
            return None
        for message in compacted:
            if message.id is None:
                message.id = str(uuid.uuid4())
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *compacted]}

    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Optional[dict[str, Any]]:
        """Compacts before the model is called, in another thread."""
        import asyncio

        return await asyncio.to_thread(self.before_model, state, runtime)

    def _is_due(self, messages: Sequence[AnyMessage]) -> bool:
        if not self.clauses:
            return False
        tokens = self.token_counter(messages)
        reached = {
            "messages": lambda limit: len(messages) >= limit,
            "tokens": lambda limit: tokens >= limit,
            "fraction": lambda limit: tokens >= limit * self._readable(),
        }
        return any(all(reached[unit](limit) for unit, limit in clause.items()) for clause in self.clauses)

    def _budget(self, messages: Sequence[AnyMessage]) -> int:
        unit, size = self.keep
        if unit == "messages":
            size = self.token_counter(messages[-int(size) :])
        elif unit == "fraction":
            size = size * self._readable()
        return max(int(size), 1)

    def _readable(self) -> int:
        """How many tokens the model can read."""
        profile = getattr(self.model, "profile", None)
        tokens = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
        if not isinstance(tokens, int):
            raise ValueError("a fraction needs a model whose profile names max_input_tokens")
        return tokens


def evidence_tools(archive: Archive) -> list[BaseTool]:
    """Tools for an agent: to ask about its own conversation, and to see an original."""

    @tool(_shared.ASK, description=_shared.ASK_DESCRIPTION)
    def evidence_ask(question: str, runtime: ToolRuntime) -> str:
        messages = runtime.state["messages"]
        return _shared.answered(lambda: archive.ask(question, messages, name=_thread()))

    @tool(_shared.SHOW, description=_shared.SHOW_DESCRIPTION)
    def evidence_show(pointer: str) -> str:
        return _shared.shown(archive, pointer)

    return [evidence_ask, evidence_show]


def _thread() -> Optional[str]:
    """The conversation's name: that of the thread, where the agent has one."""
    try:
        thread = get_config().get("configurable", {}).get("thread_id")
    except RuntimeError:
        return None
    return f"langchain/{thread}" if thread else None


def _clauses(trigger: Optional[Trigger]) -> list[dict[str, Any]]:
    if trigger is None:
        return []
    if isinstance(trigger, Mapping):
        return [dict(_checked(size, "trigger") for size in trigger.items())]
    if isinstance(trigger, tuple) and trigger and isinstance(trigger[0], str):
        return [dict([_checked(trigger, "trigger")])]
    return [clause for own in trigger for clause in _clauses(own)]  # type: ignore[arg-type]


def _checked(size: Any, what: str) -> ContextSize:
    unit, value = size
    if unit not in _UNITS:
        raise ValueError(f"{unit!r} is no unit of {what}: {', '.join(_UNITS)}")
    if value <= 0 or unit == "fraction" and value > 1:
        raise ValueError(f"{value} is no size of {what} in {unit}")
    return unit, value
