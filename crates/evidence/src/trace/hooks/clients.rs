//! Clients of the network and of databases.

use strongroom_core::evidence::Certainty;

use super::super::{Call, Guard, Input, Tracer};
use super::{Arg, input_text, rest};
use crate::effect::{Access, EffectKind, Scope, Target};
use crate::place::base_name;

const SAFE: &[&str] = &["GET", "HEAD", "OPTIONS", "TRACE"];

fn is_safe(method: &str) -> bool {
    SAFE.iter().any(|safe| method.eq_ignore_ascii_case(safe))
}

fn net(tracer: &mut Tracer<'_>, call: &Call<'_>, kind: EffectKind, url: &str) {
    let scope = Scope::Remote(super::super::target::host(url));
    tracer.emit_at(kind, Target::Named(url.to_owned()), Some(scope), call.guard);
}

fn write(tracer: &mut Tracer<'_>, call: &Call<'_>, file: &Arg) {
    if file.text != "-" {
        let (target, scope) = tracer.path_target(file);
        tracer.emit_at(EffectKind::FsWrite, target, Some(scope), call.guard);
    }
}

pub(super) fn curl(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    const DATA: &[&str] = &[
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-ascii",
        "--data-urlencode",
        "-F",
        "--form",
        "--form-string",
        "-T",
        "--upload-file",
        "--json",
    ];
    const FILES: &[&str] = &[
        "-o",
        "--output",
        "-c",
        "--cookie-jar",
        "-D",
        "--dump-header",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--libcurl",
        "--etag-save",
        "--hsts",
        "--alt-svc",
    ];
    let invocation = &call.invocation;
    let has = |names: &[&str]| names.iter().any(|name| invocation.has(name));
    let method = invocation.value(&["-X", "--request"]).map(|arg| arg.text.as_str());
    let asks = has(&["-G", "--get", "-I", "--head"]);
    // A body is sent whatever the method is called.
    let body = has(DATA) && !asks && !is_query(&invocation.values(DATA));
    let mutates = method.is_some_and(|method| !is_safe(method)) && !has(DATA);
    let sends = body || mutates || has(&["-Q", "--quote"]);
    let named = invocation.value(&["--url"]).map(|arg| arg.text.as_str());
    let url = named.or_else(|| invocation.operand(0)).unwrap_or_default().to_owned();
    if url.starts_with("file:") {
        tracer.emit(EffectKind::FsRead, Target::Named(url.clone()), call.guard);
    } else {
        net(tracer, call, if sends { EffectKind::NetSend } else { EffectKind::NetRead }, &url);
        if !sends && (asks || !has(&["-I", "--head"])) {
            carried(tracer, call, &url, has(DATA));
        }
    }
    for file in invocation.values(FILES) {
        write(tracer, call, file);
    }
    if has(&["-O", "--remote-name", "--remote-name-all", "-J"]) {
        write(tracer, call, &Arg::literal(base_name(&url)));
    }
    if has(&["-K", "--config"]) {
        tracer.opaque(Target::Unknown, call.guard);
    }
    true
}

/// A request that reads may still carry data: in its query, or in a name that was computed.
fn carried(tracer: &mut Tracer<'_>, call: &Call<'_>, url: &str, asks_with_data: bool) {
    let computed = call.words.iter().any(|word| tracer.is_computed(word));
    if asks_with_data || computed || url.contains('?') {
        let scope = Scope::Remote(super::super::target::host(url));
        let guard = call.guard.at(Certainty::Possible);
        tracer.emit_at(EffectKind::NetSend, Target::Named(url.to_owned()), Some(scope), guard);
    }
}

/// Whether the body is a literal GraphQL query, which reads.
fn is_query(bodies: &[&Arg]) -> bool {
    let query = |body: &&Arg| {
        let start = body.text.trim_start_matches(['{', ' ', '\n', '"']);
        body.shape == super::Shape::Literal && start.starts_with("query\"") && !body.text.contains("mutation")
    };
    !bodies.is_empty() && bodies.iter().all(query)
}

pub(super) fn wget(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    let url = invocation.operand(0).unwrap_or_default().to_owned();
    let method = invocation.value(&["--method"]).is_some_and(|method| !is_safe(&method.text));
    let posts =
        ["--post-data", "--post-file", "--body-data", "--body-file"].iter().any(|name| invocation.has(name));
    net(tracer, call, if posts || method { EffectKind::NetSend } else { EffectKind::NetRead }, &url);
    if !posts && !method {
        carried(tracer, call, &url, false);
    }
    for log in invocation.values(&["-o", "-a", "--output-file", "--append-output"]) {
        write(tracer, call, log);
    }
    if invocation.has("--spider") {
        return true;
    }
    if let Some(file) = invocation.value(&["-O", "--output-document"]) {
        write(tracer, call, file);
    } else if let Some(directory) = invocation.value(&["-P", "--directory-prefix"]) {
        write(tracer, call, directory);
    } else {
        let (target, scope) = tracer.here();
        tracer.emit_at(EffectKind::FsWrite, target, scope, call.guard);
    }
    true
}

