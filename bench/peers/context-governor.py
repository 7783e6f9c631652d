"""context-governor by its command, with its own policy at the budget; what it calls its exact store is written to its folder.

It knows no calls: they are handed to it as text behind what is said, as its own adapter for hosts does.
"""

import json
import subprocess

from peer import serve, with_calls_as_text


def command(*arguments, body):
    done = subprocess.run(["context-governor", *arguments], input=json.dumps(body), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compact(task, folder):
    messages = task["messages"]
    shown = [
        {"id": f"m{at}", "role": message["role"], "content": with_calls_as_text(message)} for at, message in enumerate(messages)
    ]
    policy = {
        "target_tokens": task["budget_tokens"], "protect_first_n": 3, "protect_last_n": 8, "summary_max_chars": 8_000,
        "allocator": "deterministic_v1",
    }
    response = command("compact", body={"session_id": "bench", "messages": shown, "policy": policy})
    command("store", "--dir", folder, body=response)
    own = {message["id"]: (at, message["content"]) for at, message in enumerate(shown)}
    after = []
    for message in response["compacted_messages"]:
        at, text = own.get(message.get("id"), (None, None))
        after.append(messages[at] if text == message["content"] else {"role": message["role"], "content": message["content"]})
    return after


serve(compact)
