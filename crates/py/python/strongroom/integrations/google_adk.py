"""Google ADK: a plugin that compacts what a model is sent, with tools to ask about what was compacted.

evidence = EvidencePlugin(strongroom.open(), trigger=60_000, budget=20_000)
agent = LlmAgent(name="ops", model="gemini-flash-latest", tools=[*tools, *evidence.tools()])
runner = InMemoryRunner(app=App(name="ops", root_agent=agent, plugins=[evidence]))
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Union

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from ..archive import Archive
from ..messages import Conversation
from . import _shared

__all__ = ["EvidencePlugin"]

FORMAT = "genai-contents"

_SESSIONS_MAX = 1_000
"""Of how many sessions the last request is remembered."""


class EvidencePlugin(BasePlugin):
    """A plugin that compacts the contents of a request when they have grown, and keeps every original.

    `trigger` is the size in tokens from which on it does, `budget` what is left: a share (`"40%"`) or a number of
    tokens. The events of the session stay as they are: each request is made from them, and compacted anew to the same.
    Where a compaction fails the request stays as it is, with a warning to the logger `strongroom`.
    """

    def __init__(
        self,
        archive: Archive,
        *,
        trigger: int = 60_000,
        budget: Union[str, int] = "40%",
        name: str = "strongroom",
    ) -> None:
        super().__init__(name=name)
        self.archive = archive
        self.trigger = trigger
        self.budget = budget
        self._seen: OrderedDict[str, list[types.Content]] = OrderedDict()

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Compacts a request before it is sent."""
        name = _name(callback_context)
        llm_request.contents = await asyncio.to_thread(self._run, name, llm_request.contents)
        self._seen[name] = llm_request.contents
        self._seen.move_to_end(name)
        if len(self._seen) > _SESSIONS_MAX:
            self._seen.popitem(last=False)

    def tools(self) -> list[Callable[..., Any]]:
        """Tools for an agent: to ask about its own conversation, and to see an original."""

        async def evidence_ask(question: str, tool_context: ToolContext) -> str:
            name, archive = _name(tool_context), self.archive
            contents = self._seen.get(name, [])
            return await asyncio.to_thread(
                _shared.answered, lambda: archive.ask(question, contents, name=name, format=FORMAT)
            )

        async def evidence_show(pointer: str) -> str:
            return await asyncio.to_thread(_shared.shown, self.archive, pointer)

        # ADK takes name and description of a tool from the function.
        evidence_ask.__name__, evidence_ask.__doc__ = _shared.ASK, _shared.ASK_DESCRIPTION
        evidence_show.__name__, evidence_show.__doc__ = _shared.SHOW, _shared.SHOW_DESCRIPTION
        return [evidence_ask, evidence_show]

    def _run(self, name: str, contents: list[types.Content]) -> list[types.Content]:
        if not contents or Conversation(contents, FORMAT).tokens() < self.trigger:
            return contents
        after = _shared.compacted(self.archive, contents, self.budget, name, format=FORMAT)
        return contents if after is None else [types.Content.model_validate(own) for own in after]


def _name(context: Any) -> str:
    return f"google-adk/{context.session.app_name}/{context.session.user_id}/{context.session.id}"
