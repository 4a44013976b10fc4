//! A run as one page to be given to somebody else: what is on it, gathered from the run's files.
//!
//! Takes no lock and changes nothing. Every text on it is cleaned; refuses to know how a page looks.

pub mod html;
pub mod markdown;
mod table;
pub mod writing;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::app::report;
use crate::domain::changes::Scope;
use crate::domain::course::{TurnSpan, between};
use crate::domain::event::{Event, News};
use crate::domain::ids::{At, TurnId};
use crate::domain::review;
use crate::domain::run::State;
use crate::domain::turn::Role;
use crate::engine::changes::{Changes, look};
use crate::engine::onlooker::Onlooker;
use crate::store::{WorkdirLayout, document_files, iteration_files};
use crate::text::patch::Patch;
use crate::text::{clean, front_matter, one_line};

use super::start::{Ground, Refusal};

/// How many versions of the review are looked through for evidence.
const MOST_REVIEWS: usize = 100;

/// All that a page tells.
#[derive(Debug)]
pub struct Page {
    /// Where the run stands.
    pub state: State,
    /// The plan, without what the program writes before it.
    pub plan: String,
    /// What the reviews say below each finding.
    pub evidence: BTreeMap<u32, String>,
    /// What was said and done, turn by turn.
    pub sections: Vec<Section>,
    /// All turns, in their order.
    pub turns: Vec<TurnSpan>,
    /// What each step changed, as far as git still knows.
    pub diffs: BTreeMap<u32, Patch>,
    /// What could not be read, in words.
    pub problem: Option<String>,
    /// The zone of the times on the page.
    pub zone: TimeZone,
}

/// What was said and done in a turn, or between two.
#[derive(Debug, Default)]
pub struct Section {
    /// The turn; `None` between two.
    pub turn: Option<TurnId>,
    /// What, in order.
    pub items: Vec<Item>,
}

/// One thing that was said or done; every text is cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The user said or decided something.
    You(String),
    /// An agent said something.
    Said(Role, String),
    /// An agent thought something.
    Thought(Role, String),
    /// An agent called a tool.
    Call {
        /// What it did, in one line.
        title: String,
        /// How it ended; empty where nothing is known of that.
        status: String,
        /// The end of its output.
        output: String,
    },
    /// The program tells something.
    Fact(String),
}

impl Page {
    /// Gathers a page from a run's files and the repository's trees. Reads the whole log.
    ///
    /// # Errors
    /// There is no run, or its files cannot be read.
    pub async fn gather(layout: WorkdirLayout, ground: &Ground) -> Result<Self, Refusal> {
        let (teller, state, problem) = Teller::read(&layout);
        let Some(state) = state else {
            let problem = problem.unwrap_or_else(|| "there is no run here".to_owned());
            let hint = "`agent-collab history` lists the finished ones";
            return Err(Refusal::error(problem, hint));
        };
        let git = ground.to_read(layout.workdir()).await?;
        let mut diffs = BTreeMap::new();
        let execution = state.execution.as_ref();
        for record in execution.iter().flat_map(|execution| &execution.done) {
            // A tree that is gone leaves its step without a diff; the page tells all else.
            let looked = look(git.as_ref(), execution, &layout, Scope::Step(record.n)).await;
            if let Ok(Changes::Found(patch)) = looked {
                diffs.insert(record.n, patch);
            }
        }
        Ok(Self {
            plan: plan(&layout)?,
            evidence: evidence(&layout)?,
            turns: teller.turns,
            sections: teller.sections,
            diffs,
            problem: problem.map(|problem| clean(&problem)),
            zone: TimeZone::system(),
            state,
        })
    }

    /// An instant as a person reads it: `2026-11-22 14:05`.
    pub fn time(&self, at: At) -> String {
        match Timestamp::from_millisecond(at.0) {
            Ok(timestamp) => timestamp
                .to_zoned(self.zone.clone())
                .strftime("%Y-%m-%d %H:%M")
                .to_string(),
            Err(_) => "unknown".to_owned(),
        }
    }

    /// When nothing happened any more, as far as it is known.
    pub fn end(&self) -> At {
        self.state.course.last().unwrap_or(self.state.created)
    }

