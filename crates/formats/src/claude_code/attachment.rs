//! Attachment lines: text that reaches the model beside the conversation.

use strongroom_core::transcript::{Block, BlockKind, Speaker, TextRange, Visibility};

use crate::json::{Kind, Value};
use crate::part::{block, content_texts, user_text};

/// Who speaks in an attachment.
#[derive(Clone, Copy)]
enum Source {
    /// The program around the model.
    Harness,
    /// Project instructions.
    Operator,
    /// A prompt, typed while the agent worked.
    Prompt,
}

/// Attachments by their type, with the members that hold their text.
const ATTACHMENTS: [(&str, Source, &[&str]); 40] = [
    ("queued_command", Source::Prompt, &["/prompt"]),
    ("nested_memory", Source::Operator, &["/content/content"]),
    ("relevant_memories", Source::Operator, &["/memories"]),
    ("file", Source::Harness, &["/content/file/content", "/content/content", "/content"]),
    ("already_read_file", Source::Harness, &["/content/file/content"]),
    ("edited_text_file", Source::Harness, &["/snippet"]),
    ("edited_image_file", Source::Harness, &[]),
    ("compact_file_reference", Source::Harness, &["/filename"]),
    ("pdf_reference", Source::Harness, &["/filename"]),
    ("directory", Source::Harness, &["/content"]),
    ("selected_lines_in_ide", Source::Harness, &["/content"]),
    ("opened_file_in_ide", Source::Harness, &["/filename"]),
    ("diagnostics", Source::Harness, &["/files"]),
    ("hook_additional_context", Source::Harness, &["/content"]),
    ("hook_success", Source::Harness, &["/content", "/stdout", "/stderr"]),
    ("hook_system_message", Source::Harness, &["/content"]),
    ("hook_non_blocking_error", Source::Harness, &["/stderr", "/stdout"]),
    ("hook_blocking_error", Source::Harness, &["/blockingError", "/stderr"]),
    ("hook_cancelled", Source::Harness, &[]),
    ("hook_stopped_continuation", Source::Harness, &["/message"]),
    ("task_reminder", Source::Harness, &["/content"]),
    ("todo_reminder", Source::Harness, &["/content"]),
    ("todo", Source::Harness, &["/content"]),
    ("task_status", Source::Harness, &["/description", "/deltaSummary"]),
    ("skill_listing", Source::Harness, &["/content"]),
    ("invoked_skills", Source::Harness, &["/skills"]),
    ("deferred_tools_delta", Source::Harness, &["/addedLines", "/addedNames"]),
    ("agent_listing_delta", Source::Harness, &["/addedLines", "/addedTypes"]),
    ("mcp_instructions_delta", Source::Operator, &["/addedBlocks"]),
    ("command_permissions", Source::Harness, &["/allowedTools"]),
    ("plan_mode", Source::Harness, &["/planFilePath"]),
    ("plan_mode_exit", Source::Harness, &["/planFilePath"]),
    ("plan_mode_reentry", Source::Harness, &["/planFilePath"]),
    ("plan_file_reference", Source::Harness, &["/planContent"]),
    ("auto_mode", Source::Harness, &[]),
    ("auto_mode_exit", Source::Harness, &[]),
    ("date_change", Source::Harness, &["/newDate"]),
    ("critical_system_reminder", Source::Harness, &["/content"]),
    ("output_style", Source::Harness, &["/style"]),
    ("mcp_resource", Source::Harness, &["/content"]),
];

/// The blocks of an attachment, `None` where its type is not known. `child` tells that the line is a child agent's.
pub(super) fn blocks(attachment: Value<'_>, kind: &str, child: bool) -> Option<Vec<Block>> {
    let (_, source, members) = ATTACHMENTS.iter().find(|(name, ..)| *name == kind)?;
    let mut out = Vec::new();
    let typed = matches!(source, Source::Prompt) && is_typed(attachment) && !child;
    match attachment.get("prompt").filter(|prompt| typed && prompt.kind() == Kind::String) {
        Some(prompt) => user_text(attachment, prompt, "/attachment", &mut out),
        None => out.extend(one_block(attachment, *source, members, typed)),
    }
    Some(out)
}

/// Whether a person typed a queued command; notices of finished tasks are queued the same way.
fn is_typed(attachment: Value<'_>) -> bool {
    let is = |keys: &[&str], word: &str| attachment.path(keys).is_none_or(|value| value.is(word));
    let notice =
        attachment.get("prompt").is_some_and(|prompt| prompt.raw().starts_with(b"\"<task-notification>"));
    is(&["commandMode"], "prompt") && is(&["origin", "kind"], "human") && !notice
}

fn one_block(attachment: Value<'_>, source: Source, members: &[&str], typed: bool) -> Option<Block> {
    let text: Vec<TextRange> = members
        .iter()
        .filter_map(|member| attachment.pointer(member))
        .flat_map(|member| match content_texts(member) {
            texts
                if texts.is_empty() && member.kind() == Kind::Array && member.elements().next().is_some() =>
            {
                vec![crate::part::plain_text(member)]
            }
            texts => texts,
        })
        .filter(|text| !text.range.is_empty())
        .collect();
    let speaker = match source {
        Source::Prompt if typed => Speaker::User,
        Source::Operator => Speaker::Operator,
        Source::Harness | Source::Prompt => Speaker::Harness,
    };
    let own = block(BlockKind::Text, attachment, "/attachment".to_owned(), speaker);
    (!text.is_empty()).then_some(Block { text, visibility: Visibility::Context, ..own })
}
