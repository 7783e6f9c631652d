//! Questions as whole sentences: every word of one is a word of the table, or stands in a slot that only takes what is
//! meant literally.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::grammar::{compiled, form_of};
use super::objects::path_term;
use super::rules::{Certainty, about, is_deed};
use super::sentence::{Sentence, Spelling};
use super::words::{KINDS, POINTING, is_key, is_literal, is_name, is_path, safe};
use crate::query::Atom;

/// A row: a sentence of this shape is read as `form` and `clause`. A word of the clause with a slot that the sentence
/// does not fill is left out. Of the forms, `ever` gives way to what the words of the sentence ask for, `?` is `list`
/// but for those, `?about` is `ever` where the words of a rule are certain, and `place` needs a place.
struct Pattern {
    text: &'static str,
    form: &'static str,
    clause: &'static str,
}

const fn p(text: &'static str, form: &'static str, clause: &'static str) -> Pattern {
    Pattern { text, form, clause }
}

/// Test runners by name, at the head of a command.
const RUNNERS: &str = r"calls tool:*bash*|*shell*|*exec*|*terminal*|*command* arg:/(?:^|[;&|(\n]\s*|\b(?:sudo|time|env|timeout\s+\S+|uv\s+run|poetry\s+run|npx|bunx|pnpm\s+exec|mise\s+exec\s+--|bundle\s+exec)\s+|\w+=\S*\s+)(?:(?:pytest|tox|nox|jest|vitest|mocha|ava|ctest|rspec|phpunit|python3?\s+-m\s+(?:pytest|unittest))\b|(?:cargo|go|npm|yarn|pnpm|bun|deno|make|just|mise|task|dotnet|swift|mix|rake|rails|gradle|mvn|sbt|zig\s+build|.\/gradlew|bazel|flutter|dart)\s+(?:run\s+)?(?:nextest|tests?)\b)/";

