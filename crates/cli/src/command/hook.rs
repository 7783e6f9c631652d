//! `strongroom hook`: what an agent asks of us while it works.
//!
//! An agent must never break because of us: whatever happens, what is printed is what its hooks may print, and the
//! program ends with 0, unless the user chose that a compaction be stopped.

mod bounded;
mod event;
mod past;
mod payload;
mod reply;
mod trouble;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strongroom::answer::{Strictness, render_text};
use strongroom::archive::{Archive, Relation, Secret, StoredSource};
use strongroom::ask::open as open_session;
use strongroom::ask::{Asked, TOLD_FIRST};
use strongroom::card::{Card, CardOptions};
use strongroom::custody::name_of;
use strongroom::import::{ImportOptions, Progress, Recheck, Taken, import_session, import_summary};
use strongroom::policy::Policy;
use strongroom::time::Timestamp;
use strongroom::tokens::Tokens;
use strongroom::transcript::SessionFiles;
use strongroom::{Error, Result};

use crate::args::{Args, HookArgs, OnFailureArg};
use crate::exit::End;
use crate::{clock, out, place, secret};
use bounded::{Reached, within};
use event::Event;
use payload::{Payload, Place};
use reply::Reply;
use trouble::{Trouble, Troubles};

/// The share of the deadline that an answer to a question in a prompt may take, in tenths: without it there is a hint.
const ANSWER_TENTHS: u32 = 3;

/// The longest answer that goes into a prompt, in characters; the rest is there to be asked for.
const ANSWER_CHARS_MAX: usize = 2_000;

/// Whether the words typed, the program's name first, call this command.
pub(crate) fn is_hook(words: &[OsString]) -> bool {
    const WITH_VALUE: &[&str] =
        &["--dir", "--policy", "--installed-by", "--key-file", "--passphrase-file", "--passphrase-command"];
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        if WITH_VALUE.contains(&word.as_ref()) {
            words.next();
        } else if !word.starts_with('-') {
            return word == "hook";
        }
    }
    false
}

/// The answer to a hook whose command line is not understood: the agent takes another exit code for a veto.
pub(crate) fn unread_hook(error: &clap::Error) -> End {
    // An agent that cannot write its payload to the end may take that for a failure.
    drop(Payload::read(&mut std::io::stdin().lock()));
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    say(&Reply::message(format!("Strongroom: the hook's command line is not understood: {first}")));
    End::Done
}

fn say(reply: &Reply) {
    if let Some(json) = reply.json() {
        // An agent that does not listen any more is told nothing.
        drop(out::line(&json));
    }
}

pub(super) fn run(args: &Args, own: &HookArgs) -> End {
    let payload = Payload::read(&mut std::io::stdin().lock());
    let named = own.event.as_deref().or(payload.as_ref().ok().and_then(|payload| payload.event.as_deref()));
    let Some(event) = named.and_then(Event::from_word) else { return End::Done };
    let (reply, end) = match Hook::new(args, own, event, payload) {
        Ok(Some(hook)) => hook.reply(),
        Ok(None) => (Reply::default(), End::Done),
        Err(error) => failed(event, own, &error),
    };
    say(&reply.for_agent(own.agent));
    end
}

/// What is said of a hook that could do nothing, and how it ends.
fn failed(event: Event, own: &HookArgs, error: &Error) -> (Reply, End) {
    let words = format!("Strongroom: {} did nothing: {}", event.word(), error.chain());
    if event == Event::PreCompact {
        return not_kept(own, format!("{words}. This transcript is NOT in custody."));
    }
    (Reply::message(words), End::Done)
}

/// A compaction is ahead, and the transcript is not in custody.
fn not_kept(own: &HookArgs, words: String) -> (Reply, End) {
    match own.on_failure {
        OnFailureArg::Report => (Reply::message(words), End::Done),
        OnFailureArg::Block => {
            out::note(&words);
            (Reply::veto(words), reply::end_of_veto(own.agent))
        }
    }
}

/// A hook that is to be answered.
struct Hook<'a> {
    own: &'a HookArgs,
    event: Event,
    payload: Payload,
    setting: Setting,
}

/// What the work needs, apart from the thread that waits for it.
#[derive(Debug, Clone)]
struct Setting {
    dir: PathBuf,
    secret: Option<Secret>,
    policy: Policy,
    transcript: PathBuf,
    now: Timestamp,
}

/// How a transcript stands in custody.
#[derive(Debug)]
struct Custody {
    /// What the card opens with.
    opening: Option<String>,
    /// Whether everything that is needed is in custody now.
    whole: bool,
}

