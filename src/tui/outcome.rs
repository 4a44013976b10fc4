//! What came of a run that is over, and what can be done now: a card at the end of the chat.
//!
//! Says what the program checked and counted, not what an agent claims. Refuses to know whether a branch
//! still stands.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Padding, Paragraph};

use super::Screen;
use super::header::used_in_words;
use super::hints;
use super::keymap::IsWriting;
use super::tabs::Tab;
use super::theme;
use super::words::elapsed;
use super::wrap::{one_line, width, wrap};
use crate::domain::execution::{Execution, StepCount, StepOutcome, StepRecord};
use crate::domain::phase::Phase;
use crate::domain::question::CommitTerms;
use crate::domain::receipt::TestOutcome;
use crate::domain::run::State;
use crate::text::n_of;

/// How wide the card gets.
const WIDEST: u16 = 100;
/// How many rows of the chat stay above it, where it has that many.
const ABOVE: u16 = 3;
/// Below how many rows of the chat the card may take all of them.
const LOW: u16 = 14;
/// How wide a window is in which all of it is said.
const ROOMY: usize = 56;

/// Lines of the card that stay or go together; what gives way first has the highest rank.
type Part = (u8, Vec<Line<'static>>);

impl Screen {
    /// Draws the card of a run that is over, where the end of the chat is shown; gives what is left above it.
    pub(super) fn draw_outcome(
        &self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&State>,
    ) -> Rect {
        let over = state.filter(|state| state.is_over() && self.transcript.follows());
        let Some(state) = over.filter(|_| area.width > 20) else {
            return area;
        };
        let width = area.width.saturating_sub(2).min(WIDEST);
        let columns = usize::from(width).saturating_sub(4);
        let above = if area.height < LOW { 0 } else { ABOVE };
        let most = usize::from(area.height.saturating_sub(above + 2));
        let lines = fitting(self.outcome(state, columns), most);
        if lines.len() < 2 {
            return area;
        }
        let height = u16::try_from(lines.len() + 2).unwrap_or(area.height);
        let place = Rect {
            x: area.x + 1,
            y: area.bottom() - height,
            width,
            height,
        };
        let (title, style) = match state.phase {
            Phase::Done => (" ✓ done ", theme::GOOD),
            _ => (" ■ cancelled ", theme::QUIET),
        };
        let block = Block::new()
            .borders(Borders::ALL)
            .border_type(BorderType::Rounded)
            .border_style(style)
            .padding(Padding::horizontal(1))
            .title(Line::styled(title, style.patch(theme::STRONG)));
        frame.render_widget(Paragraph::new(lines).block(block), place);
        Rect {
            height: area.height - height,
            ..area
        }
    }

    /// What the card says, by what gives way first where it is low.
    fn outcome(&self, state: &State, columns: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        if let Some(goal) = &state.goal {
            let title = Span::styled(one_line(&goal.title), theme::STRONG);
            let mut title = wrap(&[title], columns, 0).into_iter().take(2);
            parts.push((3, title.next().into_iter().collect()));
            parts.push((6, title.collect()));
        }
        for (text, style) in self.found(state) {
            parts.push((2, wrap(&[Span::styled(text, style)], columns, 2)));
        }
        let last = &self.ended_at;
        let took = last.map(|last| format!("took {}", elapsed(state.created, last)));
        let reviews = (state.iteration > 0).then(|| {
            let n = usize::try_from(state.iteration).unwrap_or(usize::MAX);
            n_of(n, "review")
        });
        let counts = [reviews, took, used_in_words(state)];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        if !counts.is_empty() {
            let text = Span::styled(counts.join(" · "), theme::QUIET);
            parts.push((7, wrap(&[text], columns, 0)));
        }
        parts.extend(match self.is_read_only() {
            true => self.what_is_read(state, columns),
            false => self.what_now(state, columns),
        });
        parts
    }

    /// What was done and how it was checked.
    fn found(&self, state: &State) -> Vec<(String, Style)> {
        let Some(execution) = &state.execution else {
            return vec![("nothing was executed".to_owned(), theme::PLAIN)];
        };
        let StepCount { done, all } = state.step_count();
        let steps = format!(
            "{done} of {} done, {}",
            n_of(all, "step"),
            commits(execution)
        );
        let sign = match done == all {
            true => ("✓ ", theme::GOOD),
            false => ("■ ", theme::PLAIN),
        };
        let mut said = vec![(format!("{}{steps}", sign.0), sign.1)];
        said.extend(tests(&execution.done));
        said.extend(left_in_tree(&execution.done));
        if let Some(last) = execution.undone.last() {
            let n = last.records.len();
            said.push((format!("↺ undone: {}", n_of(n, "step")), theme::PLAIN));
        }
        said
    }

    /// The keys and commands that make sense now.
    fn what_now(&self, state: &State, columns: usize) -> Vec<Part> {
        let mut parts = vec![(5, vec![Line::default()])];
        let is_roomy = columns >= ROOMY;
        let words = |long, short| if is_roomy { long } else { short };
        let is_writing = self.writing == IsWriting::Yes;
        let key = |action: &str| self.keymap().named(action, self.writing);
        let mut keys = Vec::new();
        if state.execution.is_some() {
            keys.push((key("diff"), words("what changed", "diff")));
            keys.push((key("undo"), words("take a step back", "undo")));
        }
        let merge = self.merge(state);
        if merge.is_some() && !is_writing {
            keys.push((key("copy"), words("copy the merge", "copy merge")));
        }
        let is_undone = |execution: &Execution| !execution.undone.is_empty();
        if state.execution.as_ref().is_some_and(is_undone) {
            keys.push((key("redo"), words("bring it back", "redo")));
        }
        let goal = match is_writing {
            true => ("Enter".to_owned(), words("the next goal", "next goal")),
            false => (key("write"), words("write the next goal", "next goal")),
        };
        let page = (key("export"), words("a page to share", "a page"));
        keys.extend([goal, page, (key("quit"), "leave")]);
        parts.push((0, in_rows(&keys, columns)));
        let merge = merge.map(|command| (4, for_the_shell("merge", &command, columns)));
        parts.extend(merge);
        parts
    }

    /// The command that merges what the run committed, while the card stands there and nothing else is pointed at.
    pub(super) fn merge_at_hand(&self, state: Option<&State>) -> Option<String> {
        let is_shown = self.tab == Tab::Chat && self.pager.is_none() && self.diff.is_none();
        let is_at_end = self.transcript.follows() && self.transcript.picked_text().is_none();
        let over = state.filter(|state| state.is_over() && is_shown && is_at_end);
        self.merge(over?)
    }

    /// The keys that make sense where the run is only looked at.
    fn what_is_read(&self, state: &State, columns: usize) -> Vec<Part> {
        let key = |action: &str| self.keymap().named(action, IsWriting::No);
        let diff = state.execution.as_ref();
        let diff = diff.map(|_| (key("diff"), "what changed"));
        let keys: Vec<(String, &'static str)> = diff
            .into_iter()
            .chain([(key("export"), "a page to share")])
            .collect();
        vec![(0, in_rows(&keys, columns))]
    }

    /// The command that brings the commits to the branch that was checked out before.
    fn merge(&self, state: &State) -> Option<String> {
        let execution = state.execution.as_ref()?;
        let CommitTerms::New { branch } = &execution.commits else {
            return None;
        };
        let before = self.settings.branch_before.as_deref();
        let before = before.filter(|before| before != branch);
        n_commits(execution).checked_sub(1)?;
        Some(match before {
            Some(before) => format!(
                "git switch {} && git merge {}",
                one_line(before),
                one_line(branch)
            ),
            None => format!("git merge {}", one_line(branch)),
        })
    }
}

fn n_commits(execution: &Execution) -> usize {
    let is_commit = |step: &&StepRecord| matches!(step.outcome, StepOutcome::Committed { .. });
    execution.done.iter().filter(is_commit).count()
}

fn commits(execution: &Execution) -> String {
    let n = n_of(n_commits(execution), "commit");
    match &execution.commits {
        CommitTerms::Off { .. } => "no commits".to_owned(),
        CommitTerms::Current { branch } | CommitTerms::New { branch } => {
            format!("{n} on {}", one_line(branch))
        }
    }
}

/// What the receipts of the steps say.
fn tests(done: &[StepRecord]) -> Vec<(String, Style)> {
    let changed: Vec<&StepRecord> = done
        .iter()
        .filter(|step| step.outcome != StepOutcome::NoChange)
        .collect();
    let passed = |step: &&&StepRecord| {
        let receipt = step.receipt.as_ref();
        receipt.is_some_and(|receipt| receipt.outcome == TestOutcome::Passed)
    };
    let n_passed = changed.iter().filter(passed).count();
    let mut said = Vec::new();
    if n_passed > 0 {
        let counts = changed.iter().rev().find(passed);
        let counts = counts.and_then(|step| step.receipt.as_ref()?.counts);
        let last = counts.map_or(String::new(), |counts| {
            format!(", {} tests at the end", counts.passed)
        });
        let text = match n_passed == changed.len() {
            true => format!("✓ tests passed after each step{last}"),
            false => format!("✓ tests passed after {}{last}", n_of(n_passed, "step")),
        };
        said.push((text, theme::GOOD));
    }
    let others = changed.iter().filter(|step| !passed(step));
    said.extend(others.map(|step| {
        let text = format!("✗ step {}: {}", step.n, one_line(&step.tested_in_words()));
        (text, theme::BAD)
    }));
    said
}

/// The lines that fit; those of the lowest rank stay.
fn fitting(mut parts: Vec<Part>, most: usize) -> Vec<Line<'static>> {
    let n_lines = |parts: &[Part]| parts.iter().map(|(_, lines)| lines.len()).sum::<usize>();
    while n_lines(&parts) > most {
        let ranks = parts.iter().map(|(rank, _)| *rank);
        match ranks.max().filter(|rank| *rank > 0) {
            // Of several the last one is the least.
            Some(rank) => {
                let at = parts.iter().rposition(|(of, _)| *of == rank);
                at.map(|at| parts.remove(at));
            }
            None => break,
        }
    }
    let lines = parts.into_iter().flat_map(|(_, lines)| lines);
    lines.take(most).collect()
}

/// A command for the user's shell, whole.
fn for_the_shell(what: &str, command: &str, columns: usize) -> Vec<Line<'static>> {
    let lead = format!("{what}  ");
    let indent = width(&lead);
    let spans = [
        Span::styled(lead, theme::QUIET),
        Span::styled(command.to_owned(), theme::CODE),
    ];
    wrap(&spans, columns, indent)
}

