"""The summarising condenser of the OpenHands SDK with its own settings, asked once to condense: half of the events go."""

import os

from peer import copied, serve, text_of

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", OPENHANDS_SUPPRESS_BANNER="1")

from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent
from openhands.sdk.event.condenser import Condensation, CondensationRequest
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool.schema import Action, Observation


class CallAction(Action):
    arguments: str


class CallObservation(Observation):
    pass


def events_of(messages):
    """Every message as events, with the place of the message."""
    found, actions = [], {}
    for at, message in enumerate(messages):
        text = text_of(message.get("content"))
        parts = [TextContent(text=text)]
        if message["role"] == "tool":
            action = actions.get(message.get("tool_call_id"))
            if action:
                observation = CallObservation(content=parts)
                event = ObservationEvent(
                    observation=observation, action_id=action.id, tool_name=action.tool_name, tool_call_id=action.tool_call_id
                )
                found.append((event, at))
        elif message.get("tool_calls"):
            for call in message["tool_calls"]:
                function = call["function"]
                event = ActionEvent(
                    thought=parts, action=CallAction(arguments=function["arguments"]), tool_name=function["name"],
                    tool_call_id=call["id"], llm_response_id=f"r{at}",
                    tool_call=MessageToolCall(id=call["id"], name=function["name"], arguments=function["arguments"], origin="completion"),
                )
                actions[call["id"]] = event
                found.append((event, at))
        else:
            source = "agent" if message["role"] == "assistant" else "user"
            role = "assistant" if source == "agent" else "user"
            found.append((MessageEvent(source=source, llm_message=Message(role=role, content=parts)), at))
    return found


def compact(task, folder):
    messages = task["messages"]
    placed = events_of(messages)

    class Copyist(TestLLM):
        def generate(self, messages, **rest):
            shown = "\n".join(part.text for message in messages for part in message.content)
            said = Message(role="assistant", content=[TextContent(text=copied(shown, task["budget_tokens"]))])
            return TestLLM.from_messages([said]).completion(messages=messages)

    condenser = LLMSummarizingCondenser(llm=Copyist.from_messages([]))
    view = View.from_events([event for event, _ in placed] + [CondensationRequest()])
    outcome = condenser.condense(view)
    forgotten = outcome.forgotten_event_ids if isinstance(outcome, Condensation) else set()
    kept = {at for event, at in placed if event.id not in forgotten}
    after = [message for at, message in enumerate(messages) if at in kept or message["role"] == "system"]
    if forgotten and outcome.summary:
        after.insert(min(outcome.summary_offset or 0, len(after)), {"role": "user", "content": outcome.summary})
    return after


serve(compact)
