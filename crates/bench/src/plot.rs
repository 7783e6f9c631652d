//! The plot: exact answers against tokens kept, a line for each compactor over its budgets.

use crate::product;
use crate::reply::Condition;
use crate::report::{Scores, push};

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 420.0;

/// How a compactor is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Strongroom with its archive.
    Retrieval,
    /// Strongroom's summary alone.
    Own,
    /// What agents do by themselves today.
    Recorded,
    /// Everybody else.
    Other,
}

impl Look {
    /// The colour of line and text, and what fills a point.
    const fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Retrieval => ("#00754a", "#00754a"),
            Self::Own => ("#00754a", "white"),
            Self::Recorded => ("#b3261e", "#b3261e"),
            Self::Other => ("#6b7280", "white"),
        }
    }
}

/// What one compactor came to, over its budgets.
#[derive(Debug)]
struct Series {
    label: String,
    look: Look,
    /// Tokens kept and exact answers, each a share.
    points: Vec<(f64, f64)>,
}

/// The plot as SVG.
pub fn plot(scores: &Scores) -> String {
    let mut all = series(scores);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    axes(&mut out);
    push(&mut out, &headline(&all));
    all.sort_by(|a, b| end(a).1.total_cmp(&end(b).1).then(end(a).0.total_cmp(&end(b).0)));
    let mut labels = Vec::new();
    for own in &all {
        draw(own, &mut out);
    }
    for own in &all {
        label(own, &mut labels, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// Every compactor with its points, those of Strongroom last, so that they are drawn above the others.
fn series(scores: &Scores) -> Vec<Series> {
    let mut found: Vec<Series> = Vec::new();
    for (answerer, budget, cost) in &scores.tallies.costs {
        for condition in [Condition::Context, Condition::Retrieval] {
            let own = scores.row(answerer, *budget, condition).filter(|row| row.exact.of > 0);
            let Some(row) = own else { continue };
            let (label, look) = named(answerer, condition);
            let point = (cost.kept.share(), row.exact.share());
            match found.iter_mut().find(|own| own.label == label) {
                Some(own) => own.points.push(point),
                None => found.push(Series { label, look, points: vec![point] }),
            }
        }
    }
    for own in &mut found {
        own.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    found
}

fn named(answerer: &str, condition: Condition) -> (String, Look) {
    let plain = answerer.replace('&', "&amp;").replace('<', "&lt;");
    match (answerer == product::NAME, condition) {
        (true, Condition::Retrieval) => ("Strongroom, asking its archive".to_owned(), Look::Retrieval),
        (true, _) => ("Strongroom's summary alone".to_owned(), Look::Own),
        (false, Condition::Retrieval) => (format!("{plain}, with its store"), Look::Other),
        (false, _) if answerer == "recorded compactions" => {
            ("the agent's own compaction".to_owned(), Look::Recorded)
        }
        (false, _) => (plain, Look::Other),
    }
}

/// What is to be seen, in one sentence.
fn headline(all: &[Series]) -> String {
    const SMALL: f64 = 0.25;
    let best = |fits: &dyn Fn(&Series) -> bool| {
        let points = all.iter().filter(|own| fits(own)).flat_map(|own| &own.points);
        points.filter(|(kept, _)| *kept <= SMALL).map(|(_, exact)| *exact).max_by(f64::total_cmp)
    };
    let ours = best(&|own| own.look == Look::Retrieval);
    let others = best(&|own| matches!(own.look, Look::Other | Look::Recorded));
    let (Some(ours), Some(others)) = (ours, others) else { return String::new() };
    format!(
        "<text x=\"{LEFT}\" y=\"24\" font-size=\"16\" font-weight=\"bold\">Of at most a quarter of the tokens: {:.1} % of questions answered exactly,</text>\n<text x=\"{LEFT}\" y=\"45\" font-size=\"16\" font-weight=\"bold\">with the source cited; the best of the others {:.1} %</text>",
        ours * 100.0,
        others * 100.0
    )
}

/// Where a share of tokens stands; small shares are told apart.
fn across(kept: f64) -> f64 {
    LEFT + kept.clamp(0.0, 1.0).sqrt() * (RIGHT - LEFT)
}

/// Where a share of exact answers stands.
fn up(exact: f64) -> f64 {
    BOTTOM - exact * (BOTTOM - TOP)
}

fn axes(out: &mut String) {
    for tick in [0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0] {
        let (x, share, base) = (across(tick), tick * 100.0, BOTTOM + 16.0);
        push(
            out,
            &format!(
                "<line x1=\"{x:.1}\" y1=\"{BOTTOM}\" x2=\"{x:.1}\" y2=\"{TOP}\" stroke=\"#eee\"/><text x=\"{x:.1}\" y=\"{base}\" text-anchor=\"middle\">{share:.0} %</text>"
            ),
        );
    }
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (y, share) = (up(tick), tick * 100.0);
        let (base, end) = (y + 4.0, LEFT - 8.0);
        push(
            out,
            &format!(
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#eee\"/><text x=\"{end}\" y=\"{base:.1}\" text-anchor=\"end\">{share:.0} %</text>"
            ),
        );
    }
    let (middle, under, half) = (f64::midpoint(LEFT, RIGHT), BOTTOM + 40.0, f64::midpoint(TOP, BOTTOM));
    push(
        out,
        &format!(
            "<text x=\"{middle}\" y=\"{under}\" text-anchor=\"middle\">tokens kept after a compaction (further left is smaller)</text>\n<text transform=\"translate(16 {half}) rotate(-90)\" text-anchor=\"middle\">questions answered exactly</text>"
        ),
    );
}

/// The last point, from which a line is named.
fn end(own: &Series) -> (f64, f64) {
    own.points.last().map_or((0.0, 0.0), |&(kept, exact)| (across(kept), up(exact)))
}

fn draw(own: &Series, out: &mut String) {
    let (stroke, fill) = own.look.colours();
    let (width, radius) = if own.look == Look::Other { (1.0, 4.0) } else { (2.5, 6.0) };
    let path: Vec<String> =
        own.points.iter().map(|&(kept, exact)| format!("{:.1},{:.1}", across(kept), up(exact))).collect();
    push(
        out,
        &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
            path.join(" ")
        ),
    );
    for &(kept, exact) in &own.points {
        push(
            out,
            &format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.5\"/>",
                across(kept),
                up(exact)
            ),
        );
    }
}

/// Names a line right of its end, below the names that stand there already.
fn label(own: &Series, labels: &mut Vec<(f64, f64, f64)>, out: &mut String) {
    const LINE: f64 = 14.0;
    const LETTER: f64 = 6.4;
    let (x, y) = end(own);
    let length = own.label.chars().fold(0.0, |sum, _| sum + LETTER);
    let (start, mut line) = (x + 10.0, y + 4.0);
    while labels.iter().any(|&(from, to, at)| from < start + length && start < to && (at - line).abs() < LINE)
    {
        line += 1.0;
    }
    labels.push((start, start + length, line));
    let (colour, _) = own.look.colours();
    let weight = if own.look == Look::Other { "normal" } else { "bold" };
    push(
        out,
        &format!(
            "<text x=\"{start:.1}\" y=\"{line:.1}\" fill=\"{colour}\" font-weight=\"{weight}\">{}</text>",
            own.label
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_moves_below_one_that_stands_there() {
        let own = |label: &str| Series { label: label.into(), look: Look::Other, points: vec![(0.1, 0.5)] };
        let (mut labels, mut out) = (Vec::new(), String::new());
        for name in ["one", "two"] {
            label(&own(name), &mut labels, &mut out);
        }
        assert!(labels[1].2 - labels[0].2 >= 14.0, "{labels:?}");
    }

    #[test]
    fn the_headline_compares_small_contexts_alone() {
        let own = |look, point| Series { label: String::new(), look, points: vec![point] };
        let all = [
            own(Look::Retrieval, (0.1, 1.0)),
            own(Look::Other, (0.2, 0.4)),
            own(Look::Other, (0.8, 0.99)),
            own(Look::Own, (0.1, 0.7)),
        ];
        let text = headline(&all);
        assert!(text.contains("100.0 %") && text.contains("others 40.0 %"), "{text}");
    }
}