/// First match wins.
const PATTERNS: &[Pattern] = &[
    // Calls by a text of them.
    p(
        r"{open}{aux}{subj}{adv}{run} {the}{exact}(?:<tool> )?(?:{call} )?{with}?<text>{inargs}",
        "ever",
        "calls tool:{tool} arg:{text}",
    ),
    p(
        r"{open}(?:was|were|is|has|have|had) {the}{exact}(?:<tool> )?(?:{call} )?{with}?<text> {adv}(?:been )?{run}{inargs}",
        "ever",
        "calls tool:{tool} arg:{text}",
    ),
    p(
        r"{open}(?:was|were|has|had) {the}<tool>(?: tool)? {adv}(?:been )?{run} {with}<q>{inargs}",
        "ever",
        "calls tool:{tool} arg:{q}",
    ),
    p(
        r"how many (?:<tool> )?{calls} {with}<q>{inargs}(?: (?:were|are) there| (?:were|have been) (?:made|run|issued)| did {subj}make)?",
        "count",
        "calls tool:{tool} arg:{q}",
    ),
    p(
        r"(?:was|were|is|are) there {ever}{the}(?:<tool> )?{calls} {with}?<q>{inargs}",
        "ever",
        "calls tool:{tool} arg:{q}",
    ),
    p(
        r"{aux}(?:any|a|some) (?:<tool> )?{calls} {ever}(?:contain|have|hold|include|mention|use|carry|pass) <q>{inargs}",
        "ever",
        "calls tool:{tool} arg:{q}",
    ),
    p(r"{show}{the}{pick}{exact}(?:<tool> )?{call} {with}?<q>{inargs}", "?", "calls tool:{tool} arg:{q}"),
    p(
        r"{show}(?:all |every )*{the}{exact}(?:<tool> )?{calls} {with}?<q>{inargs}",
        "list",
        "calls tool:{tool} arg:{q}",
    ),
    p(
        r"(?:which|what) (?:<tool> )?{calls} (?:had|has|have|held|contain(?:ed|s)?|use[ds]?|include[ds]?|pass(?:ed|es)?|took|mention(?:ed|s)?|was made with|were made with|was given|got|carried|ran) (?:the (?:text |string |argument |words? )?)?<q>{inargs}",
        "list",
        "calls tool:{tool} arg:{q}",
    ),
    p(
        r"(?:in |with )?(?:which|what) (?:<tool> )?{calls} (?:was|did|does|is) <q>(?: (?:appear|occur|passed|used|given|stand|run|sent|show up|turn up|come up|included|found))?(?: as an argument)?",
        "list",
        "calls tool:{tool} arg:{q}",
    ),
    p(
        r"(?:which|what) tools? (?:was|were) (?:(?:called|used|run|invoked) with|given|passed|sent) <q>{inargs}",
        "list",
        "calls arg:{q}",
    ),
    p(r"(?:which|what) tools? (?:got|received|took) <q>{inargs}", "list", "calls arg:{q}"),
    p(
        r"how many (?:<tool> )?{calls} (?:(?:were|are) there {with}|did {subj}make {with}|{with}|had |have |contain(?:ed)? |used )<q>{inargs}",
        "count",
        "calls tool:{tool} arg:{q}",
    ),
    p(r"what did {the}{exact}(?:<tool> )?{call} {with}?<q>{inargs} do", "list", "calls tool:{tool} arg:{q}"),
    p(
        r"where (?:is|was) {the}{exact}(?:<tool> )?{call} {with}?<q>{inargs}",
        "list",
        "calls tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}(?:arguments?|input|parameters?|text) (?:of|for) {ref}",
        "list",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"(?:which|what) {calls} (?:of|to) {the}<tool>(?: tool)? (?:had|has|have|held|contain(?:ed|s)?|used?|include[ds]?|took|mention(?:ed|s)?|was made with|got) {words}<q>{inargs}",
        "list",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"(?:which|what) (?:<tool> )?{calls} (?:went|was sent|was made) to <q>",
        "list",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}(?:<tool> )?{call} (?:where|(?:in|to|with) which) {words}<q> (?:was|is|were|appears?|appeared|occurs?|occurred)(?: (?:passed|used|given|run|sent|found|mentioned))?{inargs}",
        "list",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}(?:<tool> )?{calls} {with}?<q>{inargs} (?:verbatim|word for word|in full)",
        "list",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"{open}(?:was|were|has|is) <q> {ever}(?:been )?(?:passed|given|sent) to {the}<tool>(?: tool)?",
        "ever",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"{open}{aux}{subj}{adv}(?:use[ds]?|pass(?:ed)?|run with|set) (?:the )?(?:(?:flag|option|switch) )?<flag>",
        "ever",
        r"calls arg:{flag}",
    ),
    p(
        r"{open}(?:was|is|has) (?:the )?(?:(?:flag|option|switch) )?<flag> {adv}(?:been )?(?:used|passed|set)",
        "ever",
        r"calls arg:{flag}",
    ),
    p(r"who (?:ran|called|executed|used|invoked) <text>", "list", r"calls arg:{text}"),
    p(
        r"(?:was|is|were) there {ever}(?:a |any )?call (?:to|of) {the}<tool>(?: tool)? {with}<q>",
        "ever",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}(?:text|arguments?|content) of (?:the )?(?:<tool> )?{call} {with}?<q>",
        "list",
        r"calls tool:{tool} arg:{q}",
    ),
    p(
        r"{open}{aux}{subj}{adv}{run} (?:anything|something|any tool|a tool) {with}<q>{inargs}",
        "ever",
        r"calls arg:{q}",
    ),
    p(r"{show}{the}{pick}?{exact}<named> {call} {with}<q>{inargs}", "?", r"calls tool:{named} arg:{q}"),
    // Calls by the tool and a file.
    p(
        r"(?:how many|what (?:is|was) the (?:total )?(?:number|count) of|count (?:all )?(?:of )?(?:the )?) ?<tool> (?:tool )?calls? (?:(?:were|are) (?:there|made) )?(?:(?:that |which )?(?:named?|naming|about|on|for|of|with|to|concern(?:ed|ing)?|touch(?:ed|ing)?) ){the}(?:file )?<path>(?: (?:were|are) there)?",
        "count",
        r"calls tool:{tool} path:{path}",
    ),
    p(
        r"(?:how often|how many times) (?:was|were|has|have) {the}(?:<tool> tool|<title>) (?:been )?(?:{run}|applied) (?:on|with|for|about|to) {the}(?:file )?<path>",
        "count",
        r"calls tool:{tool} tool:{title} path:{path}",
    ),
    p(
        r"(?:how often|how many times) (?:did|has|have) {subj}{run} {the}(?:<tool> tool|<title>) (?:on|with|for|about) {the}(?:file )?<path>",
        "count",
        r"calls tool:{tool} tool:{title} path:{path}",
    ),
    // Calls by the tool.
    p(
        r"{open}{aux}{subj}{adv}{run} {the}<tool> (?:tool|tool calls?|calls?)(?: calls?)?",
        "ever",
        "calls tool:{tool}",
    ),
    p(r"{open}{aux}{subj}{adv}{run} <title>", "ever", "calls tool:{title}"),
    p(
        r"{open}(?:was|were|is|has|have) {the}<tool> tool {adv}(?:been )?(?:{run}|needed)",
        "ever",
        "calls tool:{tool}",
    ),
    p(r"{open}(?:was|were|is|has|have) <title> {adv}(?:been )?{run}", "ever", "calls tool:{title}"),
    p(
        r"{open}(?:was|were|is|are) there {ever}{the}(?:<tool> (?:tool )?)(?:calls?|invocations?|uses?)",
        "ever",
        "calls tool:{tool}",
    ),
    p(
        r"{number}(?:<tool> )?(?:tool )?(?:calls?|invocations?)(?: of the <title>(?: tool)?)?(?: (?:were|are|was)(?: there)?| there (?:were|are)| (?:did|has|have) {subj}(?:make|made|do)| (?:were|have been|has been) (?:made|issued|run|done|executed)|(?: to| of) the <tool2> tool)*",
        "count",
        "calls tool:{tool} tool:{title} tool:{tool2}",
    ),
    p(
        r"how many times (?:was|were) {the}<tool> (?:tool )?(?:called|used|invoked|run)",
        "count",
        "calls tool:{tool}",
    ),
    p(r"how many uses of (?:the )?<tool>(?: tool)?(?: (?:were|are) there)?", "count", "calls tool:{tool}"),
    p(
        r"{show}{the}{pick}(?:<tool> )?(?:tool )?(?:call|invocation)(?: made| that was made| {subj}made)?",
        "?",
        "calls tool:{tool}",
    ),
    p(
        r"{show}{the}{pick}(?:tool )?(?:call|invocation|use) (?:of|to|with|for) (?:the )?<tool>(?: tool)?",
        "?",
        "calls tool:{tool}",
    ),
    p(
        r"when (?:was|did) (?:the )?{pick}(?:<tool> )?(?:tool )?call(?: made| happen| occur)?",
        "?",
        "calls tool:{tool}",
    ),
    p(r"(?:which|what) (?:was|is) (?:the )?{pick}(?:<tool> )?(?:tool )?call", "?", "calls tool:{tool}"),
    p(
        r"{show}(?:all |every |each )*{the}<tool> (?:tool )?(?:calls?|invocations?|uses)(?: (?:that were )?made| {subj}made)?",
        "list",
        "calls tool:{tool}",
    ),
    p(
        r"{show}(?:all |every )*{the}(?:calls|invocations|uses) (?:of|to) (?:the )?<tool>(?: tool)?",
        "list",
        "calls tool:{tool}",
    ),
    p(
        r"(?:what|how|when|where) (?:was|is) {the}(?:<tool> tool|<title>) (?:used|called|run|invoked) {nth}",
        "?",
        r"calls tool:{tool} tool:{title}",
    ),
    p(
        r"(?:what|how|when|where) did {subj}{run} {the}(?:<tool> tool|<title>) {nth}",
        "?",
        r"calls tool:{tool} tool:{title}",
    ),
    p(
        r"what did {subj}(?:(?P<first>first)|(?P<last>last)) use {the}(?:<tool> tool|<title>) for",
        "?",
        r"calls tool:{tool} tool:{title}",
    ),
    p(
        r"(?:which|what) (?:<tool> )?(?:tool )?(?:call|invocation)(?: (?:of|to) {the}(?:<tool2> tool|<title>))? (?:came|is|was|happened|occurred|ran|was (?:made|run|issued)) {nth}",
        "?",
        r"calls tool:{tool} tool:{tool2} tool:{title}",
    ),
    p(
        r"{number}(?:tool )?(?:calls?|invocations?) (?:of|to|with) {the}(?:<tool> tool|<called>)(?: (?:were|are)(?: there| made)?| there (?:were|are)| did {subj}make)?",
        "count",
        r"calls tool:{tool} tool:{called}",
    ),
    p(
        r"{open}(?:was|were|is|has|have) <called> {adv}(?:been )?(?:called|invoked)",
        "ever",
        r"calls tool:{called}",
    ),
    p(r"(?:what|how|when|where) (?:was|is) <called> (?:called|invoked) {nth}", "?", r"calls tool:{called}"),
    p(
        r"{open}(?:was|were|is|are) there {ever}{the}(?:calls?|invocations?|uses?) (?:of|to) {the}(?:<tool> tool|<title>)",
        "ever",
        r"calls tool:{tool} tool:{title}",
    ),
    p(
        r"{open}(?:was|were|has|have) {the}<tool> (?:tool )?calls? {ever}(?:been )?(?:made|issued|run|executed)",
        "ever",
        r"calls tool:{tool}",
    ),
    p(
        r"(?:how|where) was {the}(?:<tool> tool|<title>) (?:(?P<first>first)|(?P<last>last)) (?:used|called|run|invoked)",
        "?",
        r"calls tool:{tool} tool:{title}",
    ),
    p(
        r"{show}{the}{pick}time (?:that |when )?(?:{the}(?:<tool> tool|<title>) was (?:used|called|run|invoked)|{subj}{run} {the}(?:<tool2> tool|<title2>))",
        "?",
        r"calls tool:{tool} tool:{title} tool:{tool2} tool:{title2}",
    ),
    p(r"{open}(?:was|were|is|has|have) {the}tool <tool> {adv}(?:been )?{run}", "ever", r"calls tool:{tool}"),
    p(r"{open}{aux}{subj}{adv}{run} {the}tool <tool>", "ever", r"calls tool:{tool}"),
    p(r"{open}{aux}{subj}{adv}(?:call(?:ed)?|invoke[d]?) {the}<tool>", "ever", r"calls tool:{tool}"),
    p(r"{open}(?:was|were|is|has|have) the <named> tool {adv}(?:been )?{run}", "ever", r"calls tool:{named}"),
    p(r"{open}{aux}{subj}{adv}{run} the <named> tool", "ever", r"calls tool:{named}"),
    p(
        r"(?:which|what) <tool> (?:tool )?calls (?:were (?:made|there|run|issued)|are there|did {subj}(?:make|run|do))",
        "list",
        "calls tool:{tool}",
    ),
    p(
        r"(?:which|what) (?:commands|shell commands) (?:were (?:run|executed|issued|used)|did {subj}(?:run|execute|issue|use))",
        "list",
        "calls tool:*bash*|*shell*|*exec*",
    ),
    p(
        r"(?:how many) (?:shell )?commands (?:were (?:run|executed|issued)|did {subj}(?:run|execute|issue))",
        "count",
        "calls tool:*bash*|*shell*|*exec*",
    ),
    p(
        r"(?:{show}|which (?:was|is) )(?:the )?{pick}(?:shell )?command(?: (?:run|executed|{subj}(?:ran|run|executed)))?",
        "?",
        r"calls tool:*bash*|*shell*|*exec*",
    ),
    // Runs of the tests, by the names of their runners.
    p(
        r"(?:how often|how many times) (?:did|have|has) {subj}(?:run|ran|execute[d]?) (?:the |our |all the )?(?:unit )?tests?(?: suite)?",
        "count",
        RUNNERS,
    ),
    p(
        r"(?:how often|how many times) (?:was|were|have|has) (?:the |our )?(?:unit )?tests?(?: suite)? (?:been )?(?:run|executed)",
        "count",
        RUNNERS,
    ),
    p(r"how many test runs (?:were|are) there", "count", RUNNERS),
    p(
        r"when did {subj}(?:(?P<first>first)|(?P<last>last)) run (?:the |our )?(?:unit )?tests?(?: suite)?",
        "?",
        RUNNERS,
    ),
    // Results.
    p(
        r"{show}{the}{exact}(?:{result}|outcome) (?:of|from|to|for) {ref}",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(r"what did {ref} {return}(?: back)?", "list", "results tool:{tool} arg:{q}"),
    p(
        r"what (?:was|is|has been|got) (?:returned|printed|output|reported|shown|produced|given back) (?:by|for|from) {ref}",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(r"what came (?:(?:back|out) )?(?:of|from|for) {ref}", "list", "results tool:{tool} arg:{q}"),
    p(
        r"what {ref} (?:returned|printed|output|gave|produced|showed|answered)(?: back)?",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(
        r"what (?:was|has been|got) (?:returned|printed|output|reported|shown|produced|given back) (?:when|after|as) {subj}{run} {ref}",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(
        r"what (?:happened|came (?:back|out)) (?:after|on|upon) (?:running|calling|executing) {ref}",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(
        r"(?:did|has|does) {ref} {ever}{return} (?:anything|something)(?: back)?",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(
        r"what (?:was|is) (?:the )?{exact}{result} (?:when|after|as) {subj}{run} {ref}",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(
        r"(?:which|what) {result} (?:did|does) {ref} (?:give|have|return|produce|print|yield|get|show)",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(r"what happened when {subj}{run} {ref}", "list", "results tool:{tool} arg:{q}"),
    p(
        r"what did (?:we|you|the agent|the assistant) (?:get|receive|see) (?:back )?(?:from|for|after|when running|from running) {ref}",
        "list",
        "results tool:{tool} arg:{q}",
    ),
    p(r"how did {ref} (?:end|turn out|come out|go|respond|answer)", "list", "results tool:{tool} arg:{q}"),
    p(
        r"what (?:did|does) (?:the |a )?(?:tool|{result}|command) (?:of |for )?{return}(?: back)? (?:for|of|on|when) {ref}",
        "list",
        r"results tool:{tool} arg:{q}",
    ),
    p(
        r"what (?:did|does) {the}{exact}{result} (?:of|for|from) {ref} {return}",
        "list",
        r"results tool:{tool} arg:{q}",
    ),
    // Texts of results.
    p(
        r"(?:which|what) (?:<tool> )?{result} (?:did |does |do )?{return} (?:the (?:text|words?|string|line) )?<q>(?: in it)?",
        "list",
        "results tool:{tool} {q}",
    ),
    p(
        r"(?:which|what) tools?(?: calls?)? {return} (?:the (?:text|words?|string|line) )?<q>",
        "list",
        "results {q}",
    ),
    p(
        r"where did (?:a|any|the|some) (?:(?:tool|command|call)(?: (?:output|result|call))?|output|result) {return} <q>",
        "list",
        "results {q}",
    ),
    p(
        r"did (?:a|any|the|some) (?:(?:tool|command|call)(?: (?:output|result|call))?|outputs?|results?)s? {ever}{return} <q>",
        "ever",
        "results {q}",
    ),
    p(
        r"{open}(?:was|is|were) <q> {ever}(?:printed|returned|output|reported|shown|displayed)(?: by (?:a|any|the|some) (?:tool|command|call))",
        "ever",
        "results {q}",
    ),
    p(
        r"(?:in )?(?:which|what) (?:<tool> )?{result} (?:did|does|do|is|was) <q>(?: (?:appear|occur|stand|found|printed|show up|come up|in))?",
        "list",
        "results tool:{tool} {q}",
    ),
    p(
        r"(?:is|was|were|does|did) {words}<q> {ever}(?:appear |occur |stand |show up |found |printed )?in (?:a|any|the|some) (?:tool )?(?:results?|outputs?)(?: of (?:a|any|the|some) (?:tool|command|call)s?)?",
        "ever",
        "results {q}",
    ),
    p(r"how many (?:<tool> )?{result} {return} <q>", "count", "results tool:{tool} {q}"),
    p(r"{show}(?:all |every )*{the}(?:<tool> )?{result} {with}<q>", "list", "results tool:{tool} {q}"),
    p(
        r"where (?:is|was|does|did) {words}<q> (?:appear |occur |stand |printed |found )?in (?:a|any|the|some) (?:tool )?(?:results?|outputs?)",
        "list",
        r"results {q}",
    ),
    p(
        r"(?:which|what) (?:<tool> )?(?:(?:tool |shell )?(?:calls?|commands?)) (?:printed|returned|output|showed|displayed|reported) {words}<q>",
        "list",
        r"results tool:{tool} {q}",
    ),
    p(
        r"where in (?:a |any |the )?(?:tool )?(?:results?|outputs?) (?:is|was|does|did) <q>(?: (?:appear|occur|stand|printed|found))?",
        "list",
        r"results {q}",
    ),
    p(r"who (?:ever )?(?:printed|returned|output) <q>", "list", r"results {q}"),
    p(
        r"(?:is|was|are|were) there {ever}{the}(?:<tool> )?{result} {with}<q>",
        "ever",
        r"results tool:{tool} {q}",
    ),
    p(r"(?:has|have) (?:a|any|some) tools? {ever}{return} <q>", "ever", r"results {q}"),
    p(r"(?P<list>when|where) did (?:a|any) tool {adv}{return} <q>", "?", r"results {q}"),
    // Errors.
    p(
        r"(?:what|which) {errors} (?:did|does) {ref} (?:give|return|raise|throw|produce|yield|print|cause|show|report|have|hit|get|end with|fail with|end in|run into)",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}{errors} (?:of|from|for|in|by|caused by|returned by) {ref}",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"(?:did|has|does) {ref} {ever}(?:fail(?:ed)?|(?:give|return|raise|end in|end with|produce) an? {errors}|go wrong|error(?: out)?)(?: and (?:how|why|with (?:what|which) error))?",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"(?:how|why|when|where) did {ref} (?:fail|go wrong|error(?: out)?)",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"what (?:went wrong (?:when|while|as|after)|(?:failed|broke) (?:when|while|as)) {subj}{run} {ref}",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"(?:what|which) {errors} (?:came|resulted|arose)(?: back| out)? (?:from|of|with|for|in) {ref}",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"(?:what|which) {errors} did {subj}(?:get|see|receive|hit|have|run into)(?: back)? (?:from|for|with|in|on|after|when running) {ref}",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(r"(?:how|why|when|where) {ref} (?:failed|went wrong)", "list", "errors tool:{tool} arg:{q}"),
    p(r"what (?:{errors} )?did {ref} (?:fail|end) with", "list", "errors tool:{tool} arg:{q}"),
    p(
        r"(?:what|which) problems? did {ref} (?:run into|hit|have|cause)",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"(?:was|were) there {the}{errors} (?:(?:from|for|with|in|when running)|(?:when|while|as|after) {subj}{run}) {ref}",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}{errors} (?:when|while|as|after) {ref} (?:was|were) {run}",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}{errors} (?:that |which )?{ref} (?:gave|returned|raised|produced|caused|printed|threw|reported|failed with|ended with)",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(
        r"what went wrong (?:with|in|during|when running|when calling|while running|running) {ref}",
        "list",
        "errors tool:{tool} arg:{q}",
    ),
    p(r"(?:with (?:what|which) {errors} )did {ref} (?:fail|end)", "list", "errors tool:{tool} arg:{q}"),
    p(r"(?:how (?:often|many times)) did {ref} fail", "count", "errors tool:{tool} arg:{q}"),
    p(
        r"(?:what|which) {errors}(?: (?:were there|are there|occurred|happened|came up|did {subj}(?:get|hit|see|run into)))?",
        "list",
        "errors",
    ),
    p(r"what (?:failed|went wrong)", "list", "errors"),
    p(r"(?:did anything|has anything) (?:fail(?:ed)?|go(?:ne)? wrong)", "ever", "errors"),
    p(r"(?:was|were) there (?:any|an|a) {errors}", "ever", "errors"),
    p(r"(?:did|have|has) any (?:tool )?calls? (?:ever )?(?:fail|failed)", "ever", "errors"),
    p(
        r"{show}(?:all |every )*(?:the )?{errors}(?: (?:that (?:occurred|happened)|there (?:were|are)))?",
        "list",
        "errors",
    ),
    p(r"{show}{the}{pick}{errors}", "?", "errors"),
    p(
        r"(?:how many) {errors}(?: (?:were|are) there| occurred| happened| did {subj}(?:get|hit|see|run into))?",
        "count",
        "errors",
    ),
    p(r"how many (?:<tool> )?(?:tool )?calls (?:have )?failed", "count", "errors tool:{tool}"),
    p(
        r"(?:which|what) (?:<tool> )?(?:tool )?calls? (?:have )?(?:failed|went wrong|returned an error)",
        "list",
        "errors tool:{tool}",
    ),
    p(
        r"how (?:often|many times) did (?:(?:the |a )?<tool> (?:tool|calls?)|<title>) fail",
        "count",
        "errors tool:{tool} tool:{title}",
    ),
    p(r"{show}{the}{pick}failed (?:<tool> )?(?:tool )?call", "?", "errors tool:{tool}"),
    p(r"(?:which|what) (?:shell )?commands? (?:have )?failed", "list", "errors tool:*bash*|*shell*|*exec*"),
    p(r"how many (?:shell )?commands (?:have )?failed", "count", "errors tool:*bash*|*shell*|*exec*"),
    p(
        r"(?:did|have|has) any (?:shell )?commands? (?:ever )?fail(?:ed)?",
        "ever",
        "errors tool:*bash*|*shell*|*exec*",
    ),
    p(
        r"did {subj}{ever}(?:get|see|receive|hit) (?:an? |any )?{errors} (?:from|for|with|in|when running) {ref}",
        "list",
        r"errors tool:{tool} arg:{q}",
    ),
    p(
        r"{show}{the}{exact}{errors} (?:when|while|as|after) {subj}{run} {ref}",
        "list",
        r"errors tool:{tool} arg:{q}",
    ),
    p(
        r"(?:which|what) {errors} did (?:(?:the )?<tool> (?:tool|calls?)|<title>) (?:give|return|raise|throw|produce|report|have|hit|get)",
        "list",
        r"errors tool:{tool} tool:{title}",
    ),
    p(r"how (?:often|many times) did (?:a |any )?(?:tool )?(?:call|tool) fail", "count", r"errors"),
    p(
        r"how (?:often|many times) did (?:a |any )?(?:shell )?command fail",
        "count",
        r"errors tool:*bash*|*shell*|*exec*",
    ),
    p(
        r"(?:did|has) (?:(?:the )?<tool> (?:tool|calls?)|<title>) {ever}fail(?:ed)?",
        "ever",
        r"errors tool:{tool} tool:{title}",
    ),
    // Order.
    p(
        r"(?:did|was|were|had|has|is) {ref}{happen} (?P<rel>before|after) {ref2}{happen}",
        "",
        "calls tool:{tool} arg:{q} {rel} calls tool:{tool2} arg:{q2}",
    ),
    p(
        r"(?:did|have|had) {subj}{ever}{run} {ref} (?P<rel>before|after) (?:(?:{subj}{run}|running|calling|executing|using) )?{ref2}",
        "",
        "calls tool:{tool} arg:{q} {rel} calls tool:{tool2} arg:{q2}",
    ),
    p(
        r"(?:which|what) (?:(?:of the )?(?:two )?(?:calls?|commands?|one) )?(?:came|was|ran|happened|went|occurred|is|was (?:made|run|called|issued|executed)|did {subj}(?:run|call|make|issue|execute)) (?:first|earlier) {ref} or {ref2}",
        "",
        "calls tool:{tool} arg:{q} before calls tool:{tool2} arg:{q2}",
    ),
    p(
        r"(?:did|had) <speaker> {ever}{speak} <q> (?P<rel>before|after) <speaker2> (?:had )?{speak} <q2>",
        "",
        "said by:{speaker} {q} {rel} said by:{speaker2} {q2}",
    ),
    p(
        r"(?:did|was|were|had|has|is) {ref}{happen} before or after {ref2}{happen}",
        "",
        r"calls tool:{tool} arg:{q} before calls tool:{tool2} arg:{q2}",
    ),
    // What was said.
    p(r"{open}{aux}<speaker> {adv}{speak} <q>", "ever", "said by:{speaker} {q}"),
    p(r"{open}{aux}i {adv}{speak} <q>", "ever", "said by:user {q}"),
    p(r"{open}{aux}you {adv}{speak} <q>", "ever", "said by:assistant {q}"),
    p(r"{open}{aux}(?:we|anyone|anybody|someone|somebody) {adv}{speak} <q>", "ever", "said {q}"),
    p(
        r"{open}(?:was|were|is|has|have) {words}<q> {adv}(?:been )?(?:said|written|mentioned|stated|typed|uttered) by <speaker>",
        "ever",
        "said by:{speaker} {q}",
    ),
    p(
        r"(?:is|was|are|were) there (?:(?:any|a|some) )?(?:message|place|record|turn|line|point|time|passage)s? (?:in which|where|in that|at which) <speaker> {speak} <q>",
        "ever",
        "said by:{speaker} {q}",
    ),
    p(
        r"(?:is|was) there (?:any|a|some) (?:message|text) (?:of|from|by) <speaker> {with}<q>",
        "ever",
        "said by:{speaker} {q}",
    ),
    p(
        r"(?:which|what) (?:(?P<speaker>user|assistant|agent|human) )?(?:messages?|turns?|utterances?)(?: (?:of|from|by) <speaker2>)? (?:contain(?:s|ed)?|say|says|said|ha[ds]|have|mention(?:s|ed)?|include[ds]?) <q>",
        "list",
        "said by:{speaker} by:{speaker2} {q}",
    ),
    p(
        r"how many (?:(?P<speaker>user|assistant|agent|human) )?messages(?: (?:of|from|by) <speaker2>)? (?:contain(?:ed)?|say|said|have|had|mention(?:ed)?|include[d]?) <q>",
        "count",
        "said by:{speaker} by:{speaker2} {q}",
    ),
    p(
        r"{show}(?:(?:all |every |the )*(?:places?|lines?|messages?|records?|points?|moments?|times?) )?(?:where|when|(?:in|at) which|that) <speaker> {speak} <q>",
        "list",
        "said by:{speaker} {q}",
    ),
    p(r"(?:was|is) it <speaker> (?:who|that) {adv}{speak} <q>", "ever", "said by:{speaker} {q}"),
    p(r"(?:did|does|do) {words}<q> {ever}(?:come|stem) from <speaker>", "ever", "said by:{speaker} {q}"),
    p(
        r"(?:is|was|were|are) {words}<q> (?:something|words|a sentence|a phrase) (?:that )?<speaker> {ever}{speak}",
        "ever",
        "said by:{speaker} {q}",
    ),
    p(r"whose (?:words|sentence|phrase) (?:are|is|were|was) <q>", "list", "said {q}"),
    p(
        r"who {adv}(?:said|wrote|mentioned|stated|typed|asked(?: for)?|suggested|proposed) <q>",
        "?",
        "said {q}",
    ),
    p(
        r"(?:which|what) (?:is|was) (?:the )?{pick}(?:thing|message|question|request|instruction|words?|prompt)(?: that)? <user> (?:said|asked|wrote|sent|gave|requested|wanted)(?: for| us| you)?",
        "?",
        "said by:user",
    ),
    p(
        r"(?:what) (?:did|has) <user> (?P<first>first) (?:say|ask|want|write|request)(?: for)?",
        "?",
        "said by:user",
    ),
    p(
        r"(?:what) (?:did|has) <speaker> (?:say|ask|want|write|request)(?: for| us| you)? (?:(?P<first>first)|(?P<last>last))",
        "?",
        "said by:{speaker}",
    ),
    p(
        r"{show}{the}{pick}(?:thing|message|words?) (?:that )?<speaker> (?:said|wrote|sent)",
        "?",
        "said by:{speaker}",
    ),
    p(
        r"{show}{the}{pick}(?:thing|request|question|instruction) (?:that )?<user> (?:said|asked|gave|made|requested)(?: for)?",
        "?",
        "said by:user",
    ),
    p(
        r"{show}{the}{pick}(?P<speaker>user|assistant|agent|human) (?:message|turn|utterance)",
        "?",
        "said by:{speaker}",
    ),
    p(
        r"{show}{the}{pick}(?:message|words?|request|question|instruction|prompt) (?:of|from|by) <speaker>",
        "?",
        "said by:{speaker}",
    ),
    p(
        r"{show}(?:the )?(?P<speaker>user|assistant|agent|human)['’]s {pick}(?:message|words?|request|question|instruction|prompt|thing)",
        "?",
        "said by:{speaker}",
    ),
    p(
        r"what (?:did|has|does) <speaker> {ever}(?:say|said|tell (?:us|you|me)|ask(?:ed)?(?: for)?|mention(?:ed)?|want(?:ed)?|request(?:ed)?|write|decide[d]?|think|order(?:ed)?)(?: (?:about|on|regarding|concerning|of) <topic>)",
        "list",
        "said by:{speaker} {topic}",
    ),
    p(
        r"what (?:did|has) i {ever}(?:say|said|tell you|ask(?:ed)?(?: for)?|mention(?:ed)?|want|request(?:ed)?|write)(?: (?:about|on|regarding|concerning|of) <topic>)",
        "list",
        "said by:user {topic}",
    ),
    p(r"what (?:did|has) <speaker> (?:say|said|write|written)", "list", "said by:{speaker}"),
    p(
        r"what (?:did|has) <user> (?:ask(?:ed)?(?: for| us to do| you to do)?|want(?:ed)?|request(?:ed)?)",
        "list",
        "said by:user",
    ),
    p(
        r"(?:did|has) <speaker> {ever}(?:mention(?:ed)?|say|said|ask(?:ed)? (?:for|about)|talk(?:ed)? about|refer(?:red)? to|speak about|spoken about|request(?:ed)?)(?: (?:anything|something))?(?: (?:about|on|regarding))? <lit>",
        "ever",
        "said by:{speaker} {lit}",
    ),
    p(
        r"(?:did|has) <speaker> {ever}(?:mention(?:ed)?|(?:say|said)(?: (?:anything|something))? (?:about|on|regarding)|ask(?:ed)? (?:for|about)|talk(?:ed)? about|speak about|request(?:ed)?) <topic>",
        "list",
        "said by:{speaker} {topic}",
    ),
    p(
        r"(?:when|where|in (?:what|which) (?:message|line|record)) (?:did|has) <speaker> {adv}(?:mention(?:ed)?|(?:say|said)(?: (?:anything|something))? about|ask(?:ed)? (?:for|about)|talk(?:ed)? about|speak about|request(?:ed)?) <topic>",
        "?",
        "said by:{speaker} {topic}",
    ),
    p(
        r"who (?:ever )?(?:decided|chose|picked|asked|requested|wanted|suggested|proposed)(?: for| on)?(?: to)?(?: use| using)? <topic>",
        "list",
        "said {topic}",
    ),
    p(r"who (?:ever )?(?:mentioned|spoke about|talked about) <topic>", "list", "said {topic}"),
    p(
        r"(?:where|when|in (?:what|which) (?:record|line|message)) (?:was|is|were|has) <phrase> {ever}(?:been )?(?:mentioned|said|stated|written)",
        "list",
        r"said {phrase}",
    ),
    p(r"(?:was|is|has) <phrase> {ever}(?:been )?(?:mentioned|said|stated)", "list", r"said {phrase}"),
    p(r"where (?:is|was) <phrase>", "list", r"said {phrase}"),
    // Claims.
    p(
        r"(?:did|have|has|do) (?:the |our )?(?:unit )?tests?(?: suite)? (?:really |actually )?(?:pass(?:ed)?|succeed(?:ed)?)",
        "list",
        "claims tests pass*",
    ),
    p(
        r"(?:were|are|was|is) (?:the |our )?(?:unit )?tests?(?: suite)? (?:really |actually )?(?:green|passing)",
        "list",
        "claims tests pass*",
    ),
    p(
        r"(?:did|has|does) (?:the )?(?:agent|assistant|claude|codex) {ever}(?:claim(?:ed)?|report(?:ed)?)(?: that)? (?:the |our |all )?<topic>(?: (?:(?:has|have|had|was|were|is|are) )?(?:succeed(?:ed|s)?|pass(?:ed|es)?|work(?:ed|s)?|finished|completed?|done|green|ok))?",
        "list",
        "claims {topic}",
    ),
    p(r"(?:what|which) claims (?:did (?:the )?(?:agent|assistant) make|were made)", "list", "claims"),
    p(
        r"(?:which|what) claims (?:are|were|remain) (?:un(?:verified|supported|proven))",
        "list",
        "claims status:unverified",
    ),
    p(
        r"(?:which|what) claims (?:are|were) (?:contradicted|wrong|false)",
        "list",
        "claims status:contradicted",
    ),
    // Rules.
    p(
        r"(?:what|which) (?:rules?|constraints?|restrictions?|bans?)(?: (?:are|were|is|was))?(?: (?:still|now|currently))? (?:in force|active|valid|appl(?:y|ies)|hold|holds|standing)(?: (?:to|for|about|on|regarding) <about>)?",
        "list",
        "rules state:in-force {about}",
    ),
    p(
        r"(?:what|which) (?:rules?|constraints?|restrictions?|bans?) (?:were|was|have been|has been|are|is) (?:lifted|revoked|taken back|withdrawn)",
        "list",
        "rules state:lifted",
    ),
    p(
        r"(?:what|which) (?:rules?|constraints?|restrictions?|instructions?) (?:did|has) <user> (?:give|given|set|made?|state[d]?|impose[d]?|lay down)",
        "list",
        "rules by:user",
    ),
    p(
        r"{show}(?:all |the )*(?:rules|constraints|restrictions)(?: (?:about|on|for|regarding) <about>)?",
        "list",
        "rules {about}",
    ),
    p(
        r"(?:what|which) (?:rules?|constraints?|restrictions?) (?:are|were|is|was) there(?: (?:about|on|for|regarding) <about>)?",
        "list",
        "rules {about}",
    ),
    p(
        r"(?:are|is|am) {who}(?:(?:still|now|currently|again) )*(?:forbidden|banned|prohibited|barred|disallowed|not allowed|not permitted)(?: (?:to|from))? <about>",
        "list",
        "rules {about} at:end",
    ),
    p(
        r"is it (?:(?:still|now|currently|again) )*(?:forbidden|banned|prohibited|not allowed|allowed|permitted|ok|okay|fine)(?: for us)? to <about>",
        "list",
        "rules {about} at:end",
    ),
    p(
        r"(?:is|are) <about> (?:(?:still|now|currently|again) )*(?:forbidden|banned|prohibited|off[- ]limits|not allowed|allowed|permitted)",
        "list",
        "rules {about} at:end",
    ),
    p(r"(?:may|can) {who}(?:now|again|still|by now) <deed>", "list", "rules {deed} at:end"),
    p(r"(?:may|can) {who}<deed> (?:now|again|still|by now)", "list", "rules {deed} at:end"),
    p(
        r"(?:is|are|am) {who}(?:now|again|still) (?:allowed|permitted) to <deed>",
        "list",
        "rules {deed} at:end",
    ),
    p(r"{may}<deed>", "list", "rules {deed}"),
    p(
        r"may (?:files? under |anything in )<path>(?: be (?:edited|changed|touched|modified))?(?: now)?",
        "list",
        "rules about:{path}",
    ),
    p(r"(?:must|should) {who}<deed>", "list", "rules {deed}"),
    p(r"(?:do|does) {who}(?:still )?(?:have|need) to <deed>", "list", "rules {deed}"),
    p(r"(?:are|is|am) {who}(?:still )?(?:required|obliged|supposed) to <deed>", "list", "rules {deed}"),
    p(r"who (?:ever )?(?:forbade|forbids?|banned|prohibited) <about>", "list", "rules kind:ban {about}"),
    p(
        r"who (?:ever )?(?:approved|allowed|permitted|authori[sz]ed)(?: us to| the agent to)? <about>",
        "list",
        "rules kind:approval {about}",
    ),
    p(
        r"(?:when|where) did <user> {adv}(?:approve|allow|permit|authori[sz]e|confirm)(?: us to| the agent to)? <about>",
        "list",
        "rules by:user kind:approval {about}",
    ),
    p(
        r"(?:when|where) did <user> {adv}(?:forbid|ban|prohibit)(?: us to| the agent to| us from)? <about>",
        "list",
        "rules by:user kind:ban {about}",
    ),
    p(
        r"(?:did|has) <user> {ever}(?:approved?|allow(?:ed)?|permit(?:ted)?|authori[sz]ed?|confirm(?:ed)?|agreed?|consent(?:ed)?|give(?:n)? (?:his |her |their |the )?(?:approval|permission|consent|go-ahead))(?: (?:to|for))?(?: (?:us|the agent|you) to)? (?:anything|something)",
        "ever",
        "rules by:user kind:approval",
    ),
    p(
        r"(?:did|has) <user> {ever}(?:approved?|allow(?:ed)?|permit(?:ted)?|authori[sz]ed?|confirm(?:ed)?|agreed?|consent(?:ed)?|give(?:n)? (?:his |her |their |the )?(?:approval|permission|consent|go-ahead))(?: (?:to|for))?(?: (?:us|the agent|you) to)? <about>",
        "?about",
        "rules by:user kind:approval {about}",
    ),
    p(
        r"(?:was|is|has|were) <about> {ever}(?:been )?(?:approved|authori[sz]ed|allowed) by <user>",
        "?about",
        "rules by:user kind:approval {about}",
    ),
    p(
        r"(?:was|has) (?:the |our )?<about> {ever}(?:been )?(?:approved|authori[sz]ed)",
        "?about",
        "rules by:user kind:approval {about}",
    ),
    p(
        r"(?:did|has) <user> {ever}(?:forbid|forbade|forbidden|ban(?:ned)?|prohibit(?:ed)?|disallow(?:ed)?)(?: (?:us|the agent|you) (?:to|from))? <about>",
        "?about",
        "rules by:user kind:ban {about}",
    ),
    p(
        r"(?:what|which things) (?:did|has) <user> (?:approved?|allow(?:ed)?|permit(?:ted)?)",
        "list",
        "rules by:user kind:approval",
    ),
    p(
        r"(?:what|which) approvals (?:(?:did|has) <user> (?:give|given|grant|granted)|were (?:given|granted)|are there|were there)",
        "list",
        "rules by:user kind:approval",
    ),
    p(r"{show}(?:all |the )*approvals(?: (?:of|by|from) <user>)?", "list", "rules by:user kind:approval"),
    p(
        r"how many approvals (?:(?:did|has) <user> (?:give|given|grant|granted)|were (?:given|granted|there)|are there)",
        "count",
        "rules by:user kind:approval",
    ),
    p(
        r"what (?:did|has) <user> (?:forbid|forbidden|ban|banned|prohibit|prohibited)",
        "list",
        "rules by:user kind:ban",
    ),
    p(
        r"what (?:are|is|were|was) {who}(?:forbidden|not allowed|not permitted) to (?:do|touch|change)",
        "list",
        "rules kind:ban",
    ),
    p(
        r"(?:is|was|are|were) there {ever}(?:a |any )?(?:rule|ban|constraint|restriction)s? (?:about|on|against|for|regarding) <about>",
        "list",
        r"rules {about}",
    ),
    p(
        r"did i {ever}(?:approve|allow|permit|authori[sz]e|confirm)(?: (?:us|the agent|you) to)? <about>",
        "?about",
        r"rules by:user kind:approval {about}",
    ),
    p(
        r"did i {ever}(?:forbid|ban|prohibit)(?: (?:us|the agent|you) (?:to|from))? <about>",
        "?about",
        r"rules by:user kind:ban {about}",
    ),
    p(
        r"(?:do|did) {who}(?:still |now )?have (?:the )?(?:permission|approval|consent|leave) (?:to|for) <about>",
        "list",
        r"rules {about}",
    ),
    p(
        r"(?:is|was|are|were) there {ever}(?:an? |any )?(?:approvals?|permission|consent) (?:for|to) <about>",
        "list",
        r"rules kind:approval {about}",
    ),
    p(
        r"(?:is|does|has|was) (?:the|a|our) ban (?:on|against|of) <about> (?:still |now )?(?:in force|hold|holds|stand|active|valid|apply|(?:been )?lifted)",
        "list",
        r"rules kind:ban {about} at:end",
    ),
    p(
        r"(?:did|has) <user> {ever}(?:set|give|given|made?|state[d]?|lay down|laid down|impose[d]?|establish(?:ed)?) {the}(?:standing )?(?:rule|constraint|instruction|restriction|ban) <q>",
        "list",
        r"rules by:user {q}",
    ),
    p(
        r"(?:is|was|are|were) there {ever}{the}(?:standing )?(?:rule|constraint|restriction|ban)s? (?:(?:that|which) (?:says?|said|reads?|states?) |saying |reading |with )?<q>",
        "list",
        r"rules {q}",
    ),
    p(
        r"(?:which|what) (?:standing )?(?:rules?|constraints?|restrictions?) (?:of|by|from) <user> (?:says?|said|reads?|states?|contains?|mentions?) <q>",
        "list",
        r"rules by:user {q}",
    ),
    p(
        r"(?:which|what) (?:standing )?(?:rules?|constraints?|restrictions?) (?:says?|said|reads?|states?|contains?|mentions?) <q>",
        "list",
        r"rules {q}",
    ),
    p(
        r"(?:(?P<list>when|where) )?(?:did|has) <user> {ever}(?:(?:set|given?|made?|state[d]?) {the}(?:standing )?(?:rule|constraint|instruction|restriction|ban)|lay down|laid down|impose[d]?|establish(?:ed)?|set (?:up )?as a (?:standing )?rule) <q>",
        "list",
        r"rules by:user {q}",
    ),
    p(
        r"(?:is|was|are|were) <q> {ever}(?:(?:one|some) of <user>['’]s|a (?:standing )?(?:rule|constraint|restriction) (?:of|by|from|set by|given by)|among the (?:rules|constraints) of) (?:<user2>|(?:standing )?(?:rules|constraints|restrictions))",
        "list",
        r"rules by:user {q}",
    ),
    p(
        r"(?:is|was|are|were) <q> {ever}(?:set|given|laid down|imposed|stated|established)(?: as a (?:standing )?(?:rule|constraint|restriction)) by <user>",
        "list",
        r"rules by:user {q}",
    ),
    p(
        r"(?:does|do|did) {the}(?:standing )?(?:rules?|constraints?|restrictions?) (?:(?:say|state|read) <q>|<q2> {ever}exist)",
        "list",
        r"rules {q} {q2}",
    ),
    // Files.
    p(
        r"(?:which|what) (?:changes|edits|modifications|writes) (?:were|have been|did {subj}) ?(?:ma[dk]e|done|do)?(?: (?:to|in|on|under))? {the}(?:file )?<path>",
        "list",
        "files op:written path:{path}",
    ),
    p(
        r"{show}(?:all |every |each |the )*(?:changes?|edits?|modifications?|writes?) (?:(?:that (?:was|were) )?made )?(?:to|in|of|on) {the}(?:file )?<path>",
        "list",
        "files op:written path:{path}",
    ),
    p(
        r"(?:what) (?:changed|(?:was|has been|did {subj}) ?(?:changed?|edit(?:ed)?|modif(?:y|ied)|written|write)) (?:in|under) {the}(?:file )?<path>",
        "list",
        "files op:written path:{path}",
    ),
    p(
        r"(?:how|where) (?:was|has|were|did {subj}) ?(?:been )?{the}(?:file )?<path> (?:been )?(?:changed|edited|modified|updated)",
        "list",
        "files op:written path:{path}",
    ),
    p(
        r"how did {subj}(?:change|edit|modify|update) {the}(?:file )?<path>",
        "list",
        "files op:written path:{path}",
    ),
    p(
        r"(?:were|was|have|has) (?:there )?{the}(?:changes?|edits?|modifications?|writes?) {ever}(?:been )?(?:made )?to {the}(?:file )?<path>",
        "ever",
        "files op:written path:{path}",
    ),
    p(
        r"how many (?:changes|edits|writes) (?:were (?:made|there)|did {subj}make) (?:to|in) {the}(?:file )?<path>",
        "count",
        "files op:written path:{path}",
    ),
    p(
        r"what (?:happened to|was done (?:to|with)|did {subj}do (?:to|with)) {the}(?:file )?<path>",
        "list",
        "files path:{path}",
    ),
    p(r"{show}{the}{exact}history of {the}(?:file )?<path>", "list", "files path:{path}"),
    p(
        r"(?:how|where) (?:was|were|did {subj}) ?{the}(?:file )?<path> {ever}(?:deleted|removed|erased)",
        "list",
        "files op:deleted path:{path}",
    ),
    p(r"how did {subj}(?:delete|remove|erase) {the}(?:file )?<path>", "list", "files op:deleted path:{path}"),
    p(r"does {the}(?:file )?<path> (?:still |now )*exist(?: now| still)?", "now", "files path:{path}"),
    p(r"is {the}(?:file )?<path> (?:still )?there(?: now| still)?", "now", "files path:{path}"),
    p(
        r"(?:is|are) {the}<name>(?: server| service| process| daemon)? (?:still )?(?:running|up|alive|started)(?: (?:right )?now)?",
        "now",
        "effects kind:svc.state|proc {name}",
    ),
    p(
        r"(?:is|are) {the}(?P<name>server|service|process|daemon) (?:still )?(?:running|up|alive|started)(?: (?:right )?now)?",
        "now",
        "effects kind:svc.state|proc {name}",
    ),
    p(
        r"(?:which|what|(?P<count>how many)) commits (?:were (?:made|there|created)|did {subj}make|are there)",
        "?",
        r"effects kind:vcs.commit",
    ),
    p(
        r"are (?:any )?(?:sub-?agents?|agents|child(?:ren)? ?(?:agents?)?|workers?) (?:still )?(?:running|active)",
        "list",
        r"agents state:running",
    ),
    p(
        r"(?:did|has|when did|how did) {the}(?:file )?<path> {ever}change(?:d)?",
        "?",
        r"files op:written path:{path}",
    ),
    p(
        r"(?:did|has) (?:anything|something) {ever}changed? in {the}(?:file )?<path>",
        "ever",
        r"files op:written path:{path}",
    ),
    p(
        r"(?:which|what) (?:edits|changes|writes) touched {the}(?:file )?<path>",
        "list",
        r"files op:written path:{path}",
    ),
    p(
        r"(?:which|what) (?:<tool> )?(?:tool )?(?:calls?|commands?) (?:wrote|changed|edited|modified|updated|touched) {the}(?:file )?<path>",
        "list",
        r"files op:written path:{path} tool:{tool}",
    ),
    p(
        r"(?:which|what) (?:<tool> )?(?:tool )?(?:calls?|commands?) (?:removed|deleted|erased) {the}(?:file )?<path>",
        "list",
        r"files op:deleted path:{path} tool:{tool}",
    ),
    p(
        r"(?:which|what) (?:<tool> )?(?:tool )?(?:calls?|commands?) (?:created|made) {the}(?:file )?<path>",
        "list",
        r"files op:created path:{path} tool:{tool}",
    ),
    // Values.
    p(
        r"(?:which|what) values? (?:did|does|do|has|have|had) {the}(?:setting |parameter |variable |option |key )?<setting> (?:have|had|hold|take|taken|get|got){lately}?",
        "value",
        "values {setting}",
    ),
    p(
        r"(?:which|what) (?:values?|numbers?|figures?) (?:was|were|is|are) (?:{the}<setting> (?:set to|given|assigned)|(?:given|assigned|recorded|set|reported|shown|measured|printed|logged|noted|found|returned|stated|listed) (?:to|for|as) {the}<setting2>)",
        "value",
        "values {setting} {setting2}",
    ),
    p(
        r"{show}(?:the )?(?:current |last |final |exact |recorded )?values? (?:of|for) {the}(?:setting |parameter |variable |option |key )?<setting>",
        "value",
        "values {setting}",
    ),
    p(
        r"to (?:what|which)(?: value)? (?:was|is|were|are|did {subj}) ?(?:set )?{the}<setting>(?: set)?",
        "value",
        "values {setting}",
    ),
    p(r"what (?:was|is|were|are) {the}<setting> set to", "value", "values {setting}"),
    p(r"what (?:did {subj}|was) ?(?:set )?{the}<setting> (?:set )?to", "value", "values {setting}"),
    p(r"how (?:did {the}<key> change|was {the}<key2> set)", "value", "values {key} {key2}"),
    p(
        r"(?:what|which) <key> (?:does|did|do|is|was|has|had) {the}(?:server|app|application|service|database|agent|project|build|we|client|it) (?:use|used|have|listen on|run on|need|set)",
        "value",
        "values {key}",
    ),
    p(
        r"(?:what|which) <key> (?:was|is|were) (?:used|set|measured|recorded|configured)",
        "value",
        "values {key}",
    ),
    p(r"what (?:was|is|were|are) {the}<key>", "value", "values {key}"),
    p(r"what (?:was|is|were|are) {the}<ident>{lately}", "value", "values {ident}"),
    p(r"what {the}<ident> (?:was|is|were|are){lately}?", "value", "values {ident}"),
    p(r"how (?:much|high|low) (?:was|is|were|are) {the}<ident>{lately}?", "value", "values {ident}"),
    p(
        r"what (?:did|does) {the}<key> (?:finally |eventually |last )?(?:equal|amount to|become|come (?:out )?(?:to|at|as)|turn out (?:to be|as|at)){lately}?",
        "value",
        "values {key}",
    ),
    p(r"what (?:was|is|were|are) {the}<key> equal to{lately}?", "value", "values {key}"),
    p(
        r"(?:which|what)(?: (?:value|number|figure)s?)? (?:did|does|do) {the}{output} {return} (?:for|as) {the}<key>",
        "value",
        "values {key}",
    ),
    p(
        r"what (?:did|does|do) {the}{output} (?:say|show|report|print|claim)(?: that)? {the}<key> (?:was|is|were|are)",
        "value",
        "values {key}",
    ),
    p(
        r"{show}(?:the )?{pick}values? (?:of|for) {the}(?:setting |parameter |variable |option |key )?<setting>",
        "value",
        r"values {setting}",
    ),
    p(r"did {the}(?:value of )?<key> {ever}change", "value", r"values {key}"),
    p(
        r"what (?:is|was) {the}<setting>(?: now)? according to the (?:last|newest) (?:output|result|record)",
        "value",
        r"values {setting}",
    ),
    p(r"what did {the}<setting> end up (?:as|at|with|being){lately}?", "value", r"values {setting}"),
    // Literals.
    p(
        r"in (?:what|which) (?:records?|lines?|messages?) (?:is|was|are|were) {the}(?:value |literal |string |id |hash |url )?<lit>",
        "list",
        "literals value:{lit}",
    ),
    p(
        r"(?:does|did|do) {the}(?:value |literal |string |id |hash |url )?<lit> {ever}(?:occur|appear|exist|turn up|come up|show up)(?: anywhere)?",
        "list",
        "literals value:{lit}",
    ),
    p(
        r"(?:where|in (?:what|which) (?:record|line|message)) (?:does|did|do) {the}(?:value |literal |string |id |hash |url )?<lit> {ever}(?:occur|appear|stand|come up|turn up|show up|exist)",
        "list",
        "literals value:{lit}",
    ),
    p(
        r"(?:where|when|in (?:what|which) (?:record|line|message))? ?(?:was|is|were|has) {the}(?:value |literal |string |id |hash |url )?<lit> {ever}(?:been )?(?:mentioned|named|recorded|quoted|cited|seen)(?: anywhere)?",
        "list",
        "literals value:{lit}",
    ),
    p(
        r"{show}(?:all |every |the )*(?:occurrences?|appearances?|mentions?) of {the}(?:value |literal |string )?<lit>",
        "list",
        "literals value:{lit}",
    ),
    p(
        r"(?:which|what) (?:urls?|links?) (?:were|was|are|have been) (?:ever )?(?:mentioned|used|named|seen)|(?:which|what) (?:urls?|links?) (?:appear|appeared|occur|occurred)",
        "list",
        "literals kind:url",
    ),
    p(
        r"(?:which|what) (?:hashes|commit ids?|shas?|commit hashes) (?:were|was|are) (?:mentioned|used|named)|(?:which|what) (?:hashes|shas) appear(?:ed)?",
        "list",
        "literals kind:hash",
    ),
    p(
        r"(?:which|what) (?:ids|identifiers|tickets?) (?:were|was|are) (?:mentioned|used|named)|(?:which|what) (?:ids|tickets) appear(?:ed)?",
        "list",
        "literals kind:id",
    ),
    // Places.
    p(
        r"what (?:(?:arguments?|input|parameters?) )?(?:(?:was|were|got|is|are) (?:passed|given|handed|sent|fed|supplied)|(?:did|has) {subj}(?:pass|give|hand|send|feed|supply)) (?:in)?to {the}(?:<tool> (?:tool|call|command)|<tool2>)",
        "place",
        r"calls tool:{tool} tool:{tool2}",
    ),
    p(
        r"what (?:was|is|were|are|stood|stands) in {the}(?:<tool> )?(?:tool )?(?:call|command)",
        "place",
        r"calls tool:{tool}",
    ),
    p(
        r"(?:which|what) <tool> (?:tool )?calls? (?:(?:was|were|is|are) (?:made|run|issued|executed|there)|did {subj}(?:make|run|issue))",
        "place",
        r"calls tool:{tool}",
    ),
    p(
        r"{show}{the}{exact}(?:arguments?|input|parameters?) (?:of|to|for) {the}(?:<tool> )?(?:tool )?(?:call|command)",
        "place",
        r"calls tool:{tool}",
    ),
    p(
        r"(?:what (?:happened|was done|took place|did {subj}do|is|was|does it say|stands)|show(?: me)?)",
        "place",
        "records",
    ),
    p(
        r"(?:what (?:was|is) |show (?:me )?|what did |what does )(?:the )?(?:(?:whole|full) )?(?:<tool> )?(?:tool )?(?:call|command)(?: do| did)?",
        "place",
        "calls tool:{tool}",
    ),
    p(
        r"(?:which|what) (?:tool|call|command)s? (?:was|were|is|did {subj}) ?(?:called|used|run|made|executed|invoked|call|use|execute|there)?",
        "place",
        "calls",
    ),
    p(
        r"(?:which|what) (?:records?|lines?|entries|entry) (?:contains?|ha[sd]|have|holds?|mentions?|includes?|contained) <q>",
        "list",
        r"records {q}",
    ),
    p(
        r"(?:does|do|did) any (?:records?|lines?) (?:contain|have|hold|mention|include) <q>",
        "list",
        r"records {q}",
    ),
    // Children, compactions, attachments, tokens.
    p(
        r"(?:which|what|are any|are there any|are) (?:sub-?agents?|agents?|child(?:ren)?(?: agents?)?|workers?) (?:are |were |that are )?(?:still )?(?:running|open|active|not (?:yet )?(?:been )?collected)(?: yet)?",
        "list",
        "agents state:running",
    ),
    p(
        r"(?P<count>how many )?(?:(?P<list>which|what) )?(?:did any |did a |have any |has any )?(?:sub-?agents?|agents|child(?:ren)? ?(?:agents?)?|workers?) (?:have |has |were |was )?(?:failed|fail|crash(?:ed)?)",
        "ever",
        "agents state:failed",
    ),
    p(
        r"(?P<count>how many )?(?:(?P<list>which|what) )?(?:were any |was any |was a |did any )?(?:sub-?agents?|agents|child(?:ren)? ?(?:agents?)?|workers?) (?:were |was |got |get )?(?:lost|disappear(?:ed)?|vanish(?:ed)?)",
        "ever",
        "agents state:lost",
    ),
    p(
        r"(?P<count>how many )?(?:(?P<list>which|what) )?(?:did any |have all |have any )?(?:sub-?agents?|agents|child(?:ren)? ?(?:agents?)?|workers?) (?:have |were |are |was |is )?(?:finish(?:ed)?|complete[d]?|done|collected)",
        "ever",
        "agents state:finished|collected",
    ),
    p(
        r"(?P<count>how many )?(?:(?P<list>which|what) )?(?:were any |did {subj}|was any |was a )?(?:sub-?agents?|child agents?|agents|workers?) (?:are there|were there|were (?:started|launched|spawned|used)|started|launched|spawned|did {subj}(?:start|launch|spawn|use))",
        "ever",
        "agents",
    ),
    p(
        r"did {subj}{ever}(?:start|launch|spawn|use) (?:a |any )?(?:sub-?agents?|child agents?)",
        "ever",
        "agents",
    ),
    p(
        r"(?:what|where|which|do|does|did)(?: of)?(?: do| did| does)?(?: any| the| earlier| our| parts of the)* (?:summar(?:y|ies)|compactions?)(?: statements?)? (?:get|got|gets|are|is|were|contradict(?:s|ed)?|disagree|differ)(?: it)?(?: (?:wrong|false|mistaken|with the (?:originals?|transcript|record|facts)|from the (?:originals?|transcript)|contradicted|the (?:originals?|transcript|record)|invented))?",
        "list",
        "compactions status:contradicted",
    ),
    p(
        r"{open}(?:was|is|has|were) {the}(?:session|conversation|transcript|context|chat) {adv}(?:been )?compacted",
        "ever",
        "compactions",
    ),
    p(
        r"(?P<count>how many) (?:compactions|times was it compacted)(?: (?:were|are) there| happened| occurred| were recorded| took place)?",
        "ever",
        "compactions",
    ),
    p(r"(?:was|were) there {ever}(?:a |any )?compactions?", "ever", "compactions"),
    p(
        r"{open}did (?:a |any |the )?(?:(?P<first>first)|(?P<last>last))? ?compactions? {ever}(?:happen|occur|take place)",
        "ever",
        "compactions",
    ),
    p(r"{show}(?:all |the )*compactions", "list", "compactions"),
    p(
        r"(?P<count>how many )(?:images?|pictures?|screenshots?)(?: (?:are|were) (?:there|attached|pasted|shown|sent|shared))?",
        "count",
        "attachments media:image/*",
    ),
    p(
        r"(?:(?P<list>which|what) (?:images?|pictures?|screenshots?) (?:were|was|are) |(?:was|were) (?:any |an |a )?(?:images?|pictures?|screenshots?) {ever})(?:attached|pasted|shown|sent|there|shared)",
        "ever",
        "attachments media:image/*",
    ),
    p(
        r"how many cached tokens (?:were|are|was) (?:used|spent|read|there)|how many cached tokens did {subj}(?:use|read)",
        "value",
        "usage cached",
    ),
    p(
        r"how many output tokens (?:were|are|was) (?:used|spent|written|there)|how many output tokens did {subj}(?:use|write|spend)",
        "value",
        "usage output",
    ),
    p(
        r"how many input tokens (?:were|are|was) (?:used|spent|read|there)|how many input tokens did {subj}(?:use|read|spend)",
        "value",
        "usage input",
    ),
    p(
        r"how many tokens (?:were|are|was|have been) (?:used|spent|consumed|there)|how many tokens did {the}(?:{subj}|session )(?:use|cost|spend|consume)|what (?:was|is) the (?:total )?token (?:usage|count|use)",
        "value",
        "usage total",
    ),
    p(
        r"how (?:large|big|long|full) (?:was|is) (?:the |our )?context(?: window)?(?: at the end| of the last request)?",
        "value",
        "usage context at:end",
    ),
];

static TABLE: LazyLock<Vec<(Regex, &'static Pattern)>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|row| Some((compiled(row.text)?, row))).collect());

/// Whether a place in the transcript was asked for beside the sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// Reads a sentence as a row of the table: its form (empty of an order), and its clause as typed text.
pub(super) fn question(sentence: &Sentence, placed: Placed) -> Option<(&'static str, String)> {
    TABLE.iter().find_map(|(regex, row)| {
        let found = regex.captures(&sentence.text)?;
        let (clause, certain) = clause(sentence, &found, row.clause)?;
        let form = match row.form {
            "place" if placed == Placed::No => return None,
            "?about" if certain == Certainty::Certain => "ever",
            "place" | "?about" => "list",
            "ever" => form_of(&found, "ever"),
            "?" => form_of(&found, "list"),
            form => form,
        };
        Some((form, clause))
    })
}

/// The clause of a row with its slots filled; none where a slot holds what it cannot take.
fn clause(sentence: &Sentence, found: &Captures<'_>, clause: &str) -> Option<(String, Certainty)> {
    let mut words: Vec<String> = Vec::new();
    let mut certain = Certainty::Certain;
    for word in clause.split(' ') {
        let Some((before, slot, after)) = slot_of(word) else {
            words.push(word.to_owned());
            continue;
        };
        let Some(text) = found.name(slot).map(|group| group.as_str()) else { continue };
        let base = slot.trim_end_matches(|c: char| c.is_ascii_digit());
        if matches!(base, "about" | "deed") {
            if base == "deed" && !is_deed(text) {
                return None;
            }
            let (terms, own) = about(sentence, text)?;
            certain = own;
            words.extend(terms);
        } else {
            words.push(format!("{before}{}{after}", filled(sentence, base, text)?));
        }
    }
    Some((words.join(" "), certain))
}

/// What stands before, in, and behind the slot of a word; braces of expressions are no slots.
fn slot_of(word: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = word.split_once('{')?;
    let (slot, after) = rest.split_once('}')?;
    let known = slot.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    (known && slot.starts_with(|c: char| c.is_ascii_lowercase())).then_some((before, slot, after))
}

/// The text of a slot as it is typed.
fn filled(sentence: &Sentence, slot: &str, text: &str) -> Option<String> {
    let quoted = match sentence.spelling(text) {
        Spelling::Quoted(text) | Spelling::Code(text) => Some(text),
        Spelling::Word(_) => None,
    };
    let exact = |text: &str| Atom::Quoted(text.to_owned()).to_string();
    match slot {
        "topic" => topic(sentence, text),
        "phrase" => quoted.filter(|text| text.trim().contains(' ')).map(exact),
        "rel" => Some(text.to_lowercase()),
        "speaker" => Some(speaker(text).to_owned()),
        "tool" | "title" | "called" if quoted.is_none() && SHELLS.contains(&text.to_lowercase().as_str()) => {
            Some(SHELL_TOOLS.to_owned())
        }
        "flag" => Some(exact(text)),
        "named" => (quoted.is_none() && is_name(text) && !QUALITIES.contains(&text.to_lowercase().as_str()))
            .then(|| safe(text)),
        // What has blanks is a text, and no tool.
        "tool" | "title" | "called" => match quoted {
            Some(text) if text.contains(char::is_whitespace) => None,
            Some(text) => Some(if safe(text) == text { text.to_owned() } else { exact(text) }),
            None => Some(safe(text)),
        },
        "path" => match quoted {
            Some(text) => path_term(text).strip_prefix("path:").map(str::to_owned),
            None => is_path(text).then(|| safe(text)),
        },
        "key" | "setting" => match quoted {
            Some(text) => Some(if safe(text) == text { text.to_owned() } else { exact(text) }),
            None => (is_key(text) || slot == "setting" && is_name(text)).then(|| safe(text)),
        },
        // A name that no sentence holds by chance.
        "ident" => match quoted {
            Some(text) => Some(if safe(text) == text { text.to_owned() } else { exact(text) }),
            None => (is_key(text) && is_literal(text)).then(|| safe(text)),
        },
        "lit" => quoted.map(exact).or_else(|| {
            let number = text.contains(|c: char| c.is_ascii_digit());
            (is_literal(text) || number).then(|| safe(text))
        }),
        "name" => quoted
            .map(exact)
            .or_else(|| (is_literal(text) || is_name(text) || PROCESSES.contains(&text)).then(|| safe(text))),
        _ => quoted.map(exact),
    }
}

/// Words before "tool" or "call" that tell which one is meant, and name none.
const QUALITIES: &[&str] = &[
    "right",
    "wrong",
    "same",
    "other",
    "best",
    "worst",
    "new",
    "old",
    "first",
    "last",
    "next",
    "previous",
    "correct",
    "proper",
    "main",
    "whole",
    "build",
    "test",
    "single",
    "different",
    "actual",
    "real",
    "only",
    "second",
    "third",
    "failed",
    "failing",
    "successful",
    "phone",
    "system",
    "function",
    "api",
    "method",
];

/// Words for any tool that runs shell lines, and how such tools are named.
const SHELLS: &[&str] = &["shell", "terminal"];
const SHELL_TOOLS: &str = "*bash*|*shell*|*exec*|*terminal*";

/// Kinds of processes: whether one runs is answered by what was seen last, never by a no.
const PROCESSES: &[&str] = &["server", "service", "process", "daemon"];

/// Who is meant by a word for a speaker.
fn speaker(text: &str) -> &'static str {
    let lower = text.to_lowercase();
    match lower.rsplit(' ').next().unwrap_or_default() {
        "operator" => "operator",
        "user" | "human" | "person" => "user",
        _ => "assistant",
    }
}

/// What was spoken of, as bare words: quotations, literals, and up to two plain words.
fn topic(sentence: &Sentence, words: &str) -> Option<String> {
    const PLAIN_MAX: usize = 2;
    let (mut terms, mut plain) = (Vec::new(), 0);
    for word in words.split(' ') {
        let lower = word.to_lowercase();
        match sentence.spelling(word) {
            Spelling::Quoted(text) | Spelling::Code(text) => {
                terms.push(Atom::Quoted(text.to_owned()).to_string());
            }
            Spelling::Word(word) if is_literal(word) => terms.push(safe(word)),
            Spelling::Word(_) if POINTING.contains(&lower.as_str()) => {}
            Spelling::Word(word) if is_name(word) || KINDS.contains(&lower.as_str()) => {
                plain += 1;
                terms.push(safe(word));
            }
            Spelling::Word(_) => return None,
        }
    }
    (!terms.is_empty() && plain <= PLAIN_MAX).then(|| terms.join(" "))
}

/// The rows that are no expressions.
#[cfg(test)]
pub(super) fn unread() -> Vec<&'static str> {
    PATTERNS.iter().map(|row| row.text).filter(|text| compiled(text).is_none()).collect()
}
