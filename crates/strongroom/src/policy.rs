//! The policy file: evidence demand, retention, waivers and holds, as configuration.
//!
//! ```toml
//! horizon = "180d"            # how long evidence may be needed
//! retention = "indefinite"    # how long originals are kept, unless a rule below says otherwise
//! latency = "2s"              # how long reading an original may take
//! narrative = "free"          # or "demanded"
//! grace = "1d"                # how long after the end of its retention an original may be deleted
//! may-delete = false          # whether `gc --act` may delete without being told so each time
//! going-on = "15%..20%"       # the least share of a summary for what is needed to go on; see `GoingOn`
//!
//! [[retention-rule]]
//! source = "**/scratch/**"    # or project = "/srv/ws/*", the directory that a session names, or both
//! keep = "30d"
//!
//! [[retention-rule]]
//! class = "side-effecting"    # or "structured", "narrative": spans of this class longer than the rest
//! keep = "2555d"
//!
//! [[waiver]]
//! id = "W1"
//! author = "ops"
//! reason = "exploratory sessions"
//! covers = "structured"       # or "side-effecting", "source", "audit", "contradiction", "replay", "re-execution"
//! source = "**/explore/**"    # optional
//!
//! [[hold]]
//! reason = "audit 2026"
//! source = "**"
//!
//! [summarizer]                # who writes the prose of summaries; without it nobody does
//! use = "openai:gpt-5-mini"   # or "anthropic:MODEL", "exec:COMMAND", "built-in"
//! endpoint = "https://api.openai.com/v1"
//! key-env = "OPENAI_API_KEY"  # the variable that holds the key, or
//! key-command = "pass openai" # the command that prints it
//! timeout = "120s"            # how long a draft may take with everything
//! ```

use std::str::FromStr;

use serde::Deserialize;
use strongroom_core::error::{Error, Result};
use strongroom_core::evidence::EvidentialClass;
use strongroom_core::policy::{Demand, NarrativeRule, Operation, Waiver, WaiverId, WaiverScope};
use strongroom_core::time::{Duration, Timestamp};
use strongroom_core::vault::Retention;

/// A policy for all sources of an archive.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    file: PolicyFile,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyFile {
    horizon: Option<String>,
    retention: Option<String>,
    latency: Option<String>,
    narrative: Option<NarrativeWord>,
    grace: Option<String>,
    #[serde(default)]
    may_delete: bool,
    going_on: Option<String>,
    #[serde(default)]
    retention_rule: Vec<RetentionRule>,
    #[serde(default)]
    waiver: Vec<WaiverRule>,
    #[serde(default)]
    hold: Vec<HoldRule>,
    summarizer: Option<SummarizerTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SummarizerTable {
    #[serde(rename = "use")]
    writer: Option<String>,
    model: Option<String>,
    endpoint: Option<String>,
    #[serde(alias = "key_env")]
    key_env: Option<String>,
    #[serde(alias = "key_command")]
    key_command: Option<String>,
    timeout: Option<String>,
}

/// Who writes the prose of summaries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Writer {
    /// Nobody: summaries quote, list and count.
    #[default]
    BuiltIn,
    /// A command.
    Exec(String),
    /// A model behind `/v1/chat/completions`.
    Openai(String),
    /// A model behind `/v1/messages`.
    Anthropic(String),
}

impl FromStr for Writer {
    type Err = Error;

    /// Reads `built-in`, `exec:COMMAND`, `openai:MODEL` or `anthropic:MODEL`.
    fn from_str(text: &str) -> Result<Self> {
        let (kind, what) = text.split_once(':').unwrap_or((text, ""));
        let what = what.trim().to_owned();
        match (kind, what.is_empty()) {
            ("built-in", true) => Ok(Self::BuiltIn),
            ("exec", false) => Ok(Self::Exec(what)),
            ("openai", false) => Ok(Self::Openai(what)),
            ("anthropic", false) => Ok(Self::Anthropic(what)),
            _ => Err(Error::invalid_input(
                "the summarizer is built-in, exec:COMMAND, openai:MODEL or anthropic:MODEL",
            )),
        }
    }
}

/// The table `[summarizer]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummarizerSettings {
    /// Who writes, where the table says so.
    pub writer: Writer,
    /// Where the model is, if not at its vendor's.
    pub endpoint: Option<String>,
    /// The variable that holds the key.
    pub key_env: Option<String>,
    /// The command that prints the key.
    pub key_command: Option<String>,
    /// How long a draft may take with everything.
    pub timeout: Option<Duration>,
}