impl<'a> Hook<'a> {
    /// `None` where the agent says that it keeps no transcript, and nothing is about to be lost.
    fn new(args: &Args, own: &'a HookArgs, event: Event, payload: Result<Payload>) -> Result<Option<Self>> {
        let payload = payload?;
        let transcript = match &payload.transcript {
            Place::At(path) => path.clone(),
            Place::Nowhere if event != Event::PreCompact => return Ok(None),
            Place::Nowhere => return Err(Error::invalid_input("the agent keeps no transcript")),
            Place::Unsaid => return Err(Error::invalid_input("the payload names no transcript_path")),
        };
        let dir = place::archive_dir(args)?;
        let (policy, secret) = (super::policy(args)?, secret::of(args)?);
        let setting = Setting { dir, secret, policy, transcript, now: clock::now() };
        Ok(Some(Self { own, event, payload, setting }))
    }

    fn reply(&self) -> (Reply, End) {
        match self.event {
            Event::PreCompact
            | Event::PostCompact
            | Event::Stop
            | Event::SubagentStop
            | Event::SessionEnd => self.keep(),
            Event::SessionStart => (self.remember(), End::Done),
            Event::UserPromptSubmit => (self.prompted(), End::Done),
        }
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(self.own.deadline)
    }

    fn troubles(&self) -> Troubles {
        Troubles::of(&self.setting.dir, &self.payload.session, &self.setting.transcript)
    }

    /// Takes into custody what is not there yet.
    fn keep(&self) -> (Reply, End) {
        let (setting, summary) = (self.setting.clone(), self.payload.summary.clone());
        let kept = within(self.deadline(), move |reached| setting.keep(summary.as_deref(), reached));
        let troubles = self.troubles();
        let error = match kept {
            Ok(()) => {
                troubles.clear();
                return (Reply::default(), End::Done);
            }
            Err(error) => error,
        };
        let why = error.chain();
        let trouble = troubles.note(self.setting.now, &why);
        let words = format!(
            "Strongroom: this transcript is NOT in custody since {}: {why}",
            clock::words(trouble.since)
        );
        match self.event {
            Event::PreCompact => not_kept(self.own, words),
            // The same at every turn is noise; once, and again before a compaction, is not.
            _ if trouble.told => (Reply::default(), End::Done),
            _ => (Reply::message(words), End::Done),
        }
    }

    /// After a compaction or a resumption: what must not be lost.
    fn remember(&self) -> Reply {
        const SOURCES: &[&str] = &["compact", "resume", "fork"];
        if !self.payload.source.as_deref().is_some_and(|source| SOURCES.contains(&source)) {
            return Reply::default();
        }
        let start = Instant::now();
        let setting = self.setting.clone();
        let troubles = self.troubles();
        let before = troubles.read();
        let custody = within(self.deadline(), move |_| setting.custody(before.as_ref()));
        let custody = custody.unwrap_or_else(|error| Custody {
            opening: Some(format!("NOT in custody: {}", error.chain())),
            whole: false,
        });
        if custody.whole {
            troubles.clear();
        }
        let opening: Vec<String> = custody.opening.into_iter().collect();
        let (setting, budget) = (self.setting.clone(), Tokens(self.own.budget));
        let told = opening.clone();
        let left = self.deadline().saturating_sub(start.elapsed());
        match within(left, move |_| setting.card(budget, told)) {
            Ok(card) => Reply::context(self.event, card.text),
            Err(error) => {
                let why = error.chain();
                let mut lines = opening;
                lines.push(format!("{TOLD_FIRST}: no evidence card of this session: {why}"));
                lines.push(self.setting.how_to_ask());
                let mut reply = Reply::context(self.event, lines.join("\n"));
                reply.say(format!("Strongroom: no evidence card: {why}"));
                reply
            }
        }
    }

    /// A prompt that asks about the past is answered from records, or gets a hint that it can be.
    fn prompted(&self) -> Reply {
        let prompt = self.payload.prompt.as_deref().unwrap_or_default();
        let asks = match self.payload.source.as_deref() {
            None | Some("user" | "sdk") => past::question(prompt),
            Some(_) => None,
        };
        let Some(asks) = asks.filter(|_| payload::check_regular(&self.setting.transcript).is_ok()) else {
            return Reply::default();
        };
        let Some(query) = asks.query else { return Reply::context(self.event, self.setting.hint()) };
        let setting = self.setting.clone();
        let answer = within(self.deadline() * ANSWER_TENTHS / 10, move |_| {
            let archive = place::open_dir_for_reading(&setting.dir, setting.secret.clone())?;
            let mut asked = Asked::default();
            asked.add(setting.open(archive.as_ref())?, archive.as_ref())?;
            asked.answer(&query, super::options(archive.as_ref(), Strictness::Assume))
        });
        match answer {
            Ok(answer) => {
                let text = past::bounded(&render_text(&answer), ANSWER_CHARS_MAX);
                let told = format!("{TOLD_FIRST}: the records say\n{text}\n{}", self.setting.how_to_ask());
                Reply::context(self.event, told)
            }
            Err(_) => Reply::context(self.event, self.setting.hint()),
        }
    }
}

