"""What all adapters share: the protocol, LangChain's messages, and a model on a script.

The model stands where a peer wants a real one. It copies what it is shown, as far as the budget goes, so that a summary
holds all that a perfect copyist could keep; what the peer does not show to the model is lost.
"""

import json
import sys

CHARACTERS_PER_TOKEN = 4


def given():
    return json.load(sys.stdin)


def hand_back(messages):
    json.dump({"messages": messages}, sys.stdout)


def copied(shown, budget_tokens):
    """The newest part of what the model is shown."""
    return shown[-budget_tokens * CHARACTERS_PER_TOKEN :]


def text_of(content):
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    return "\n".join(part if isinstance(part, str) else part.get("text", "") for part in content)


def with_calls_as_text(message):
    """What a message says, and behind it the calls that it makes, for a peer that knows no calls."""
    calls = [f"{call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls", [])]
    return "\n".join(part for part in [text_of(message.get("content")), *calls] if part)


def to_langchain(messages):
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    found = []
    for at, message in enumerate(messages):
        text = text_of(message.get("content"))
        own = {"id": f"m{at}"}
        if message["role"] == "system":
            found.append(SystemMessage(text, **own))
        elif message["role"] == "user":
            found.append(HumanMessage(text, **own))
        elif message["role"] == "tool":
            found.append(ToolMessage(text, tool_call_id=message.get("tool_call_id", ""), **own))
        else:
            calls = [
                {"name": call["function"]["name"], "args": json.loads(call["function"]["arguments"] or "{}"), "id": call["id"]}
                for call in message.get("tool_calls", [])
            ]
            found.append(AIMessage(text, tool_calls=calls, **own))
    return found


def from_langchain(messages):
    roles = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}
    found = []
    for message in messages:
        if message.type not in roles:
            continue
        own = {"role": roles[message.type], "content": text_of(message.content)}
        calls = getattr(message, "tool_calls", None)
        if calls:
            own["tool_calls"] = [
                {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
                for call in calls
            ]
        if message.type == "tool":
            own["tool_call_id"] = message.tool_call_id
        found.append(own)
    return found


def copyist(budget_tokens):
    """A chat model of LangChain that copies what it is shown."""
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Copyist(BaseChatModel):
        @property
        def _llm_type(self):
            return "copyist"

        def _generate(self, messages, stop=None, run_manager=None, **rest):
            shown = "\n".join(text_of(message.content) for message in messages)
            return ChatResult(generations=[ChatGeneration(message=AIMessage(copied(shown, budget_tokens)))])

    return Copyist()