    /// The goal's title.
    pub fn title(&self) -> String {
        let goal = self.state.goal.as_ref();
        goal.map_or_else(
            || "a run without a goal".to_owned(),
            |goal| one_line(&goal.title),
        )
    }

    /// The span of a turn.
    pub fn span(&self, turn: &TurnId) -> Option<&TurnSpan> {
        self.turns.iter().rfind(|span| span.turn == *turn)
    }

    /// How long a turn took, and what it used, in words.
    pub fn took(&self, span: &TurnSpan) -> String {
        let used = span.used();
        let n = used.input_tokens.saturating_add(used.output_tokens);
        let tokens = if n > 0 {
            format!(", {n} tokens")
        } else {
            String::new()
        };
        let length = length(between(span.from, span.to, self.end()));
        format!(
            "{}, {length}{tokens}, {}",
            self.time(span.from),
            span.end.word()
        )
    }
}

/// A length of time in milliseconds, in words.
pub fn length(millis: i64) -> String {
    let seconds = millis / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02} min"),
        (hours, minutes, _) => format!("{hours}:{minutes:02} h"),
    }
}

fn plan(layout: &WorkdirLayout) -> Result<String, Refusal> {
    let document = document_files::read_document(&layout.plan())?;
    let text = document.map(|document| String::from_utf8_lossy(&document.bytes).into_owned());
    let text = text.unwrap_or_default();
    Ok(clean(front_matter::split(&text).body.trim()))
}

fn evidence(layout: &WorkdirLayout) -> Result<BTreeMap<u32, String>, Refusal> {
    let kept = iteration_files::load_last_versions(layout, &layout.names().comments, MOST_REVIEWS)?;
    let now = document_files::read_document(&layout.comments())?.map(|document| document.bytes);
    let mut evidence = BTreeMap::new();
    for bytes in kept.into_iter().map(|version| version.bytes).chain(now) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let parts = review::parts(front_matter::split(&text).body);
        let said = parts.evidence.into_iter();
        let said = said.filter(|(_, text)| !text.trim().is_empty());
        evidence.extend(said.map(|(n, text)| (n, clean(&text))));
    }
    Ok(evidence)
}

/// Puts the turns that a state knows among others.
fn keep(turns: &mut Vec<TurnSpan>, state: &State) {
    for span in state.course.turns() {
        match turns.iter_mut().rfind(|kept| kept.turn == span.turn) {
            Some(kept) if kept == span => {}
            Some(kept) => kept.clone_from(span),
            None => turns.push(span.clone()),
        }
    }
}

/// Tells events into sections.
#[derive(Default)]
struct Teller {
    sections: Vec<Section>,
    /// Where the call of an item stands: its section and its place there.
    calls: BTreeMap<String, (usize, usize)>,
    /// All turns, in their order.
    turns: Vec<TurnSpan>,
}

impl Teller {
    /// Reads the whole log; gives where the run stands, and what cannot be read, beside what it tells.
    fn read(layout: &WorkdirLayout) -> (Self, Option<State>, Option<String>) {
        let mut teller = Self::default();
        let mut onlooker = Onlooker::new(layout.clone());
        loop {
            // A state knows the last turns only: each was seen before it is forgotten.
            let seen = onlooker.look_at_each(&mut |before, event| {
                if !matches!(event, Event::Agent { .. } | Event::TaskNews { .. }) {
                    keep(&mut teller.turns, before);
                }
            });
            if seen.anew {
                teller = Self::default();
            }
            for record in &seen.records {
                teller.tell(&record.event);
            }
            if !seen.more {
                seen.state
                    .iter()
                    .for_each(|state| keep(&mut teller.turns, state));
                return (teller, seen.state, seen.problem);
            }
        }
    }