impl Setting {
    /// Imports the session, and the summary that the agent has made of it.
    fn keep(&self, summary: Option<&str>, reached: &Reached) -> Result<()> {
        let archive = place::open_dir_for_writing(&self.dir, self.secret.clone())?;
        let options = ImportOptions { policy: &self.policy, now: self.now, recheck: Recheck::Trust };
        let mut lost = None;
        import_session(&archive, &self.transcript, options, &mut |step| {
            if let Progress::File(path, taken) = step {
                match taken {
                    Taken::Imported => reached.note(name(path)),
                    Taken::Unchanged => {}
                    Taken::PassedOver(why) => lost = Some(Error::unavailable(why.clone())),
                    Taken::Failed(error) => {
                        lost = Some(Error::new(error.kind(), format!("{}: {error}", path.display())));
                    }
                }
            }
        })?;
        if let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) {
            import_summary(&archive, &self.transcript, summary, options)?;
        }
        lost.map_or(Ok(()), Err)
    }

    /// The session of the transcript, which must be a file of its own.
    fn open(&self, archive: Option<&Archive>) -> Result<SessionFiles> {
        payload::check_regular(&self.transcript)?;
        open_session(&self.transcript, None, archive)
    }

    /// Imports what was written since, and says what was wrong before or is now.
    fn custody(&self, before: Option<&Trouble>) -> Result<Custody> {
        payload::check_regular(&self.transcript)?;
        let since = |trouble: &Trouble| format!("since {}: {}", clock::words(trouble.since), trouble.why);
        let error = match self.keep(None, &Reached::nobody()) {
            Ok(()) => {
                let late = |past| {
                    format!("Custody: taken in at {}; it was NOT in custody {past}", clock::words(self.now))
                };
                let opening = before.map(|trouble| late(since(trouble))).or_else(|| self.replaced());
                return Ok(Custody { opening, whole: true });
            }
            Err(error) => error,
        };
        let why = error.chain();
        let past = match (before, self.stored()) {
            (Some(trouble), _) if trouble.why == why => since(trouble),
            (Some(trouble), _) => format!("{} ({why})", since(trouble)),
            (None, Some(stored)) => format!("since {}: {why}", clock::words(stored.latest.at)),
            (None, None) => format!("at {}: {why}", clock::words(self.now)),
        };
        Ok(Custody { opening: Some(format!("NOT in custody {past}")), whole: false })
    }

    /// What the archive has of the transcript.
    fn stored(&self) -> Option<StoredSource> {
        let archive = place::open_dir_for_reading(&self.dir, self.secret.clone()).ok()??;
        archive.source_by_name(&name_of(&self.transcript)).ok()?
    }

    /// Whether the transcript was rewritten since it was last taken in, in words.
    fn replaced(&self) -> Option<String> {
        let latest = self.stored()?.latest;
        let now = latest.at == self.now && latest.relation == Relation::Replaces;
        now.then(|| {
            "Custody: the transcript was rewritten since it was last taken in; both states are kept"
                .to_owned()
        })
    }

    fn card(&self, budget: Tokens, opening: Vec<String>) -> Result<Card> {
        let archive = place::open_dir_for_reading(&self.dir, self.secret.clone()).unwrap_or_default();
        let ask = super::options(archive.as_ref(), Strictness::Assume);
        let options = CardOptions { ask, budget, opening, closing: vec![self.how_to_ask()] };
        Card::of(self.open(archive.as_ref())?, archive.as_ref(), &options)
    }

    fn how_to_ask(&self) -> String {
        format!(
            "For exact values, \"did we\" and \"never\", ask the records, not memory: the MCP tools evidence_ask and \
evidence_claim, or `strongroom ask QUESTION --in '{}'`.",
            self.transcript.display()
        )
    }

    fn hint(&self) -> String {
        format!("{TOLD_FIRST}: the records of this session are at hand.\n{}", self.how_to_ask())
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
