// pi loads it from ~/.pi/agent/extensions/ or .pi/extensions/ of a project.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { convertToLlm, type ExtensionAPI } from "@earendil-works/pi-coding-agent";

// The session as messages that Strongroom reads.
function messages(entries: any[]) {
  const all = convertToLlm(entries.filter((entry) => entry.type === "message").map((entry) => entry.message)) as any[];
  const text = (content: any) =>
    typeof content === "string" ? content : content.filter((part: any) => part.type === "text").map((part: any) => part.text).join("\n");
  return all.map((message) => {
    if (message.role === "toolResult") {
      const content = text(message.content);
      return { role: "tool", tool_call_id: message.toolCallId, content: message.isError ? `Error: ${content}` : content };
    }
    const parts = typeof message.content === "string" ? [] : message.content.filter((part: any) => part.type === "toolCall");
    const calls = parts.map((part: any) => ({
      id: part.id,
      type: "function",
      function: { name: part.name, arguments: JSON.stringify(part.arguments ?? {}) },
    }));
    return { role: message.role, content: text(message.content), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  });
}

function hook(event: string, payload: object): Promise<any> {
  return new Promise((resolve) => {
    const child = spawn("strongroom", ["hook", event], { stdio: ["pipe", "pipe", "ignore"] });
    let printed = "";
    child.stdout.on("data", (chunk) => (printed += chunk));
    child.on("error", (error) => resolve({ systemMessage: `Strongroom: ${event} did not run: ${error.message}` }));
    child.on("close", () => resolve(printed.trim() === "" ? {} : JSON.parse(printed)));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ ...payload, hook_event_name: event }));
  });
}

export default function (pi: ExtensionAPI) {
  let payload: { session_id: string; transcript_path: string } | undefined;

  pi.on("session_before_compact", async (event, ctx) => {
    const id = ctx.sessionManager.getSessionId();
    const folder = join(process.env.XDG_DATA_HOME ?? join(homedir(), ".local/share"), "strongroom-pi");
    const file = join(folder, `${id.replace(/[^A-Za-z0-9_-]/g, "_")}.json`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ messages: messages(event.branchEntries) }), { mode: 0o600 });
    payload = { session_id: id, transcript_path: file };
    const kept = await hook("PreCompact", { ...payload, trigger: "auto" });
    if (kept.systemMessage) ctx.ui.notify(kept.systemMessage, "warning");
  });

  pi.on("session_compact", async () => {
    if (payload === undefined) return;
    const card = (await hook("SessionStart", { ...payload, source: "compact" })).hookSpecificOutput?.additionalContext;
    if (card) pi.sendMessage({ customType: "strongroom-card", content: card, display: true }, { deliverAs: "nextTurn" });
  });
}
