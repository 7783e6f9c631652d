// opencode loads it from .opencode/plugin/ or ~/.config/opencode/plugin/.
import type { Plugin } from "@opencode-ai/plugin"

// The session as messages that Strongroom reads; opencode keeps it in a database of its own.
function messages(parts: Array<{ info: any; parts: any[] }>) {
  return parts.flatMap(({ info, parts }) => {
    const text = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
    const tools = parts.filter((part) => part.type === "tool")
    const calls = tools.map((part) => ({
      id: part.callID,
      type: "function",
      function: { name: part.tool, arguments: JSON.stringify(part.state.input ?? {}) },
    }))
    const results = tools
      .filter((part) => part.state.status === "completed" || part.state.status === "error")
      .map((part) => ({
        role: "tool",
        tool_call_id: part.callID,
        content: part.state.status === "completed" ? part.state.output : `Error: ${part.state.error}`,
      }))
    const own = { role: info.role, content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
    return text === "" && calls.length === 0 ? [] : [own, ...results]
  })
}

export const Strongroom: Plugin = async ({ client, directory, $ }) => ({
  "experimental.session.compacting": async ({ sessionID }, output) => {
    const listed = await client.session.messages({ path: { id: sessionID }, query: { directory } })
    const folder = `${process.env.XDG_DATA_HOME ?? `${process.env.HOME}/.local/share`}/strongroom-opencode`
    const file = `${folder}/${sessionID.replace(/[^A-Za-z0-9_-]/g, "_")}.json`
    await $`mkdir -p -m 700 ${folder}`.quiet()
    await Bun.write(file, JSON.stringify({ messages: messages(listed.data ?? []) }))
    const payload = { session_id: sessionID, transcript_path: file, cwd: directory }
    const hook = async (event: string, more: object) => {
      const input = new Response(JSON.stringify({ ...payload, hook_event_name: event, ...more }))
      const printed = await $`strongroom hook ${event} < ${input}`.quiet().nothrow().text()
      return printed.trim() === "" ? {} : JSON.parse(printed)
    }
    const kept = await hook("PreCompact", { trigger: "auto" })
    if (kept.systemMessage) output.context.push(kept.systemMessage)
    const card = await hook("SessionStart", { source: "compact" })
    if (card.hookSpecificOutput) output.context.push(card.hookSpecificOutput.additionalContext)
  },
})