    fn tell(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn, .. } => self.sections.push(Section {
                turn: Some(turn.clone()),
                items: Vec::new(),
            }),
            Event::TurnEnded { .. } => {
                self.add(report::in_words(event).map(|text| Item::Fact(clean(&text))));
                self.sections.push(Section::default());
            }
            Event::GoalGiven { text } | Event::Said { text } => self.you(text),
            Event::GoalConfirmed { title, .. } => self.you(&format!("The goal is: {title}")),
            Event::Answered { answer, .. } => self.you(&answer.in_words()),
            Event::NoteMade { line, text, .. } => {
                self.you(&format!("On line {line} of the plan: {text}"))
            }
            Event::FindingSettled { n } => self.you(&format!("Finding {n} is settled.")),
            Event::PlanEdited { .. } => self.you("I edited the plan."),
            Event::CommentsEdited { .. } => self.you("I edited the review."),
            Event::Interrupted => self.you("I interrupt the turn."),
            Event::Stopped => self.you("I stop the run."),
            Event::Cancelled => self.you("I cancel the run."),
            Event::Agent { role, news, .. } => self.news(*role, event, news),
            // Each is told by the turn's heading, the tables or the user's own words.
            Event::SessionVersion { .. } | Event::PhaseChanged { .. } => {}
            _ => self.add(report::in_words(event).map(|text| Item::Fact(clean(&text)))),
        }
    }

    fn news(&mut self, role: Role, event: &Event, news: &News) {
        match news {
            News::Text { text } => self.add(Some(Item::Said(role, clean(text)))),
            News::Thinking { text } if text.trim().is_empty() => {}
            News::Thinking { text } => self.add(Some(Item::Thought(role, clean(text)))),
            News::ToolStarted { item, tool, title } => {
                self.add(Some(Item::Call {
                    title: one_line(&format!("{tool} {title}")),
                    status: String::new(),
                    output: String::new(),
                }));
                let section = self.sections.len().saturating_sub(1);
                let place = self
                    .sections
                    .last()
                    .map_or(0, |section| section.items.len());
                let place = (section, place.saturating_sub(1));
                self.calls.insert(item.clone(), place);
            }
            News::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => self.end_call(item, (status, *exit_code), output),
            News::FilesChanged { .. } => {}
            _ => self.add(report::in_words(event).map(|text| Item::Fact(clean(text.trim())))),
        }
    }

    fn end_call(&mut self, item: &str, (word, code): (&str, Option<i32>), ended: &str) {
        let place = self.calls.remove(item);
        let item =
            place.and_then(|(section, at)| self.sections.get_mut(section)?.items.get_mut(at));
        if let Some(Item::Call { status, output, .. }) = item {
            *status = match code.filter(|code| *code != 0) {
                Some(code) => format!("{}, exit {code}", clean(word)),
                None => clean(word),
            };
            *output = clean(ended.trim_end());
        }
    }

    fn you(&mut self, text: &str) {
        self.add(Some(Item::You(clean(text))));
    }

    fn add(&mut self, item: Option<Item>) {
        if self.sections.is_empty() {
            self.sections.push(Section::default());
        }
        if let Some(section) = self.sections.last_mut() {
            section.items.extend(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::Created;
    use crate::domain::turn::TurnResult;
    use crate::engine::journal::Journal;
    use crate::store::{TamperGuard, WorkdirNames};

    #[test]
    fn every_turn_of_a_long_run_is_on_its_page() {
        let folder = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        let guard = TamperGuard::open(&layout, &folder.path().join("side")).unwrap();
        let (mut journal, _) = Journal::begin(guard, Created::example()).unwrap();
        let text = "a goal".to_owned();
        journal.record(Event::GoalGiven { text }).unwrap();
        let mut begun = Vec::new();
        for _ in 0..50 {
            let text = "go on".to_owned();
            journal.record(Event::Said { text }).unwrap();
            journal.record(Event::Released).unwrap();
            let turn = journal.state().running.clone().unwrap().order.turn;
            begun.push(turn.clone());
            let result = TurnResult::Completed {
                question: None,
                summary: String::new(),
            };
            journal.record(Event::TurnEnded { turn, result }).unwrap();
        }
        let (teller, state, problem) = Teller::read(&layout);
        let told: Vec<TurnId> = teller.turns.iter().map(|span| span.turn.clone()).collect();
        assert_eq!(told, begun);
        assert!(teller.turns.iter().all(|span| span.to.is_some()));
        assert!(state.unwrap().course.turns().len() < 50);
        assert_eq!(problem, None);
    }
}
