//! The server: lists the tools, runs their calls, reports progress and lets go of what was cancelled.

use std::ops::ControlFlow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use strongroom::Error;
use strongroom::desk::{Desk, Step};
use tokio::sync::{Semaphore, watch};

use crate::params::Args;
use crate::reply::Reply;
use crate::tools::{Call, TOOLS, Tool, named};
use crate::words::{INSTRUCTIONS, error};

/// How many calls work at the same time; more wait their turn.
const WORKERS: usize = 4;

/// The server of one desk; a clone serves the same one.
#[derive(Debug, Clone)]
pub struct Evidence {
    desk: Arc<Desk>,
    workers: Arc<Semaphore>,
}

/// How far a call is.
#[derive(Debug, Clone, Default)]
struct Progress {
    done: u64,
    total: u64,
    next: String,
}

impl Evidence {
    /// Serves `desk`.
    pub fn new(desk: Desk) -> Self {
        Self { desk: Arc::new(desk), workers: Arc::new(Semaphore::new(WORKERS)) }
    }

    /// Runs a call on a thread of its own. A call that is cancelled is told so at its next step; nobody waits for it.
    async fn work(
        &self,
        tool: &'static Tool,
        args: Args,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Error> {
        let cancelled = || Error::refused("the call was cancelled");
        let permit = tokio::select! {
            permit = Arc::clone(&self.workers).acquire_owned() => permit.map_err(|_| cancelled())?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let (sender, mut steps) = watch::channel(Progress::default());
        let (desk, token) = (Arc::clone(&self.desk), context.ct.clone());
        let mut work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut watch = |step: Step<'_>| {
                let next = step.next.rsplit('/').next().unwrap_or_default().to_owned();
                sender.send_replace(Progress { done: step.done, total: step.total, next });
                if token.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            (tool.run)(&mut Call { desk: &desk, args: &args, watch: &mut watch })
        });
        let (mut told, mut more) = (None, true);
        loop {
            // Steps first: of work that is done at once they are told too.
            tokio::select! {
                biased;
                changed = steps.changed(), if more => {
                    more = changed.is_ok();
                    if more {
                        let step = steps.borrow_and_update().clone();
                        tell(&step, &mut told, context).await;
                    }
                }
                () = context.ct.cancelled() => return Err(cancelled()),
                done = &mut work => {
                    // A thread that ended without a result has panicked.
                    return done.unwrap_or_else(|_| Err(Error::bug("the call failed unexpectedly")));
                }
            }
        }
    }
}

/// Tells a client that asked for it how far a call is; the numbers only grow.
async fn tell(step: &Progress, told: &mut Option<u64>, context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    if told.is_some_and(|told| step.done <= told) {
        return;
    }
    *told = Some(step.done);
    let params = ProgressNotificationParam::new(token, as_number(step.done))
        .with_total(as_number(step.total))
        .with_message(format!("reading {}", step.next));
    // A client that is gone needs no progress.
    drop(context.peer.notify_progress(params).await);
}

#[expect(clippy::cast_precision_loss, reason = "a progress in bytes needs no more precision")]
const fn as_number(bytes: u64) -> f64 {
    bytes as f64
}

impl ServerHandler for Evidence {
    fn get_info(&self) -> ServerConfig {
        let own = Implementation::new("strongroom", env!("CARGO_PKG_VERSION"))
            .with_title("Strongroom")
            .with_description("Evidence questions about agent sessions, answered from the original records");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(own)
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        named(name).map(described)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = named(&request.name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let short: String = request.name.chars().take(80).collect();
            let message = format!("unknown tool {short:?}; there are {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let reply = match Args::read(tool.params, request.arguments.unwrap_or_default()) {
            Ok(args) => self.work(tool, args, &context).await,
            Err(fault) => Err(Error::invalid_input(fault)),
        };
        Ok(match reply {
            Ok(reply) => answered(reply),
            Err(failed) => refused(&failed),
        }
        .into())
    }
}

fn answered(reply: Reply) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(reply.text)]);
    result.structured_content = Some(reply.structured);
    result
}

fn refused(failed: &Error) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error(failed.kind(), failed.message()))])
}

/// A tool as clients see it. All of them read, do the same each time, and speak of nothing outside the records.
fn described(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::from_raw(
        Some(tool.title.to_owned()),
        Some(true),
        Some(false),
        Some(true),
        Some(false),
    );
    rmcp::model::Tool::new(tool.name, tool.about, Arc::new(tool.input_schema()))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(tool.output_schema()))
        .with_annotations(annotations)
}
