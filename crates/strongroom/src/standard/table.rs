//! The table.

/// Sessions of one agent in one form.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The agent.
    pub agent: &'static str,
    /// A variable, and the directory below what it names; the first variable that is set counts.
    pub from: &'static [(&'static str, &'static str)],
    /// Where the files stand below that directory: `*` is any part of one name, `**` any number of directories.
    pub form: &'static str,
    /// What they are read as.
    pub reads: Reads,
}

/// What files are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// This format.
    As(&'static str),
    /// They are not read, for this reason.
    No(&'static str),
}

use Reads::{As, No};

type From = &'static [(&'static str, &'static str)];

const CLAUDE: From = &[("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude")];
const CODEX: From = &[("CODEX_HOME", ""), ("HOME", ".codex")];
const GEMINI: From = &[("GEMINI_CLI_HOME", ".gemini"), ("HOME", ".gemini")];
const PI: From = &[
    ("PI_CODING_AGENT_SESSION_DIR", ""),
    ("PI_CODING_AGENT_DIR", "sessions"),
    ("HOME", ".pi/agent/sessions"),
];
const OPENCLAW: From = &[("OPENCLAW_STATE_DIR", "agents"), ("HOME", ".openclaw/agents")];
const COPILOT: From = &[("HOME", ".copilot")];
const GOOSE: From = &[("XDG_DATA_HOME", "goose/sessions"), ("HOME", ".local/share/goose/sessions")];
const OPENCODE: From = &[("XDG_DATA_HOME", "opencode"), ("HOME", ".local/share/opencode")];
const OPENHANDS: From = &[("HOME", ".openhands")];
/// Editors of the family of VS Code, each with a directory of its own.
const CONFIG: From = &[("XDG_CONFIG_HOME", ""), ("HOME", ".config")];
const MAC: From = &[("HOME", "Library/Application Support")];
const REMOTE: From = &[("HOME", ".vscode-server/data/User")];

const UNKNOWN: &str = "a format that is known and not read";

/// All of them.
pub(super) const ROWS: &[Row] = &[
    Row { agent: "Claude Code", from: CLAUDE, form: "projects/**/*.jsonl", reads: As("claude-code") },
    Row { agent: "Codex", from: CODEX, form: "sessions/**/*.jsonl", reads: As("codex") },
    Row { agent: "Codex", from: CODEX, form: "archived_sessions/**/*.jsonl", reads: As("codex") },
    Row { agent: "Codex", from: CODEX, form: "sessions/**/*.jsonl.zst", reads: As("codex") },
    Row { agent: "Codex", from: CODEX, form: "archived_sessions/**/*.jsonl.zst", reads: As("codex") },
    Row { agent: "Gemini CLI", from: GEMINI, form: "tmp/*/chats/**/*.json", reads: As("gemini-cli") },
    Row { agent: "Gemini CLI", from: GEMINI, form: "tmp/*/chats/**/*.jsonl", reads: As("gemini-cli") },
    Row { agent: "Gemini CLI", from: GEMINI, form: "tmp/*/checkpoints/*.json", reads: As("genai-contents") },
    Row {
        agent: "Antigravity",
        from: GEMINI,
        form: "antigravity*/brain/*/.system_generated/logs/transcript.jsonl",
        reads: No(UNKNOWN),
    },
    Row {
        agent: "Qwen Code",
        from: &[("HOME", ".qwen/projects")],
        form: "*/chats/**/*.jsonl",
        reads: No(UNKNOWN),
    },
    Row { agent: "pi", from: PI, form: "**/*.jsonl", reads: As("pi") },
    Row { agent: "Oh My Pi", from: &[("HOME", ".omp/agent/sessions")], form: "**/*.jsonl", reads: As("pi") },
    Row { agent: "OpenClaw", from: OPENCLAW, form: "*/sessions/*.jsonl", reads: As("pi") },
    Row { agent: "OpenClaw", from: OPENCLAW, form: "*/agent/openclaw-agent.sqlite", reads: No("a database") },
    Row {
        agent: "Copilot CLI",
        from: COPILOT,
        form: "session-state/*/events.jsonl",
        reads: As("copilot-cli"),
    },
    Row { agent: "Copilot CLI", from: COPILOT, form: "session-state/*.jsonl", reads: As("copilot-cli") },
    Row {
        agent: "Copilot CLI",
        from: COPILOT,
        form: "history-session-state/*.json",
        reads: No("an old form that is not read"),
    },
    Row { agent: "goose", from: GOOSE, form: "*.jsonl", reads: As("goose") },
    Row { agent: "goose", from: GOOSE, form: "sessions.db", reads: As("goose") },
    Row { agent: "OpenCode", from: OPENCODE, form: "opencode*.db", reads: As("opencode") },
    Row {
        agent: "OpenCode",
        from: OPENCODE,
        form: "storage/session/*/*.json",
        reads: No("one file for each message and part; opencode export writes a session as JSON"),
    },
    Row { agent: "OpenHands", from: OPENHANDS, form: "conversations/*/events", reads: As("openhands") },
    Row { agent: "OpenHands", from: OPENHANDS, form: "sessions/*/events", reads: As("openhands") },
    Row {
        agent: "Cline",
        from: &[("HOME", ".cline/data/sessions")],
        form: "*/*.messages.json",
        reads: As("cline"),
    },
    task(
        "Cline",
        CONFIG,
        "*/User/globalStorage/saoudrizwan.claude-dev/tasks/*/api_conversation_history.json",
    ),
    task("Cline", MAC, "*/User/globalStorage/saoudrizwan.claude-dev/tasks/*/api_conversation_history.json"),
    task("Cline", REMOTE, "globalStorage/saoudrizwan.claude-dev/tasks/*/api_conversation_history.json"),
    task(
        "Roo Code",
        CONFIG,
        "*/User/globalStorage/rooveterinaryinc.roo-cline/tasks/*/api_conversation_history.json",
    ),
    task(
        "Roo Code",
        MAC,
        "*/User/globalStorage/rooveterinaryinc.roo-cline/tasks/*/api_conversation_history.json",
    ),
    task(
        "Roo Code",
        REMOTE,
        "globalStorage/rooveterinaryinc.roo-cline/tasks/*/api_conversation_history.json",
    ),
    task(
        "Kilo Code",
        CONFIG,
        "*/User/globalStorage/kilocode.kilo-code/tasks/*/api_conversation_history.json",
    ),
    task("Kilo Code", MAC, "*/User/globalStorage/kilocode.kilo-code/tasks/*/api_conversation_history.json"),
    task("Kilo Code", REMOTE, "globalStorage/kilocode.kilo-code/tasks/*/api_conversation_history.json"),
    chat(CONFIG, "*/User/workspaceStorage/*/chatSessions/*.json*"),
    chat(MAC, "*/User/workspaceStorage/*/chatSessions/*.json*"),
    chat(REMOTE, "workspaceStorage/*/chatSessions/*.json*"),
    Row {
        agent: "Cursor",
        from: CONFIG,
        form: "Cursor/User/globalStorage/state.vscdb",
        reads: No("a database"),
    },
    Row {
        agent: "Cursor",
        from: MAC,
        form: "Cursor/User/globalStorage/state.vscdb",
        reads: No("a database"),
    },
    Row {
        agent: "Cursor",
        from: &[("HOME", ".cursor/chats")],
        form: "*/*/store.db",
        reads: No("a database"),
    },
    Row {
        agent: "Cursor",
        from: &[("HOME", ".cursor/projects")],
        form: "*/agent-transcripts/**/*.jsonl",
        reads: No("transcripts without the results of calls"),
    },
];

/// Tasks of an extension of an editor.
const fn task(agent: &'static str, from: From, form: &'static str) -> Row {
    Row { agent, from, form, reads: As("cline") }
}

/// Chats of an editor.
const fn chat(from: From, form: &'static str) -> Row {
    Row { agent: "VS Code chat", from, form, reads: No(UNKNOWN) }
}
