//! Collects what an exported page of a run shows, from the run's files.
//!
//! Takes no lock and changes nothing. All text is cleaned here; the layout is in [`html`] and [`markdown`].

pub mod export_file;
pub mod html;
pub mod markdown;
mod summary_tables;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::app::run_reporter;
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{AgentActivity, Event, ToolStatus};
use crate::domain::event_wording::{CallDescriptions, EventSpeaker, EventTone, describe_tool_call};
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::review;
use crate::domain::run::RunState;
use crate::domain::run_timeline::{TurnSpan, elapsed_millis};
use crate::domain::turn::Role;
use crate::engine::run_changes::{RunChanges, load_changes};
use crate::engine::stored_run::StoredRun;
use crate::store::{WorkdirLayout, document_files, iteration_files};
use crate::text::format_duration;
use crate::text::unified_diff::UnifiedDiff;
use crate::text::{clean_text, clean_to_one_line, front_matter};

use super::startup::{RunTreeReader, StartError};

/// Number of review versions that are searched for evidence.
const MAX_REVIEWS: usize = 100;

/// Everything that an exported page shows.
#[derive(Debug)]
pub struct ExportPage {
    /// The state of the run.
    pub state: RunState,
    /// The text of the plan, without the front matter that the program writes.
    pub plan: String,
    /// The evidence in the reviews, by number of the finding.
    pub evidence: BTreeMap<u32, String>,
    /// What happened, turn by turn.
    pub sections: Vec<ExportSection>,
    /// All turns, in order.
    pub turns: Vec<TurnSpan>,
    /// The changes of each step, as far as git still has them.
    pub diffs: BTreeMap<u32, UnifiedDiff>,
    /// What could not be read, as a message.
    pub problem: Option<String>,
    /// The time zone of the page.
    pub zone: TimeZone,
}

/// What happened in a turn, or between two turns.
#[derive(Debug, Default)]
pub struct ExportSection {
    /// The turn; `None` between two turns.
    pub turn: Option<TurnId>,
    pub items: Vec<ExportItem>,
}

/// One message or action on the page; all text is cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportItem {
    /// A message or a decision of the user.
    UserText(String),
    /// A message of an agent.
    AgentText(Role, String),
    /// A thought of an agent.
    AgentThought(Role, String),
    /// A tool call of an agent.
    ToolCall {
        /// The tool and what it did, in one line.
        title: String,
        /// How the call ended; empty if unknown.
        status: String,
        /// The end of the tool's output.
        output: String,
    },
    /// A message of the program.
    ProgramNote(String),
}

impl ExportPage {
    /// Collects a page from a run's files and the repository's trees. Reads the whole log.
    ///
    /// # Errors
    /// The run does not exist, or its files cannot be read.
    pub async fn load(layout: WorkdirLayout, ground: &RunTreeReader) -> Result<Self, StartError> {
        let (teller, state, problem) = SectionBuilder::read_log(&layout);
        let Some(state) = state else {
            let problem = problem.unwrap_or_else(|| "no run here".to_owned());
            let hint = "`agent-collab history` lists the finished runs";
            return Err(StartError::new(problem, hint));
        };
        let git = ground.open_repository(layout.workdir()).await?;
        let mut diffs = BTreeMap::new();
        let execution = state.execution.as_ref();
        for record in execution.iter().flat_map(|execution| &execution.done) {
            // If the tree of a step is gone, the step has no diff; the rest of the page is still written.
            let looked =
                load_changes(git.as_ref(), execution, &layout, DiffScope::Step(record.n)).await;
            if let Ok(RunChanges::Diff(patch)) = looked {
                diffs.insert(record.n, patch);
            }
        }
        Ok(Self {
            plan: load_plan_text(&layout)?,
            evidence: load_evidence(&layout)?,
            turns: teller.turns,
            sections: teller.sections,
            diffs,
            problem: problem.map(|problem| clean_text(&problem)),
            zone: TimeZone::system(),
            state,
        })
    }

    /// Formats an instant for people: `2026-11-22 14:05`.
    pub fn format_time(&self, at: UnixMillis) -> String {
        match Timestamp::from_millisecond(at.0) {
            Ok(timestamp) => timestamp
                .to_zoned(self.zone.clone())
                .strftime("%Y-%m-%d %H:%M")
                .to_string(),
            Err(_) => "unknown".to_owned(),
        }
    }

