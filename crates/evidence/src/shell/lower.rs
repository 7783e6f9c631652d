//! From the parser's tree to ours.

use shuck_ast as ast;
use shuck_parser::parser::{ParseStatus, Parser};

use super::{Link, Mode, Node, Part, Redirect, Script, Simple, Statement, Unparsed, Wait, Word};

pub(super) fn parse(text: &str) -> Result<Script, Unparsed> {
    let result = Parser::new(text).parse();
    if result.status == ParseStatus::Clean {
        return Ok(Lower { source: text }.sequence(&result.file.body));
    }
    let terminal = result.terminal_error.map(|error| error.to_string());
    let message = terminal.or_else(|| result.diagnostics.first().map(|found| found.message.clone()));
    Err(Unparsed(message.unwrap_or_else(|| "the parser gave no reason".to_owned())))
}

struct Lower<'a> {
    source: &'a str,
}

impl Lower<'_> {
    fn sequence(&self, sequence: &ast::StmtSeq) -> Script {
        Script(sequence.iter().map(|stmt| self.statement(stmt)).collect())
    }

    fn statement(&self, stmt: &ast::Stmt) -> Statement {
        let wait = match stmt.terminator {
            Some(ast::StmtTerminator::Background(_)) => Wait::Background,
            Some(ast::StmtTerminator::Semicolon) | None => Wait::Waits,
        };
        let redirects = stmt.redirects.iter().map(|redirect| self.redirect(redirect)).collect();
        Statement { node: self.command(&stmt.command), redirects, wait }
    }

    fn command(&self, command: &ast::Command) -> Node {
        match command {
            ast::Command::Simple(simple) => {
                let words = std::iter::once(&simple.name).chain(&simple.args);
                self.simple(&simple.assignments, words)
            }
            ast::Command::Builtin(builtin) => self.builtin(builtin),
            ast::Command::Decl(decl) => self.declaration(decl),
            ast::Command::Binary(binary) => self.binary(binary),
            ast::Command::Compound(compound) => self.compound(compound),
            ast::Command::Function(function) => {
                let names = function.static_names().map(|name| name.as_str().to_owned()).collect();
                Node::Function(names, Box::new(self.statement(&function.body)))
            }
            ast::Command::AnonymousFunction(function) => {
                Node::Group(Script(vec![self.statement(&function.body)]))
            }
        }
    }

    fn simple<'w>(
        &self,
        assignments: &[ast::Assignment],
        words: impl Iterator<Item = &'w ast::Word>,
    ) -> Node {
        let words = words
            .filter(|word| !word.span.slice(self.source).is_empty())
            .flat_map(|word| self.expanded(word))
            .collect();
        Node::Simple(Simple {
            assignments: assignments.iter().map(|one| self.assignment(one)).collect(),
            words,
        })
    }

    fn builtin(&self, builtin: &ast::BuiltinCommand) -> Node {
        let (name, first, rest, assignments) = match builtin {
            ast::BuiltinCommand::Break(c) => ("break", &c.depth, &c.extra_args, &c.assignments),
            ast::BuiltinCommand::Continue(c) => ("continue", &c.depth, &c.extra_args, &c.assignments),
            ast::BuiltinCommand::Return(c) => ("return", &c.code, &c.extra_args, &c.assignments),
            ast::BuiltinCommand::Exit(c) => ("exit", &c.code, &c.extra_args, &c.assignments),
        };
        let mut words = vec![Word { parts: vec![Part::Bare(name.to_owned())], scripts: Vec::new() }];
        words.extend(first.iter().chain(rest).map(|word| self.word(word)));
        Node::Simple(Simple {
            assignments: assignments.iter().map(|one| self.assignment(one)).collect(),
            words,
        })
    }

    fn declaration(&self, decl: &ast::DeclClause) -> Node {
        let name = Word { parts: vec![Part::Bare(decl.variant.as_str().to_owned())], scripts: Vec::new() };
        let mut simple = Simple { assignments: Vec::new(), words: vec![name] };
        simple.assignments.extend(decl.assignments.iter().map(|one| self.assignment(one)));
        for operand in &decl.operands {
            match operand {
                ast::DeclOperand::Flag(word) | ast::DeclOperand::Dynamic(word) => {
                    simple.words.push(self.word(word));
                }
                ast::DeclOperand::Name(name) => simple.words.push(Word::literal(name.name.as_str())),
                ast::DeclOperand::Assignment(assignment) => {
                    simple.assignments.push(self.assignment(assignment));
                }
            }
        }
        Node::Simple(simple)
    }

    fn assignment(&self, assignment: &ast::Assignment) -> (String, Word) {
        let name = assignment.target.name.as_str().to_owned();
        let mut word = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => self.word(word),
            ast::AssignmentValue::Compound(array) => {
                let scripts = array
                    .elements
                    .iter()
                    .flat_map(|element| self.word(&element.value().word).scripts)
                    .collect();
                Word { parts: vec![Part::Unknown(array.span.slice(self.source).to_owned())], scripts }
            }
        };
        if assignment.append || assignment.target.subscript.is_some() {
            word.parts = vec![Part::Unknown(assignment.span.slice(self.source).to_owned())];
        }
        (name, word)
    }

    /// Chains and pipelines lean to the left; they are walked down in a loop, so that length costs no stack.
    fn binary(&self, binary: &ast::BinaryCommand) -> Node {
        if matches!(binary.op, ast::BinaryOp::Pipe | ast::BinaryOp::PipeAll) {
            return Node::Pipe(self.stages(binary));
        }
        let mut rest = Vec::new();
        let mut at = binary;
        loop {
            let link = if at.op == ast::BinaryOp::And { Link::And } else { Link::Or };
            rest.push((link, self.statement(&at.right)));
            match &at.left.command {
                ast::Command::Binary(left)
                    if at.left.redirects.is_empty()
                        && matches!(left.op, ast::BinaryOp::And | ast::BinaryOp::Or) =>
                {
                    at = left;
                }
                _ => break,
            }
        }
        rest.reverse();
        Node::Chain(Box::new(self.statement(&at.left)), rest)
    }

    fn stages(&self, binary: &ast::BinaryCommand) -> Vec<Statement> {
        let mut stages = Vec::new();
        let mut at = binary;
        loop {
            stages.push(self.statement(&at.right));
            match &at.left.command {
                ast::Command::Binary(left)
                    if at.left.redirects.is_empty()
                        && matches!(left.op, ast::BinaryOp::Pipe | ast::BinaryOp::PipeAll) =>
                {
                    at = left;
                }
                _ => break,
            }
        }
        stages.push(self.statement(&at.left));
        stages.reverse();
        stages
    }

    fn compound(&self, compound: &ast::CompoundCommand) -> Node {
        use ast::CompoundCommand as C;
        match compound {
            C::If(c) => {
                let mut maybe = vec![self.sequence(&c.then_branch)];
                for (condition, body) in &c.elif_branches {
                    maybe.push(self.sequence(condition));
                    maybe.push(self.sequence(body));
                }
                maybe.extend(c.else_branch.as_ref().map(|body| self.sequence(body)));
                Node::Branches(self.sequence(&c.condition), maybe)
            }
            C::For(c) => self.each(c),
            C::Foreach(c) => self.each_of(c.variable.as_str(), Some(&c.words), &c.body),
            C::Select(c) => self.each_of(c.variable.as_str(), None, &c.body),
            C::Repeat(c) => Node::Loop(self.words(&[&c.count]), self.sequence(&c.body)),
            C::ArithmeticFor(c) => Node::Loop(self.raw(c.span, Some(c.body.span)), self.sequence(&c.body)),
            C::While(c) => Node::Loop(self.sequence(&c.condition), self.sequence(&c.body)),
            C::Until(c) => Node::Loop(self.sequence(&c.condition), self.sequence(&c.body)),
            C::Case(c) => {
                let bodies = c.cases.iter().map(|case| self.sequence(&case.body)).collect();
                Node::Branches(self.words(&[&c.word]), bodies)
            }
            C::Subshell(body) => Node::Subshell(self.sequence(body)),
            C::BraceGroup(body) => Node::Group(self.sequence(body)),
            C::Arithmetic(c) => Node::Group(self.raw(c.span, None)),
            C::Time(c) => Node::Group(Script(c.command.iter().map(|inner| self.statement(inner)).collect())),
            C::Conditional(c) => Node::Words(self.condition(&c.expression)),
            C::Coproc(c) => {
                let mut inner = self.statement(&c.body);
                inner.wait = Wait::Background;
                Node::Group(Script(vec![inner]))
            }
            C::Always(c) => {
                let mut all = self.sequence(&c.body);
                all.0.extend(self.sequence(&c.always_body).0);
                Node::Group(all)
            }
        }
    }

    fn each(&self, c: &ast::ForCommand) -> Node {
        let name = c.targets.first().and_then(|target| target.name.as_ref()).map_or("", |name| name.as_str());
        self.each_of(name, c.words.as_deref(), &c.body)
    }

    fn each_of(&self, name: &str, words: Option<&[ast::Word]>, body: &ast::StmtSeq) -> Node {
        let words = words.map(|words| words.iter().flat_map(|word| self.expanded(word)).collect());
        Node::Each(name.to_owned(), words, self.sequence(body))
    }

    fn words(&self, words: &[&ast::Word]) -> Script {
        let words = words.iter().map(|word| self.word(word)).collect();
        Script(vec![Statement { node: Node::Words(words), redirects: Vec::new(), wait: Wait::Waits }])
    }

    /// Arithmetic: it sets names, and nothing runs in it but substitutions, which are not followed and therefore
    /// unknown.
    fn raw(&self, span: ast::Span, without: Option<ast::Span>) -> Script {
        let text = span.slice(self.source);
        let body = without.map_or("", |body| body.slice(self.source));
        let head = text.split(body).next().filter(|_| !body.is_empty()).unwrap_or(text);
        if head.contains("$(") && head.replace("$((", "").contains("$(") || head.contains('`') {
            let run = Word { parts: vec![Part::Unknown(head.to_owned())], scripts: Vec::new() };
            let node = Node::Simple(Simple { assignments: Vec::new(), words: vec![run] });
            return Script(vec![Statement { node, redirects: Vec::new(), wait: Wait::Waits }]);
        }
        let unknown = |name: &str| {
            (name.to_owned(), Word { parts: vec![Part::Unknown(head.to_owned())], scripts: Vec::new() })
        };
        let assignments: Vec<(String, Word)> = set_names(head).into_iter().map(unknown).collect();
        if assignments.is_empty() {
            return Script(Vec::new());
        }
        let node = Node::Simple(Simple { assignments, words: Vec::new() });
        Script(vec![Statement { node, redirects: Vec::new(), wait: Wait::Waits }])
    }

    fn condition(&self, expression: &ast::ConditionalExpr) -> Vec<Word> {
        use ast::ConditionalExpr as E;
        match expression {
            E::Binary(e) => {
                let mut words = self.condition(&e.left);
                words.extend(self.condition(&e.right));
                words
            }
            E::Unary(e) => self.condition(&e.expr),
            E::Parenthesized(e) => self.condition(&e.expr),
            E::Word(word) | E::Regex(word) => vec![self.word(word)],
            E::Pattern(pattern) => pattern
                .parts
                .iter()
                .filter_map(|part| match &part.kind {
                    ast::PatternPart::Word(word) => Some(self.word(word)),
                    _ => None,
                })
                .collect(),
            E::VarRef(_) => Vec::new(),
        }
    }

    fn redirect(&self, redirect: &ast::Redirect) -> Redirect {
        use ast::RedirectKind as K;
        let word = match &redirect.target {
            ast::RedirectTarget::Word(word) => self.word(word),
            ast::RedirectTarget::Heredoc(heredoc) => self.heredoc(&heredoc.body),
        };
        let mode = match redirect.kind {
            K::Append => Mode::Append,
            K::Input => Mode::Read,
            K::ReadWrite => Mode::ReadWrite,
            K::HereDoc | K::HereDocStrip | K::HereString => Mode::Text,
            K::DupOutput if is_descriptor(&word) => Mode::Descriptor,
            K::Output | K::Clobber | K::OutputBoth | K::DupOutput => Mode::Write,
            K::DupInput => Mode::Descriptor,
        };
        Redirect { mode, word }
    }

    fn heredoc(&self, body: &ast::HeredocBody) -> Word {
        let mut word = Word::default();
        for part in &body.parts {
            match &part.kind {
                ast::HeredocBodyPart::Literal(text) => {
                    word.parts.push(Part::Quoted(text.as_str(self.source, part.span).to_owned()));
                }
                ast::HeredocBodyPart::Variable(name) => {
                    word.parts.push(Part::Variable(name.as_str().to_owned()));
                }
                ast::HeredocBodyPart::CommandSubstitution { body, .. } => {
                    word.scripts.push(self.sequence(body));
                    word.parts.push(self.unknown(part.span));
                }
                ast::HeredocBodyPart::ArithmeticExpansion { expression_word_ast, .. } => {
                    word.scripts.extend(self.word(expression_word_ast).scripts);
                    word.parts.push(self.unknown(part.span));
                }
                ast::HeredocBodyPart::Parameter(parameter) => self.parameter(parameter, part.span, &mut word),
            }
        }
        word
    }

    fn unknown(&self, span: ast::Span) -> Part {
        Part::Unknown(span.slice(self.source).to_owned())
    }

    fn word(&self, word: &ast::Word) -> Word {
        let mut out = Word::default();
        self.parts(&word.parts, Quotes::None, &mut out);
        out
    }

    /// The words that brace expansion makes of `word`.
    fn expanded(&self, word: &ast::Word) -> Vec<Word> {
        let lowered = self.word(word);
        if !word.has_active_brace_expansion() {
            return vec![lowered];
        }
        let bare: Option<String> = lowered
            .parts
            .iter()
            .map(|part| match part {
                Part::Bare(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let word_of = |text| Word { parts: vec![Part::Bare(text)], scripts: Vec::new() };
        match bare.and_then(|text| braces(&text)) {
            Some(texts) => texts.into_iter().map(word_of).collect(),
            None => vec![Word { parts: vec![self.unknown(word.span)], scripts: lowered.scripts }],
        }
    }

    fn parts(&self, parts: &[ast::WordPartNode], quotes: Quotes, out: &mut Word) {
        for part in parts {
            self.part(part, quotes, out);
        }
    }

    fn part(&self, part: &ast::WordPartNode, quotes: Quotes, out: &mut Word) {
        use ast::WordPart as P;
        match &part.kind {
            P::Literal(text) => out.parts.push(self.literal(text, part.span, quotes)),
            P::SingleQuoted { value, .. } => {
                out.parts.push(Part::Quoted(value.slice(self.source).to_owned()));
            }
            P::DoubleQuoted { parts, .. } => {
                // In quotes a value stays one word, which a part in front of it keeps visible.
                if !matches!(parts.as_slice(), [ast::WordPartNode { kind: P::Literal(_), .. }, ..]) {
                    out.parts.push(Part::Quoted(String::new()));
                }
                self.parts(parts, Quotes::Double, out);
            }
            P::Variable(name) => out.parts.push(Part::Variable(name.as_str().to_owned())),
            P::CommandSubstitution { body, .. } => {
                let script = self.sequence(body);
                out.parts.push(quoted_text(&script).map_or_else(|| self.unknown(part.span), Part::Output));
                out.scripts.push(script);
            }
            P::ProcessSubstitution { body, .. } => {
                out.scripts.push(self.sequence(body));
                out.parts.push(Part::Quoted("/dev/fd/63".to_owned()));
            }
            P::Parameter(parameter) => self.parameter(parameter, part.span, out),
            P::ArithmeticExpansion { expression_word_ast, .. } => {
                self.inner(Some(&**expression_word_ast), part.span, out);
            }
            P::ParameterExpansion { operand_word_ast, .. }
            | P::IndirectExpansion { operand_word_ast, .. } => {
                self.inner(operand_word_ast.as_deref(), part.span, out);
            }
            P::Substring { offset_word_ast, .. } | P::ArraySlice { offset_word_ast, .. } => {
                self.inner(Some(&**offset_word_ast), part.span, out);
            }
            P::Transformation { operator: 'P', .. } => {
                out.scripts.push(self.opaque(part.span));
                out.parts.push(self.unknown(part.span));
            }
            P::ZshQualifiedGlob(_)
            | P::Length(_)
            | P::ArrayAccess(_)
            | P::ArrayLength(_)
            | P::ArrayIndices(_)
            | P::PrefixMatch { .. }
            | P::Transformation { .. } => out.parts.push(self.unknown(part.span)),
        }
    }

    fn inner(&self, word: Option<&ast::Word>, span: ast::Span, out: &mut Word) {
        if let Some(word) = word {
            out.scripts.extend(self.word(word).scripts);
        }
        out.parts.push(self.unknown(span));
    }

    fn parameter(&self, parameter: &ast::ParameterExpansion, span: ast::Span, out: &mut Word) {
        match parameter.bourne() {
            Some(ast::BourneParameterExpansion::Access { reference }) if reference.subscript.is_none() => {
                out.parts.push(Part::Variable(reference.name.as_str().to_owned()));
            }
            Some(ast::BourneParameterExpansion::Transformation { operator: 'P', .. }) | None => {
                out.scripts.push(self.opaque(span));
                out.parts.push(self.unknown(span));
            }
            Some(bourne) => {
                let inner = bourne.operand_word_ast().or_else(|| bourne.offset_word_ast());
                self.inner(inner, span, out);
            }
        }
    }

    /// A script of which nothing is known.
    fn opaque(&self, span: ast::Span) -> Script {
        let word = Word { parts: vec![self.unknown(span)], scripts: Vec::new() };
        let node = Node::Simple(Simple { assignments: Vec::new(), words: vec![word] });
        Script(vec![Statement { node, redirects: Vec::new(), wait: Wait::Waits }])
    }

    fn literal(&self, text: &ast::LiteralText, span: ast::Span, quotes: Quotes) -> Part {
        let cooked = text.as_str(self.source, span);
        match quotes {
            Quotes::Double => Part::Quoted(cooked.to_owned()),
            Quotes::None if span.slice(self.source).contains('\\') => Part::Quoted(unescape(cooked)),
            Quotes::None => Part::Bare(cooked.to_owned()),
        }
    }
}

#[derive(Clone, Copy)]
enum Quotes {
    None,
    Double,
}

/// Drops the backslashes that quote one character each.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => out.extend(chars.next().filter(|&next| next != '\n')),
            _ => out.push(char),
        }
    }
    out
}