/// Keys with what they do, as many a row as fit.
fn in_rows(keys: &[(String, &'static str)], columns: usize) -> Vec<Line<'static>> {
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0;
    for (key, what) in keys {
        let needed = width(key) + width(what) + 4;
        if used > 0 && used + needed > columns {
            rows.push(Vec::new());
            used = 0;
        }
        used += needed;
        if let Some(row) = rows.last_mut() {
            row.push(Span::styled(key.clone(), hints::marked(theme::KEY)));
            row.push(Span::styled(
                format!(" {what}"),
                hints::marked(theme::PLAIN),
            ));
            row.push(Span::raw("   "));
        }
    }
    rows.into_iter().map(Line::from).collect()
}
/// The steps whose changes are in no commit.
fn left_in_tree(done: &[StepRecord]) -> Option<(String, Style)> {
    let is_left = |record: &&StepRecord| matches!(record.outcome, StepOutcome::Uncommitted { .. });
    let left: Vec<String> = done
        .iter()
        .filter(is_left)
        .map(|record| record.n.to_string())
        .collect();
    let whose = match left.as_slice() {
        [] => return None,
        [only] => format!("step {only} is"),
        several => format!("steps {} are", several.join(", ")),
    };
    let text = format!("■ {whose} in no commit: the changes lie in the working tree");
    Some((text, theme::BAD))
}