    /// Returns the time of the last event, else the time at which the run was created.
    pub fn last_activity(&self) -> UnixMillis {
        self.state
            .course
            .last_event_at()
            .unwrap_or(self.state.created)
    }

    /// Returns the title of the goal.
    pub fn title(&self) -> String {
        let goal = self.state.goal.as_ref();
        goal.map_or_else(
            || "a run without a goal".to_owned(),
            |goal| clean_to_one_line(&goal.title),
        )
    }

    /// Returns the span of a turn.
    pub fn turn_span(&self, turn: &TurnId) -> Option<&TurnSpan> {
        self.turns.iter().rfind(|span| span.turn == *turn)
    }

    /// Describes when a turn began, how long it took, how many tokens it used and how it ended.
    pub fn describe_turn_cost(&self, span: &TurnSpan) -> String {
        let used = span.usage();
        let n = used.input_tokens.saturating_add(used.output_tokens);
        let tokens = if n > 0 {
            format!(", {n} tokens")
        } else {
            String::new()
        };
        let length = format_duration(elapsed_millis(span.from, span.to, self.last_activity()));
        format!(
            "{}, {length}{tokens}, {}",
            self.format_time(span.from),
            span.end.label()
        )
    }
}

fn load_plan_text(layout: &WorkdirLayout) -> Result<String, StartError> {
    let document = document_files::read_document(&layout.plan())?;
    let text = document.map(|document| String::from_utf8_lossy(&document.bytes).into_owned());
    let text = text.unwrap_or_default();
    Ok(clean_text(front_matter::parse_document(&text).body.trim()))
}

fn load_evidence(layout: &WorkdirLayout) -> Result<BTreeMap<u32, String>, StartError> {
    let kept = iteration_files::load_last_versions(layout, &layout.names().comments, MAX_REVIEWS)?;
    let now = document_files::read_document(&layout.comments())?.map(|document| document.bytes);
    let mut evidence = BTreeMap::new();
    for bytes in kept.into_iter().map(|version| version.bytes).chain(now) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let parts = review::split_parts(front_matter::parse_document(&text).body);
        let said = parts.evidence.into_iter();
        let said = said.filter(|(_, text)| !text.trim().is_empty());
        evidence.extend(said.map(|(n, text)| (n, clean_text(&text))));
    }
    Ok(evidence)
}

/// Adds the turns of a state to those collected so far.
fn merge_turn_spans(turns: &mut Vec<TurnSpan>, state: &RunState) {
    for span in state.course.turns() {
        match turns.iter_mut().rfind(|kept| kept.turn == span.turn) {
            Some(kept) if kept == span => {}
            Some(kept) => kept.clone_from(span),
            None => turns.push(span.clone()),
        }
    }
}

/// Builds the sections of a page from events.
#[derive(Default)]
struct SectionBuilder {
    sections: Vec<ExportSection>,
    /// The section and the index of each tool call that has not ended.
    open_calls: BTreeMap<String, (usize, usize)>,
    calls: CallDescriptions,
    /// All turns, in order.
    turns: Vec<TurnSpan>,
}

impl SectionBuilder {
    /// Reads the whole log; also returns the state of the run and what could not be read.
    fn read_log(layout: &WorkdirLayout) -> (Self, Option<RunState>, Option<String>) {
        let mut teller = Self::default();
        let mut stored = StoredRun::from_log_start(layout.clone());
        loop {
            // A state keeps only the last turns, so collect each turn before the state drops it.
            let seen = stored.read_new_with(&mut |before, event| {
                if !matches!(event, Event::Agent { .. } | Event::TaskActivity { .. }) {
                    merge_turn_spans(&mut teller.turns, before);
                }
            });
            if seen.is_restarted {
                teller = Self::default();
            }
            for record in &seen.records {
                teller.add_event(&record.event);
            }
            if !seen.has_more {
                seen.state
                    .iter()
                    .for_each(|state| merge_turn_spans(&mut teller.turns, state));
                return (teller, seen.state, seen.problem);
            }
        }
    }