fn is_descriptor(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Bare(text) | Part::Quoted(text)] => {
            text == "-" || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        }
        _ => false,
    }
}

/// The text of `$(cat <<'EOF' … EOF)`, the usual way of handing over a long message.
fn quoted_text(script: &Script) -> Option<String> {
    let [Statement { node: Node::Simple(simple), redirects, .. }] = script.0.as_slice() else { return None };
    let [program] = simple.words.as_slice() else { return None };
    let [Redirect { mode: Mode::Text, word }] = redirects.as_slice() else { return None };
    match (program.parts.as_slice(), word.parts.as_slice()) {
        ([Part::Bare(name)], [Part::Quoted(text)]) if name == "cat" => {
            Some(text.trim_end_matches('\n').to_owned())
        }
        _ => None,
    }
}

/// The names that arithmetic gives a value: `i = 0`, `i += 2`, `i++`, `--i`.
fn set_names(text: &str) -> Vec<&str> {
    let named = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|char: char| char.is_ascii_alphabetic() || char == '_') {
        let (front, tail) = rest.split_at(start);
        let end = tail.find(|char: char| !named(char)).unwrap_or(tail.len());
        let (name, behind) = tail.split_at(end);
        let next = behind.trim_start();
        let assigned = next.strip_prefix(['+', '-', '*', '/', '%', '|', '&', '^']).unwrap_or(next);
        let set = next.starts_with("++")
            || next.starts_with("--")
            || front.trim_end().ends_with("++")
            || front.trim_end().ends_with("--")
            || (assigned.starts_with('=') && !assigned.starts_with("=="));
        if set {
            names.push(name);
        }
        rest = behind;
    }
    names
}

/// `1..3`, as the numbers from the first to the last.
fn range(list: &str) -> Option<Vec<String>> {
    let (first, last) = list.split_once("..")?;
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    let all = first.min(last)..=first.max(last);
    (last.checked_sub(first)?.unsigned_abs() < 64).then(|| all.map(|number| number.to_string()).collect())
}

/// Expands one unnested list or range per brace pair, at most 64 words.
fn braces(text: &str) -> Option<Vec<String>> {
    let Some((head, rest)) = text.split_once('{') else { return Some(vec![text.to_owned()]) };
    let (list, tail) = rest.split_once('}')?;
    let items: Vec<String> = match range(list) {
        Some(items) => items,
        None if list.contains('{') || !list.contains(',') => return None,
        None => list.split(',').map(str::to_owned).collect(),
    };
    let tails = braces(tail)?;
    let all: Vec<String> =
        items.iter().flat_map(|item| tails.iter().map(move |tail| format!("{head}{item}{tail}"))).collect();
    (all.len() <= 64).then_some(all)
}
