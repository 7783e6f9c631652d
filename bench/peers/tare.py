"""tare's compress command at the budget; it hands back one text without speakers."""

import json
import subprocess

from peer import serve, text_of, with_calls_as_text

KINDS = {"system": "system_prompt", "user": "conversation_turn", "assistant": "conversation_turn", "tool": "tool_output"}


def compact(task, folder):
    messages = task["messages"]
    tools = {call["id"]: call["function"]["name"] for message in messages for call in (message.get("tool_calls") or [])}
    blocks = [
        {
            "role": message["role"], "kind": KINDS[message["role"]], "text": with_calls_as_text(message),
            **({"class": tools.get(message.get("tool_call_id"), "unknown")} if message["role"] == "tool" else {}),
        }
        for message in messages
    ]
    asked = [text_of(message.get("content")) for message in messages if message["role"] == "user"]
    done = subprocess.run(
        ["tare", "compress", "--budget", str(task["budget_tokens"]), "--task", asked[-1][:2_000] if asked else ""],
        input=json.dumps(blocks), capture_output=True, text=True, check=True,
    )
    return [{"role": "user", "content": done.stdout}]


serve(compact)
