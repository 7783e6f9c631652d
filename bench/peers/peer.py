"""What all adapters share: the protocol, LangChain's messages, and a model on a script. It is imported before the package
that is driven: what that writes on the way goes to standard error, and is no answer.

The model stands where a peer wants a real one. It copies what it is shown, as far as the budget goes, so that a summary
holds all that a perfect copyist could keep; what the peer does not show to the model is lost.
"""

import json
import os
import statistics
import sys
import tempfile
import time

CHARACTERS_PER_TOKEN = 4

ANSWER, sys.stdout = sys.stdout, sys.stderr


def serve(compact, recall=None):
    """Compacts what stands on standard input with `compact(task, folder)`, and hands back the messages that are left.

    A task with `runs` is done that many times more before, each with an empty folder and texts of its own, and `ms` is the
    median of those times; the first, which loads what is loaded once, is not among them. Of its `literals` those are handed back as `recalled`
    that `recall(folder, messages, literal)` finds: with what the package itself gives an agent for that.
    """
    task = json.load(sys.stdin)
    if not task:
        return
    reply = {}
    with tempfile.TemporaryDirectory() as scratch:
        if task.get("runs"):
            folders = [os.path.join(scratch, str(run)) for run in range(task["runs"] + 1)]
            times = [timed(compact, with_own_texts(task, run), own) for run, own in enumerate(folders)]
            reply["ms"] = statistics.median(times[1:])
        folder = os.environ.get("EVIDENCE_BENCH_DIR", scratch)
        reply["messages"] = compact(task, folder)
        if recall:
            reply["recalled"] = [own for own in task.get("literals", []) if recall(folder, reply["messages"], own)]
    json.dump(reply, ANSWER)


def with_own_texts(task, run):
    """The task with line ends behind every result, so that nothing is known from the run before."""
    ends = "\n" * (run + 1)
    messages = [
        {**own, "content": text_of(own["content"]) + ends} if own["role"] == "tool" else own for own in task["messages"]
    ]
    return {**task, "messages": messages}


def timed(compact, task, folder):
    """How long a compaction takes, in milliseconds."""
    os.mkdir(folder)
    begin = time.perf_counter()
    compact(task, folder)
    return (time.perf_counter() - begin) * 1_000


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
    calls = [f"{call['function']['name']} {call['function']['arguments']}" for call in (message.get("tool_calls") or [])]
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
                for call in (message.get("tool_calls") or [])
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