    fn add_event(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn, .. } => self.sections.push(ExportSection {
                turn: Some(turn.clone()),
                items: Vec::new(),
            }),
            Event::TurnEnded { .. } => {
                self.add_wording(event);
                self.sections.push(ExportSection::default());
            }
            Event::Agent { role, news, .. } => self.add_agent_activity(*role, event, news),
            // The heading of the turn, the tables or the user's own messages show these.
            Event::SessionVersion { .. } | Event::PhaseChanged { .. } => {}
            _ => self.add_wording(event),
        }
    }

    /// Adds the words for an event: the user's own, or a note of the program.
    fn add_wording(&mut self, event: &Event) {
        let wording = self.calls.word_event(event);
        self.add_item(wording.and_then(|wording| {
            match (wording.speaker, wording.tone) {
                (EventSpeaker::User, EventTone::Message) => {
                    Some(ExportItem::UserText(clean_text(&wording.text)))
                }
                // The call itself is shown.
                (_, EventTone::Quiet) if matches!(event, Event::ApprovalDecided { .. }) => None,
                _ => run_reporter::format_wording(&wording)
                    .map(|text| ExportItem::ProgramNote(clean_text(text.trim()))),
            }
        }));
    }

    fn add_agent_activity(&mut self, role: Role, event: &Event, news: &AgentActivity) {
        match news {
            AgentActivity::Text { text } => {
                self.add_item(Some(ExportItem::AgentText(role, clean_text(text))))
            }
            AgentActivity::Thinking { text } if text.trim().is_empty() => {}
            AgentActivity::Thinking { text } => {
                self.add_item(Some(ExportItem::AgentThought(role, clean_text(text))))
            }
            AgentActivity::ToolStarted {
                item,
                tool,
                title,
                detail,
            } => {
                let (verb, subject) = describe_tool_call(tool, title, detail.as_ref());
                self.add_item(Some(ExportItem::ToolCall {
                    title: clean_to_one_line(&(verb + &subject)),
                    status: String::new(),
                    output: String::new(),
                }));
                let section = self.sections.len().saturating_sub(1);
                let place = self
                    .sections
                    .last()
                    .map_or(0, |section| section.items.len());
                let place = (section, place.saturating_sub(1));
                self.open_calls.insert(item.clone(), place);
            }
            AgentActivity::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => self.end_tool_call(item, status, *exit_code, output),
            AgentActivity::FilesChanged { .. } => {}
            _ => self.add_wording(event),
        }
    }

    fn end_tool_call(&mut self, item: &str, end: &ToolStatus, code: Option<i32>, ended: &str) {
        let word = clean_text(&end.to_string());
        let place = self.open_calls.remove(item);
        let item =
            place.and_then(|(section, at)| self.sections.get_mut(section)?.items.get_mut(at));
        if let Some(ExportItem::ToolCall { status, output, .. }) = item {
            *status = match code.filter(|code| *code != 0) {
                Some(code) => format!("{word}, exit {code}"),
                None => word,
            };
            *output = clean_text(ended.trim_end());
        }
    }

    fn add_item(&mut self, item: Option<ExportItem>) {
        if self.sections.is_empty() {
            self.sections.push(ExportSection::default());
        }
        if let Some(section) = self.sections.last_mut() {
            section.items.extend(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::RunParameters;
    use crate::domain::turn::TurnOutcome;
    use crate::engine::run_journal::RunJournal;
    use crate::store::{TamperGuard, WorkdirNames};

    #[test]
    fn every_turn_of_a_long_run_is_on_its_page() {
        let folder = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        let guard = TamperGuard::open(&layout, &folder.path().join("side")).unwrap();
        let (mut journal, _) = RunJournal::create(guard, RunParameters::example()).unwrap();
        let text = "a goal".to_owned();
        journal.record(Event::GoalGiven { text }).unwrap();
        let mut begun = Vec::new();
        for _ in 0..50 {
            let text = "go on".to_owned();
            journal.record(Event::GoalMessageAdded { text }).unwrap();
            journal.record(Event::TurnSendConfirmed).unwrap();
            let turn = journal.state().running.clone().unwrap().order.turn;
            begun.push(turn.clone());
            let result = TurnOutcome::completed("");
            journal.record(Event::TurnEnded { turn, result }).unwrap();
        }
        let (teller, state, problem) = SectionBuilder::read_log(&layout);
        let told: Vec<TurnId> = teller.turns.iter().map(|span| span.turn.clone()).collect();
        assert_eq!(told, begun);
        assert!(teller.turns.iter().all(|span| span.to.is_some()));
        assert!(state.unwrap().course.turns().len() < 50);
        assert_eq!(problem, None);
    }
}
