"""The OpenAI Agents SDK: a session that stays small around any other, with tools to ask about what was compacted.

session = EvidenceSession("user-7", SQLiteSession("user-7", "history.db"), archive=strongroom.open())
agent = Agent(name="ops", tools=[*tools, *evidence_tools(session)])
config = RunConfig(call_model_input_filter=session.model_input)
await Runner.run(agent, "Move the service to port 8434.", session=session, run_config=config)
"""

from __future__ import annotations

import asyncio
from typing import Any, Optional, Union

from agents import FunctionTool, Session, TResponseInputItem, function_tool
from agents.memory.session import SessionABC
from agents.run import CallModelData, ModelInputData

from ..archive import Archive
from ..messages import Conversation
from . import _shared

__all__ = ["EvidenceSession", "evidence_tools"]

FORMAT = "openai-responses"


class EvidenceSession(SessionABC):
    """A session that compacts the history of another when it has grown, and keeps every original.

    It compacts when a run begins and reads the history, and with `model_input` as the filter of a run also within it.
    `trigger` is the size in tokens from which on it does, `budget` what is left: a share (`"40%"`) or a number of
    tokens. Where a compaction fails, the history stays as it is, with a warning to the logger `strongroom`.
    """

    def __init__(
        self,
        session_id: str,
        underlying_session: Session,
        *,
        archive: Archive,
        trigger: int = 60_000,
        budget: Union[str, int] = "40%",
    ) -> None:
        self.session_id = session_id
        self.underlying_session = underlying_session
        self.session_settings = getattr(underlying_session, "session_settings", None)
        self.archive = archive
        self.trigger = trigger
        self.budget = budget
        self._lock = asyncio.Lock()
        self._growth = _shared.Growth()
        self._sent: tuple[list[TResponseInputItem], list[TResponseInputItem]] = ([], [])

    async def get_items(self, limit: Optional[int] = None) -> list[TResponseInputItem]:
        """The history, compacted where it has grown; the newest `limit` items of it."""
        await self.compact()
        return await self.underlying_session.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds to the history."""
        async with self._lock:
            await self.underlying_session.add_items(items)

    async def pop_item(self) -> Optional[TResponseInputItem]:
        """Takes the newest item away; what was archived stays."""
        async with self._lock:
            return await self.underlying_session.pop_item()

    async def clear_session(self) -> None:
        """Empties the history; what was archived stays."""
        async with self._lock:
            await self.underlying_session.clear_session()

    async def compact(self, *, force: bool = False) -> bool:
        """Compacts the stored history where it has reached `trigger`, or with `force` in any case.

        Returns whether it did.
        """
        async with self._lock:
            items = await self._all_items()
            after = await asyncio.to_thread(self._compacted, items, force)
            if after is None:
                return False
            await self._replace(items, after)
            return True

    async def model_input(self, data: CallModelData[Any]) -> ModelInputData:
        """What the model is sent: the items of a run, compacted where they have grown.

        For `RunConfig(call_model_input_filter=…)`. What was sent once is sent again in the same form, so that the
        provider's cache holds.
        """
        own = data.model_data
        return ModelInputData(await asyncio.to_thread(self._for_model, list(own.input)), own.instructions)

    def _for_model(self, items: list[TResponseInputItem]) -> list[TResponseInputItem]:
        before, sent = self._sent
        goes_on = items[: len(before)] == before
        now = [*sent, *items[len(before) :]] if goes_on else items
        after = self._compacted(now, force=False)
        if after is None:
            return now
        self._sent = (items, after)
        return after

    async def _all_items(self) -> list[TResponseInputItem]:
        # Without a limit a session gives what its settings say, which may be less than it has.
        return await self.underlying_session.get_items(2**31 - 1)

    def _compacted(self, items: list[TResponseInputItem], force: bool) -> Optional[list[TResponseInputItem]]:
        if not items:
            return None
        size = Conversation(items, FORMAT).tokens()
        if not force and (size < self.trigger or not self._growth.is_enough(self.name, size)):
            return None
        after: Optional[list[TResponseInputItem]] = _shared.compacted(
            self.archive, items, self.budget, self.name, format=FORMAT
        )
        self._growth.note(self.name, Conversation(after or items, FORMAT).tokens())
        return after

    async def _replace(self, before: list[TResponseInputItem], after: list[TResponseInputItem]) -> None:
        try:
            await self.underlying_session.clear_session()
            await self.underlying_session.add_items(after)
        except BaseException:
            await asyncio.shield(self._restore(before))
            raise

    async def _restore(self, before: list[TResponseInputItem]) -> None:
        await self.underlying_session.clear_session()
        await self.underlying_session.add_items(before)

    @property
    def name(self) -> str:
        """What the archive calls the conversation."""
        return f"openai-agents/{self.session_id}"


def evidence_tools(session: EvidenceSession) -> list[FunctionTool]:
    """Tools for an agent: to ask about the history of its session, and to see an original."""

    async def evidence_ask(question: str) -> str:
        items = await session._all_items()

        def run() -> Any:
            return session.archive.ask(question, items, name=session.name, format=FORMAT)

        return await asyncio.to_thread(_shared.answered, run)

    async def evidence_show(pointer: str) -> str:
        return await asyncio.to_thread(_shared.shown, session.archive, pointer)

    return [
        function_tool(evidence_ask, name_override=_shared.ASK, description_override=_shared.ASK_DESCRIPTION),
        function_tool(evidence_show, name_override=_shared.SHOW, description_override=_shared.SHOW_DESCRIPTION),
    ]