pub(super) fn httpie(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    let first = invocation.operand(0).unwrap_or_default();
    let is_method = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_uppercase());
    let url = invocation.operand(usize::from(is_method)).unwrap_or_default().to_owned();
    let items = invocation.operands.iter().skip(1 + usize::from(is_method));
    let data = items.clone().any(|item| item.text.contains('=') && !item.text.contains("=="))
        || !matches!(call.input, Input::None);
    let form = ["-f", "--form", "--multipart"].iter().any(|name| invocation.has(name));
    let sends = if is_method { !is_safe(first) } else { data || form };
    net(tracer, call, if sends { EffectKind::NetSend } else { EffectKind::NetRead }, &url);
    for file in invocation.values(&["-o", "--output"]) {
        write(tracer, call, file);
    }
    if invocation.has("--download") || invocation.has("-d") {
        write(tracer, call, &Arg::literal(base_name(&url)));
    }
    true
}

/// `gh api` by its method; everything else is in the table.
pub(super) fn github(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    if invocation.operand(0) != Some("api") {
        return false;
    }
    let fields =
        ["-f", "--raw-field", "-F", "--field", "--form", "--input"].iter().any(|name| invocation.has(name));
    let chosen = invocation.has("-X") || invocation.has("--method");
    let method = invocation.value(&["-X", "--method"]).map(|arg| arg.text.as_str());
    let queries = invocation.values(&["-f", "--raw-field", "-F", "--field"]);
    let uploads = queries.iter().any(|arg| arg.text.contains("=@"));
    let graphql = invocation.operand(1) == Some("graphql");
    let literal_query = |arg: &&Arg| {
        arg.text.starts_with("query=") && arg.shape == super::Shape::Literal && !arg.text.contains("mutation")
    };
    let reads = if graphql {
        queries.iter().any(literal_query)
    } else {
        method.map_or(!fields && !chosen, is_safe) && !uploads
    };
    let endpoint = invocation.operand(1).unwrap_or_default().to_owned();
    let scope = Scope::Remote("api.github.com".to_owned());
    let kind = if reads { EffectKind::NetRead } else { EffectKind::NetSend };
    tracer.emit_at(kind, Target::Named(endpoint), Some(scope), call.guard);
    true
}

pub(super) fn psql(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    let named = invocation.value(&["-d", "--dbname"]).map(|arg| arg.text.as_str());
    let database = named.or_else(|| invocation.operand(0)).unwrap_or_default().to_owned();
    let sql = invocation.values(&["-c", "--command"]);
    let files = invocation.values(&["-f", "--file"]);
    statements(tracer, call, &database, &sql, &files);
    for file in invocation.values(&["-o", "--output", "-L", "--log-file"]) {
        write(tracer, call, file);
    }
    true
}

pub(super) fn mysql(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    let named = invocation.value(&["-D", "--database"]).map(|arg| arg.text.as_str());
    let database = named.or_else(|| invocation.operand(0)).unwrap_or_default().to_owned();
    statements(tracer, call, &database, &invocation.values(&["-e", "--execute"]), &[]);
    true
}

pub(super) fn sqlite(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    let database = invocation.operand(0).unwrap_or_default().to_owned();
    let sql: Vec<&Arg> = invocation.operands.iter().skip(1).chain(invocation.values(&["-cmd"])).collect();
    let before = tracer.report.effects.len();
    statements(tracer, call, &database, &sql, &[]);
    system_file(tracer, call, before);
    true
}

/// A database that is a file outside what belongs to the project: what changes it changes that file.
fn system_file(tracer: &mut Tracer<'_>, call: &Call<'_>, before: usize) {
    let own = tracer.report.effects.get(before..).unwrap_or_default();
    let changes = own.iter().filter(|one| one.effect.kind.access() == Access::Mutation);
    let Some(certainty) = changes.map(|one| one.effect.certainty).max() else { return };
    let Some(file) = call.invocation.operands.first().filter(|file| !file.text.starts_with(':')) else {
        return;
    };
    let (target, scope) = tracer.path_target(file);
    if matches!(scope, Scope::System | Scope::Unknown | Scope::Outside) {
        tracer.emit_at(EffectKind::FsWrite, target, Some(scope), call.guard.at(certainty));
    }
}

fn statements(tracer: &mut Tracer<'_>, call: &Call<'_>, database: &str, sql: &[&Arg], files: &[&Arg]) {
    for text in sql {
        let guard = if text.shape == super::Shape::Dynamic { Guard::POSSIBLE } else { call.guard };
        tracer.sql(&text.text, database, guard);
        if text.shape == super::Shape::Dynamic {
            tracer.sql("unknown", database, call.guard);
        }
    }
    for file in files {
        let path = tracer.resolve(&file.text).path;
        match tracer.artifacts.text(&path).map(str::to_owned) {
            Some(text) => tracer.within_artifact(&text, |own| own.sql(&text, database, call.guard)),
            None => tracer.sql("unknown", database, call.guard),
        }
    }
    if !sql.is_empty() || !files.is_empty() {
        return;
    }
    match (input_text(call.input), call.input) {
        (Some(text), _) => tracer.sql(text, database, call.guard),
        (None, Input::None)
            if rest(call).iter().any(|word| matches!(word.text.as_str(), "-l" | "--list" | "-V")) =>
        {
            tracer.sql("show", database, call.guard);
        }
        (None, _) => tracer.sql("unknown", database, call.guard),
    }
}