/// The least share of a summary, in percent, that goes to what is needed to go on with the work: the plan, the last words
/// of both, files that were changed, late failures. The rest goes to what is worth most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoingOn {
    /// Of a summary that is hardly any share of its originals.
    pub smallest: u64,
    /// Of one that is a tenth of its originals or more; in between it grows evenly.
    pub tenth: u64,
}

impl Default for GoingOn {
    fn default() -> Self {
        Self { smallest: 15, tenth: 20 }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NarrativeWord {
    Free,
    Demanded,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RetentionRule {
    source: Option<String>,
    project: Option<String>,
    class: Option<ClassWord>,
    keep: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ClassWord {
    Narrative,
    Structured,
    SideEffecting,
}

impl ClassWord {
    fn is_of(self, class: &EvidentialClass) -> bool {
        match class {
            EvidentialClass::Narrative(_) => self == Self::Narrative,
            EvidentialClass::Structured => self == Self::Structured,
            EvidentialClass::SideEffecting(_) => self == Self::SideEffecting,
        }
    }
}

/// Where an original comes from, as rules tell it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'a> {
    /// The source's name.
    pub source: &'a str,
    /// The directory that its session names, where it is known.
    pub project: Option<&'a str>,
}

impl RetentionRule {
    fn is_empty(&self) -> bool {
        self.source.is_none() && self.project.is_none() && self.class.is_none()
    }

    fn is_for(&self, origin: Origin<'_>) -> bool {
        let source = self.source.as_deref().is_none_or(|glob| matches(glob, origin.source));
        let project = self.project.as_deref();
        source && project.is_none_or(|glob| origin.project.is_some_and(|own| matches(glob, own)))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverRule {
    id: String,
    author: String,
    reason: String,
    covers: String,
    source: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldRule {
    reason: String,
    source: String,
}

/// What each word of `covers` means.
const COVERS: [(&str, WaiverScope); 7] = [
    ("structured", WaiverScope::Structured),
    ("side-effecting", WaiverScope::SideEffecting),
    ("source", WaiverScope::Source),
    ("audit", WaiverScope::Operation(Operation::Audit)),
    ("contradiction", WaiverScope::Operation(Operation::Contradiction)),
    ("replay", WaiverScope::Operation(Operation::Replay)),
    ("re-execution", WaiverScope::Operation(Operation::ReExecution)),
];

/// The grace where no policy names another: clocks and time zones of those who set an end differ.
const GRACE: Duration = Duration::from_days(1);

impl Policy {
    /// Reads a policy file; `name` stands in messages.
    ///
    /// # Errors
    /// `InvalidInput` naming the place and what is wrong with it.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let wrong = |error: toml::de::Error| {
            Error::invalid_input(format!(
                "policy {name}: {}",
                error.to_string().trim_end().replace('\n', " ")
            ))
        };
        let policy = Self { file: toml::from_str(text).map_err(wrong)? };
        // Every value is read once here, so that a later look-up cannot fail.
        policy.demand("").map_err(|error| Error::invalid_input(format!("policy {name}: {error}")))?;
        policy.grace().map_err(|error| Error::invalid_input(format!("policy {name}: {error}")))?;
        policy.going_on().map_err(|error| Error::invalid_input(format!("policy {name}: {error}")))?;
        policy.summarizer().map_err(|error| Error::invalid_input(format!("policy {name}: {error}")))?;
        policy.check_rules().map_err(|error| Error::invalid_input(format!("policy {name}: {error}")))?;
        Ok(policy)
    }

    fn check_rules(&self) -> Result<()> {
        let file = &self.file;
        let sources = file
            .retention_rule
            .iter()
            .flat_map(|rule| rule.source.iter().chain(&rule.project))
            .chain(file.waiver.iter().filter_map(|rule| rule.source.as_ref()))
            .chain(file.hold.iter().map(|rule| &rule.source));
        for source in sources {
            globset::Glob::new(source)
                .map_err(|error| Error::invalid_input(format!("source {source:?}: {error}")))?;
        }
        if let Some(rule) = file.retention_rule.iter().find(|rule| rule.is_empty()) {
            let keep = &rule.keep;
            return Err(Error::invalid_input(format!(
                "the retention rule that keeps {keep:?} needs a source, a project or a class"
            )));
        }
        for rule in &file.waiver {
            covers(&rule.covers)?;
            if rule.author.trim().is_empty() || rule.reason.trim().is_empty() {
                return Err(Error::invalid_input(format!(
                    "waiver {:?} needs an author and a reason",
                    rule.id
                )));
            }
        }
        file.retention_rule
            .iter()
            .try_for_each(|rule| retention(&rule.keep, Timestamp::from_ms(0)).map(|_| ()))?;
        file.retention.iter().try_for_each(|keep| retention(keep, Timestamp::from_ms(0)).map(|_| ()))
    }

    /// The demand for the source named `source`.
    ///
    /// # Errors
    /// `InvalidInput` when a value cannot be read.
    pub fn demand(&self, source: &str) -> Result<Demand> {
        let file = &self.file;
        let mut demand = Demand::default();
        if let Some(horizon) = &file.horizon {
            demand.horizon = duration(horizon)?;
        }
        if let Some(latency) = &file.latency {
            demand.latency_ms_max = u64::try_from(duration(latency)?.as_ms()).unwrap_or(0);
        }
        if let Some(NarrativeWord::Demanded) = file.narrative {
            demand.narrative = NarrativeRule::Demanded;
        }
        for rule in &file.waiver {
            if rule.source.as_deref().is_none_or(|glob| matches(glob, source)) {
                demand.waivers.push(Waiver {
                    id: WaiverId(rule.id.clone()),
                    author: rule.author.clone(),
                    reason: rule.reason.clone(),
                    covers: covers(&rule.covers)?,
                });
            }
        }
        demand.hold =
            file.hold.iter().find(|rule| matches(&rule.source, source)).map(|rule| rule.reason.clone());
        Ok(demand)
    }

    /// How long after the end of its retention an original may be deleted.
    ///
    /// # Errors
    /// `InvalidInput` when the value cannot be read.
    pub fn grace(&self) -> Result<Duration> {
        self.file.grace.as_deref().map_or(Ok(GRACE), duration)
    }

    /// Whether deleting what has expired needs no further word.
    pub fn may_delete(&self) -> bool {
        self.file.may_delete
    }

    /// What of a summary goes to going on.
    ///
    /// # Errors
    /// `InvalidInput` when the value cannot be read.
    pub fn going_on(&self) -> Result<GoingOn> {
        self.file.going_on.as_deref().map_or_else(|| Ok(GoingOn::default()), going_on)
    }

    /// Who writes the prose of summaries, and how to reach them.
    ///
    /// # Errors
    /// `InvalidInput` when a value cannot be read.
    pub fn summarizer(&self) -> Result<SummarizerSettings> {
        let Some(table) = &self.file.summarizer else { return Ok(SummarizerSettings::default()) };
        let words = match (&table.writer, &table.model) {
            (Some(writer), Some(model)) if !writer.contains(':') => format!("{writer}:{model}"),
            (Some(writer), None) => writer.clone(),
            (Some(_), Some(_)) => {
                return Err(Error::invalid_input(
                    "summarizer: the model is named twice, in use and in model",
                ));
            }
            (None, _) => return Err(Error::invalid_input("summarizer: use says who writes, and is missing")),
        };
        Ok(SummarizerSettings {
            writer: words.parse()?,
            endpoint: table.endpoint.clone(),
            key_env: table.key_env.clone(),
            key_command: table.key_command.clone(),
            timeout: table.timeout.as_deref().map(duration).transpose()?,
        })
    }

    /// Whether a rule asks for the directory that a session names.
    pub fn asks_for_project(&self) -> bool {
        self.file.retention_rule.iter().any(|rule| rule.project.is_some())
    }

    /// Whether a rule asks for the class of spans.
    pub fn asks_for_class(&self) -> bool {
        self.file.retention_rule.iter().any(|rule| rule.class.is_some())
    }

    /// How long spans of this class are kept at least, where a rule says so.
    ///
    /// # Errors
    /// `InvalidInput` when a value cannot be read.
    pub fn retention_of_class(
        &self,
        class: &EvidentialClass,
        origin: Origin<'_>,
        now: Timestamp,
    ) -> Result<Option<Retention>> {
        let mut rules = self.file.retention_rule.iter();
        let rule = rules.find(|rule| rule.class.is_some_and(|word| word.is_of(class)) && rule.is_for(origin));
        rule.map(|rule| retention(&rule.keep, now)).transpose()
    }

    /// How long originals from `origin` are kept when they are deposited at `now`, whatever their class.
    ///
    /// # Errors
    /// `InvalidInput` when a value cannot be read.
    pub fn retention(&self, origin: Origin<'_>, now: Timestamp) -> Result<Retention> {
        let mut rules = self.file.retention_rule.iter();
        let rule = rules.find(|rule| rule.class.is_none() && rule.is_for(origin)).map(|rule| &rule.keep);
        rule.or(self.file.retention.as_ref()).map_or(Ok(Retention::Indefinite), |keep| retention(keep, now))
    }
}

fn matches(glob: &str, source: &str) -> bool {
    globset::Glob::new(glob).is_ok_and(|glob| glob.compile_matcher().is_match(source))
}

fn covers(word: &str) -> Result<WaiverScope> {
    let known = || COVERS.map(|(word, _)| word).join(", ");
    let found = COVERS.iter().find(|(own, _)| *own == word).map(|&(_, scope)| scope);
    found.ok_or_else(|| Error::invalid_input(format!("covers {word:?} is none of {}", known())))
}

fn retention(text: &str, now: Timestamp) -> Result<Retention> {
    if text == "indefinite" {
        return Ok(Retention::Indefinite);
    }
    duration(text).map(|length| Retention::Until(now + length))
}

/// Reads how long something is to be kept from `now` on: `indefinite`, or a length of time such as `180d`.
///
/// # Errors
/// `InvalidInput` when it is neither.
pub fn keep(text: &str, now: Timestamp) -> Result<Retention> {
    retention(text, now)
}

/// Reads `15%` or `15%..20%`.
fn going_on(text: &str) -> Result<GoingOn> {
    let percent = |text: &str| {
        let number = text.trim().strip_suffix('%').and_then(|digits| digits.parse::<u64>().ok());
        number.filter(|&number| number <= 100).ok_or_else(|| {
            Error::invalid_input(format!("going-on: {text:?} is no share; give one like 15% or 15%..20%"))
        })
    };
    let (smallest, tenth) = text.split_once("..").unwrap_or((text, text));
    let (smallest, tenth) = (percent(smallest)?, percent(tenth)?);
    Ok(GoingOn { smallest, tenth: tenth.max(smallest) })
}

/// Reads `180d`, `12h`, `30m`, `2s` or `500ms`.
///
/// # Errors
/// `InvalidInput` of anything else.
pub fn duration(text: &str) -> Result<Duration> {
    const UNITS: [(&str, i64); 5] =
        [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|&(_, factor)| factor);
    let number = digits.trim().parse::<i64>().ok().filter(|&number| number >= 0);
    match (number, factor) {
        (Some(number), Some(factor)) => Ok(Duration::from_ms(number.saturating_mul(factor))),
        _ => Err(Error::invalid_input(format!(
            "{text:?} is no length of time; give one like 180d, 12h, 30m, 2s or 500ms"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_demand_retention_waivers_and_holds() {
        let policy = Policy::parse(
            r#"
            horizon = "30d"
            latency = "500ms"
            narrative = "demanded"
            retention = "90d"
            going-on = "10%..30%"
            [[retention-rule]]
            source = "**/scratch/**"
            keep = "1d"
            [[waiver]]
            id = "W1"
            author = "ops"
            reason = "exploration"
            covers = "replay"
            source = "**/explore/**"
            [[hold]]
            reason = "audit"
            source = "**/held/**"
            "#,
            "test",
        )
        .unwrap();
        let demand = policy.demand("/a/explore/s.jsonl").unwrap();
        assert_eq!(demand.horizon, Duration::from_days(30));
        assert_eq!(demand.latency_ms_max, 500);
        assert_eq!(demand.waivers.len(), 1);
        assert_eq!(policy.going_on().unwrap(), GoingOn { smallest: 10, tenth: 30 });
        assert_eq!(Policy::default().going_on().unwrap(), GoingOn { smallest: 15, tenth: 20 });
        assert_eq!(policy.demand("/a/held/s.jsonl").unwrap().hold.as_deref(), Some("audit"));
        assert!(policy.demand("/a/other.jsonl").unwrap().waivers.is_empty());
        let now = Timestamp::from_ms(0);
        let until = |source| policy.retention(Origin { source, project: None }, now).unwrap();
        assert_eq!(until("/a/scratch/s.jsonl"), Retention::Until(now + Duration::from_days(1)));
        assert_eq!(until("/a/s.jsonl"), Retention::Until(now + Duration::from_days(90)));
    }

    #[test]
    fn rules_ask_for_project_and_class() {
        let policy = Policy::parse(
            r#"
            retention = "30d"
            [[retention-rule]]
            project = "/srv/bank/*"
            keep = "100d"
            [[retention-rule]]
            class = "side-effecting"
            source = "**/*.jsonl"
            keep = "2555d"
            "#,
            "test",
        )
        .unwrap();
        assert!(policy.asks_for_project() && policy.asks_for_class());
        let now = Timestamp::from_ms(0);
        let origin = |source, project| Origin { source, project };
        let days = |origin| match policy.retention(origin, now).unwrap() {
            Retention::Until(until) => until.as_ms() / 86_400_000,
            other => panic!("{other:?}"),
        };
        assert_eq!(days(origin("/a/s.jsonl", None)), 30, "the rule of a class is none of the source");
        assert_eq!(days(origin("/a/s.jsonl", Some("/srv/bank/core"))), 100);
        assert_eq!(days(origin("/a/s.jsonl", Some("/srv/shop/core"))), 30);
        let of = |class, source| policy.retention_of_class(&class, origin(source, None), now).unwrap();
        let certain = EvidentialClass::SideEffecting(strongroom_core::evidence::Certainty::Definite);
        let long = Retention::Until(now + Duration::from_days(2_555));
        assert_eq!(of(certain, "/a/s.jsonl"), Some(long));
        assert_eq!(of(certain, "/a/s.txt"), None);
        assert_eq!(of(EvidentialClass::Structured, "/a/s.jsonl"), None);
    }

    #[test]
    fn a_policy_names_who_writes_prose() {
        let of = |text: &str| Policy::parse(text, "test").unwrap().summarizer().unwrap();
        assert_eq!(of(""), SummarizerSettings::default());
        let table = "[summarizer]\nuse = \"anthropic\"\nmodel = \"m\"\nkey_env = \"K\"\ntimeout = \"30s\"";
        let settings = of(table);
        assert_eq!(settings.writer, Writer::Anthropic("m".to_owned()));
        assert_eq!(
            (settings.key_env.as_deref(), settings.timeout),
            (Some("K"), Some(Duration::from_ms(30_000)))
        );
        assert_eq!(
            of("[summarizer]\nuse = \"exec:cat | head\"").writer,
            Writer::Exec("cat | head".to_owned())
        );
    }

    #[test]
    fn wrong_policies_say_what_is_wrong() {
        for (text, why) in [
            ("horizon = \"soon\"", "length of time"),
            ("colour = 1", "colour"),
            ("going-on = \"120%\"", "no share"),
            ("going-on = \"half\"", "no share"),
            ("[[waiver]]\nid=\"W\"\nauthor=\"\"\nreason=\"x\"\ncovers=\"source\"", "author"),
            ("[[waiver]]\nid=\"W\"\nauthor=\"a\"\nreason=\"x\"\ncovers=\"all\"", "none of"),
            ("[[retention-rule]]\nkeep=\"1d\"", "needs a source"),
            ("[[retention-rule]]\nkeep=\"1d\"\nclass=\"all\"", "side-effecting"),
            ("grace = \"soon\"", "length of time"),
            ("[[hold]]\nreason=\"x\"\nsource=\"a[\"", "source"),
            ("[summarizer]\nuse=\"gpt\"", "openai:MODEL"),
            ("[summarizer]\nuse=\"openai:a\"\nmodel=\"b\"", "twice"),
            ("[summarizer]\nmodel=\"b\"", "missing"),
            ("[summarizer]\nuse=\"built-in\"\ntimeout=\"long\"", "length of time"),
            ("[summarizer]\nuse=\"built-in\"\nkey=\"sk-1\"", "unknown field"),
        ] {
            let message = Policy::parse(text, "p.toml").unwrap_err().to_string();
            assert!(message.contains(why) && message.contains("p.toml"), "{message}");
        }
    }
}
