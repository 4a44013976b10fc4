//! Tests that everything that the user types, at any time, stays in the document or is saved.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::config::{self, ConfigFlags, UserDirs};
use crate::domain::effect::Effect;
use crate::domain::event::{Event, RunParameters, WorkflowSettings};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan::PlanStatus;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::turn::{TurnOutcome, TurnPurpose};
use crate::engine::agent_conversation::ConversationEvent;
use crate::engine::documents::document_commit::set_plan_status;
use crate::engine::documents::{
    DocumentWrite, PendingDocument, RunDocuments, WorkflowDocumentLock, find_recovered_draft,
};
use crate::engine::engine_input::EngineInput;
use crate::engine::run_journal::RunJournal;
use crate::engine::run_setup::{AskPolicy, RunSetup};
use crate::engine::{Engine, staging_folder};
use crate::store::document_files;
use crate::store::{DocumentLock, EventLogRecord, TamperGuard, WorkdirLayout, WorkdirNames};

/// A run whose agents are played by the test: it writes what they leave in their folders.
struct ConflictSimulation {
    folder: tempfile::TempDir,
    engine: Engine,
    n: u32,
    /// What the user typed and did not remove.
    typed: BTreeSet<String>,
}

/// The next action; one that does not fit is skipped.
#[derive(Debug, Clone, Copy)]
enum ConflictTestAction {
    /// The user changes a document: at its end, or all of it.
    Edit(ConflictTestDocument, ConflictTestEdit),
    /// The waiting turn starts.
    Begin,
    /// The turn ends with a document.
    End,
    /// The open conflict is answered.
    Resolve(ConflictTestAnswer),
    /// The user edits the merge by hand.
    FixMerge,
}

#[derive(Debug, Clone, Copy)]
enum ConflictTestDocument {
    Plan,
    Comments,
}

#[derive(Debug, Clone, Copy)]
enum ConflictTestEdit {
    Append,
    Rewrite,
}

#[derive(Debug, Clone, Copy)]
enum ConflictTestAnswer {
    Yours,
    Agents,
    Both,
}

fn deed() -> impl Strategy<Value = ConflictTestAction> {
    let name = prop_oneof![
        Just(ConflictTestDocument::Plan),
        Just(ConflictTestDocument::Comments)
    ];
    let how =
        prop_oneof![3 => Just(ConflictTestEdit::Append), 1 => Just(ConflictTestEdit::Rewrite)];
    prop_oneof![
        3 => (name, how).prop_map(|(name, how)| ConflictTestAction::Edit(name, how)),
        3 => Just(ConflictTestAction::Begin),
        3 => Just(ConflictTestAction::End),
        1 => Just(ConflictTestAction::Resolve(ConflictTestAnswer::Yours)),
        1 => Just(ConflictTestAction::Resolve(ConflictTestAnswer::Agents)),
        3 => Just(ConflictTestAction::Resolve(ConflictTestAnswer::Both)),
        1 => Just(ConflictTestAction::FixMerge),
    ]
}

impl ConflictSimulation {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let layout = WorkdirLayout::new(&root, WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        let places = UserDirs {
            home: root.join("home"),
            config_dir: root.join("home/config"),
            state_dir: root.join("home/state"),
            cache_dir: root.join("home/cache"),
        };
        let loaded = config::load(&places, &root, &ConfigFlags::default()).unwrap();
        let guard = TamperGuard::open(&layout, &root.join("side")).unwrap();
        let (journal, _) = RunJournal::create(guard, created()).unwrap();
        let setup = RunSetup::example(&root, &layout, &places, loaded.config, AskPolicy::Deny);
        let mut engine = Engine::new(setup, journal, None, None, CancellationToken::new());
        let text = "a goal".to_owned();
        engine
            .apply_event(Event::GoalGiven { text: text.clone() })
            .unwrap();
        let title = text.clone();
        engine
            .apply_event(Event::GoalConfirmed { title, text })
            .unwrap();
        Self {
            folder,
            engine,
            n: 0,
            typed: BTreeSet::new(),
        }
    }

    fn layout(&self) -> &WorkdirLayout {
        self.engine.journal().layout()
    }

    fn next(&mut self, word: &str) -> String {
        self.n += 1;
        format!("{word}-{}.", self.n)
    }

    fn is_asked(&self, fits: impl Fn(&QuestionKind) -> bool) -> Option<u32> {
        let question = self.engine.state().awaiting.as_ref()?;
        fits(&question.kind).then_some(question.id)
    }

    fn answer(&mut self, id: u32, answer: QuestionAnswer) {
        self.engine
            .apply_event(Event::QuestionAnswered { id, answer })
            .unwrap();
    }

    fn perform(&mut self, deed: ConflictTestAction) {
        match deed {
            ConflictTestAction::Edit(name, how) => self.edit(name, how),
            ConflictTestAction::Begin => self.begin(),
            ConflictTestAction::End => self.end(),
            ConflictTestAction::Resolve(whose) => self.settle(whose),
            ConflictTestAction::FixMerge => self.mend(),
        }
    }

    fn edit(&mut self, name: ConflictTestDocument, how: ConflictTestEdit) {
        let path = match name {
            ConflictTestDocument::Plan => self.layout().plan(),
            ConflictTestDocument::Comments => self.layout().comments(),
        };
        let typed = self.next("typed");
        let before = read(&path);
        let text = match how {
            ConflictTestEdit::Append => format!("{before}{typed}\n"),
            ConflictTestEdit::Rewrite => format!("# Mine\n\n1. [ ] {typed}\n"),
        };
        // What the user removes is not expected any more.
        self.typed
            .retain(|word| !before.contains(word) || text.contains(word));
        self.typed.insert(typed);
        fs::write(path, text).unwrap();
    }

    fn begin(&mut self) {
        if let Some(id) = self.is_asked(|kind| matches!(kind, QuestionKind::NoDocument { .. })) {
            self.answer(id, QuestionAnswer::Retry);
        }
        if self
            .is_asked(|kind| matches!(kind, QuestionKind::Gate { .. }))
            .is_none()
        {
            return;
        }
        self.engine.record_user_edits().unwrap();
        // The effect is not performed: the test plays the agent.
        self.engine
            .run
            .journal
            .record(Event::TurnSendConfirmed)
            .unwrap();
        let order = self.engine.state().running.clone().unwrap().order;
        let session = self.engine.state().session(order.purpose.role()).unwrap();
        let dir = self.layout().staging_folder(&session.id);
        let staging = staging_folder::prepare_staging(self.layout(), dir).unwrap();
        let document = PendingDocument::new(order, String::new(), staging);
        self.engine.documents.set_pending(document);
    }

    fn end(&mut self) {
        if self.engine.state().running.is_none() {
            return;
        }
        self.finish_writing();
        self.engine.record_user_edits().unwrap();
        self.turn_ends();
    }

    /// Writes the agent's document.
    fn finish_writing(&mut self) {
        let running = self.engine.state().running.clone().unwrap();
        let word = self.next("agent");
        let staging = self
            .engine
            .documents
            .pending
            .as_ref()
            .unwrap()
            .staging
            .clone();
        match running.order.purpose {
            TurnPurpose::WritePlan | TurnPurpose::Respond => {
                let before = read(&staging.plan);
                let text = if before.contains("1. [ ]") {
                    before.replacen("1. [ ]", &format!("1. [ ] {word}"), 1)
                } else {
                    format!("# Task\n\n1. [ ] {word}\n")
                };
                fs::write(&staging.plan, text).unwrap();
                fs::write(&staging.comments, format!("1. accepted: {word}\n")).unwrap();
            }
            _ => {
                let text = format!(
                    "[CHANGES_REQUIRED]\n\n1. [major] {word}\n   Place: step 1\n   Scenario: it goes wrong\n"
                );
                fs::write(&staging.comments, text).unwrap();
            }
        }
    }

    fn turn_ends(&mut self) {
        let result = TurnOutcome::completed("");
        let turn = self.engine.state().running.clone().unwrap().order.turn;
        self.engine
            .apply_event(Event::TurnEnded { turn, result })
            .unwrap();
    }

    fn settle(&mut self, whose: ConflictTestAnswer) {
        let answer = match whose {
            ConflictTestAnswer::Yours => QuestionAnswer::Discard,
            ConflictTestAnswer::Agents => QuestionAnswer::Overwrite,
            ConflictTestAnswer::Both => QuestionAnswer::Merge,
        };
        if let Some(id) = self.is_asked(|kind| matches!(kind, QuestionKind::Conflict { .. })) {
            self.answer(id, answer);
        }
    }

    fn mend(&mut self) {
        let Ok(path) = self.engine.prepare_merge_file() else {
            return;
        };
        let typed = self.next("typed");
        let is_text = |line: &&str| {
            !["<<<<<<<", "=======", ">>>>>>>"]
                .iter()
                .any(|mark| line.starts_with(mark))
        };
        let mut n = 0;
        let numbered = |line: &str| match line.split_once(". [ ]") {
            Some((_, text)) => {
                n += 1;
                format!("{n}. [ ]{text}\n")
            }
            None => format!("{line}\n"),
        };
        let text: String = read(&path).lines().filter(is_text).map(numbered).collect();
        fs::write(path, format!("{text}{typed}\n")).unwrap();
        self.typed.insert(typed);
    }

    /// Returns which of the user's words were lost.
    fn lost(&self) -> Vec<&String> {
        let layout = self.layout();
        let mut texts = vec![read(&layout.plan()), read(&layout.comments())];
        for folder in [layout.conflicts(), layout.merges()] {
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            texts.extend(files.map(|entry| read(&entry.path())));
        }
        let kept = |word: &&String| texts.iter().any(|text| text.contains(*word));
        self.typed.iter().filter(|word| !kept(word)).collect()
    }

    fn kept(&self) -> Vec<String> {
        let files = fs::read_dir(self.layout().conflicts())
            .into_iter()
            .flatten();
        let mut kept: Vec<String> = files.flatten().map(|entry| read(&entry.path())).collect();
        kept.sort();
        kept
    }
}

fn created() -> RunParameters {
    let example = RunParameters::example();
    RunParameters {
        settings: WorkflowSettings {
            max_iterations: 1_000,
            stall_limit: 1_000,
            ..example.settings
        },
        ..example
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Plays until the planner answers a review, and both the user and the planner change the plan.
fn in_conflict(yours: (&str, &str)) -> (ConflictSimulation, PathBuf) {
    let mut world = ConflictSimulation::new();
    for deed in [
        ConflictTestAction::Begin,
        ConflictTestAction::End,
        ConflictTestAction::Begin,
        ConflictTestAction::End,
        ConflictTestAction::Begin,
    ] {
        world.perform(deed);
    }
    let plan = world.layout().plan();
    let text = read(&plan).replace(yours.0, yours.1);
    fs::write(&plan, text).unwrap();
    world.perform(ConflictTestAction::End);
    assert!(
        world
            .is_asked(|kind| matches!(kind, QuestionKind::Conflict { clash: None, .. }))
            .is_some()
    );
    (world, plan)
}

#[test]
fn changes_in_different_places_are_merged_and_both_texts_are_kept() {
    let (mut world, plan) = in_conflict(("# Task", "# Task of mine"));
    let mine = read(&plan);
    world.perform(ConflictTestAction::Resolve(ConflictTestAnswer::Both));
    let text = read(&plan);
    assert!(
        text.contains("# Task of mine") && text.contains("1. [ ] agent-3. agent-1."),
        "{text}"
    );
    let kept = world.kept();
    assert!(kept.contains(&mine), "{kept:?}");
    assert!(
        kept.iter()
            .any(|text| text.contains("# Task\n") && text.contains("agent-3."))
    );
    assert!(
        world.engine.state().awaiting.is_some(),
        "the next turn waits"
    );
}

#[test]
fn a_clash_is_put_right_by_hand_in_a_file_of_its_own() {
    let (mut world, plan) = in_conflict(("1. [ ]", "1. [ ] mine"));
    let mine = read(&plan);
    world.perform(ConflictTestAction::Resolve(ConflictTestAnswer::Both));
    let clashes = |world: &ConflictSimulation| {
        world.is_asked(|kind| matches!(kind, QuestionKind::Conflict { clash: Some(_), .. }))
    };
    assert!(clashes(&world).is_some());
    assert_eq!(read(&plan), mine, "nothing is written to the plan");
    world.perform(ConflictTestAction::Resolve(ConflictTestAnswer::Both));
    assert!(clashes(&world).is_some(), "the markers are still there");
    let merge = world.engine.prepare_merge_file().unwrap();
    fs::write(&merge, "# Task\n\n1. [ ] by hand\n").unwrap();
    world.perform(ConflictTestAction::Resolve(ConflictTestAnswer::Both));
    assert!(clashes(&world).is_none());
    assert!(read(&plan).contains("1. [ ] by hand"));
    assert!(!merge.exists());
    assert!(
        world
            .kept()
            .iter()
            .any(|text| text == "# Task\n\n1. [ ] by hand\n")
    );
}

#[tokio::test]
async fn a_document_that_the_disk_refuses_is_kept_and_written_later() {
    let mut world = ConflictSimulation::new();
    for deed in [
        ConflictTestAction::Begin,
        ConflictTestAction::End,
        ConflictTestAction::Begin,
        ConflictTestAction::End,
        ConflictTestAction::Begin,
    ] {
        world.perform(deed);
    }
    let comments = world.layout().comments();
    let beside = comments.with_extension("beside");
    let running = world.engine.state().running.clone().unwrap();
    world.finish_writing();
    // This is between the end of the turn and the commit of its document.
    fs::rename(&comments, &beside).unwrap();
    fs::create_dir(&comments).unwrap();
    world.turn_ends();
    assert_eq!(world.engine.outcome(), None);
    assert!(
        world.engine.documents.pending.is_some(),
        "the text is not lost"
    );
    let told = world.engine.take_recorded();
    let troubles = told
        .iter()
        .filter(|record| matches!(&record.event, Event::WarningRaised { what, message } if what == "commit a document" && message.contains("it is tried again")));
    assert_eq!(troubles.count(), 1);

    fs::remove_dir(&comments).unwrap();
    fs::rename(&beside, &comments).unwrap();
    let turn = running.order.turn;
    world
        .engine
        .handle_input(EngineInput::RetryDocumentCommit(turn.clone()))
        .unwrap();
    let answered =
        |record: &EventLogRecord<Event>| matches!(record.event, Event::ResponseCommitted { .. });
    assert!(world.engine.take_recorded().iter().any(answered));
    world
        .engine
        .handle_input(EngineInput::RetryDocumentCommit(turn))
        .unwrap();
    assert!(!world.engine.take_recorded().iter().any(answered), "once");
}

/// Creates a planner's answer that is about to be committed while another program locks the review.
fn held_by_another() -> (ConflictSimulation, DocumentLock) {
    let mut world = ConflictSimulation::new();
    for deed in [
        ConflictTestAction::Begin,
        ConflictTestAction::End,
        ConflictTestAction::Begin,
        ConflictTestAction::End,
        ConflictTestAction::Begin,
    ] {
        world.perform(deed);
    }
    world.finish_writing();
    world.engine.take_recorded();
    let lock = DocumentLock::try_acquire(&world.layout().comments()).unwrap();
    world.turn_ends();
    let told = world.engine.take_recorded();
    let is_too_soon = |record: &&EventLogRecord<Event>| {
        matches!(
            record.event,
            Event::WarningRaised { .. } | Event::ResponseCommitted { .. }
        )
    };
    assert_eq!(
        told.iter().find(is_too_soon),
        None,
        "it waits beside the loop"
    );
    (world, lock)
}

fn is_committed(world: &mut ConflictSimulation) -> bool {
    let answered =
        |record: &EventLogRecord<Event>| matches!(record.event, Event::ResponseCommitted { .. });
    world.engine.take_recorded().iter().any(answered)
}

async fn take_next(world: &mut ConflictSimulation) {
    let inward = world.engine.next_input().await;
    world.engine.handle_input(inward).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_document_that_another_program_holds_is_written_when_it_lets_go() {
    let (mut world, lock) = held_by_another();
    drop(lock);
    take_next(&mut world).await;
    assert!(is_committed(&mut world));
}

#[tokio::test(start_paused = true)]
async fn a_document_that_another_program_keeps_is_told_of_and_tried_again() {
    let (mut world, lock) = held_by_another();
    take_next(&mut world).await;
    let told = world.engine.take_recorded();
    let is_trouble = |record: &EventLogRecord<Event>| matches!(&record.event, Event::WarningRaised { message, .. } if message.contains("comments.md.lock for 5 seconds"));
    assert!(told.iter().any(is_trouble), "{told:?}");
    drop(lock);
    take_next(&mut world).await;
    assert!(is_committed(&mut world));
}

#[tokio::test(start_paused = true)]
async fn a_document_that_waits_is_not_written_for_a_run_that_was_stopped() {
    let (mut world, lock) = held_by_another();
    let plan = read(&world.layout().plan());
    world.engine.apply_event(Event::RunStopped).unwrap();
    drop(lock);
    take_next(&mut world).await;
    assert!(!is_committed(&mut world));
    assert_eq!(read(&world.layout().plan()), plan);
}

/// Creates a run whose planner writes the plan.
fn planning() -> ConflictSimulation {
    let mut world = ConflictSimulation::new();
    world.perform(ConflictTestAction::Begin);
    world
}

/// Queues remarks that wait because another program locks the review.
fn remarks_wait(world: &mut ConflictSimulation) -> DocumentLock {
    let lock = DocumentLock::try_acquire(&world.layout().comments()).unwrap();
    let remarks = Effect::AppendRemarks("more".to_owned());
    assert_eq!(world.engine.perform_or_queue(remarks).unwrap(), []);
    lock
}

#[tokio::test(start_paused = true)]
async fn nor_is_one_that_stands_behind_a_writing_that_waits() {
    let mut world = planning();
    world.finish_writing();
    let lock = remarks_wait(&mut world);
    world.turn_ends();
    world.engine.apply_event(Event::RunStopped).unwrap();
    drop(lock);
    take_next(&mut world).await;
    let layout = world.layout();
    assert!(read(&layout.comments()).contains("more"));
    assert_eq!(read(&layout.plan()), "");
}

#[tokio::test(start_paused = true)]
async fn a_document_that_waits_outlives_the_program() {
    for stands_behind in [false, true] {
        let mut world = planning();
        // Text that is only in the message is not on the disk yet.
        let held = world.engine.documents.pending.as_mut().unwrap();
        held.final_text = "# Task\n\n1. [ ] as it was said\n".to_owned();
        let lock = if stands_behind {
            remarks_wait(&mut world)
        } else {
            DocumentLock::try_acquire(&world.layout().plan()).unwrap()
        };
        world.turn_ends();
        // A restarted program knows no more than this.
        let found = find_recovered_draft(&world.engine.run).unwrap();
        assert!(
            matches!(&found, Some(Event::DraftFound { files, .. }) if files[0].name == "plan.md"),
            "{found:?}"
        );
        drop(lock);
        take_next(&mut world).await;
        assert!(read(&world.layout().plan()).contains("as it was said"));
        assert_eq!(find_recovered_draft(&world.engine.run).unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_a_writing_that_waits_is_done_after_it() {
    let mut world = ConflictSimulation::new();
    let (log, comments) = (world.layout().log(), world.layout().comments());
    let lock = DocumentLock::try_acquire(&comments).unwrap();
    for effect in [
        Effect::AppendRemarks("one".to_owned()),
        Effect::AppendLog("two".to_owned()),
        Effect::AppendRemarks("three".to_owned()),
    ] {
        assert_eq!(world.engine.perform_or_queue(effect).unwrap(), []);
    }
    let before = (read(&log), read(&comments));
    assert!(
        !before.0.contains("two") && before.1.is_empty(),
        "{before:?}"
    );
    drop(lock);
    take_next(&mut world).await;
    assert!(read(&log).contains("two"));
    let text = read(&comments);
    let at = |word| text.find(word).unwrap();
    assert!(at("one") < at("three"), "{text}");
}

#[test]
fn what_nothing_waits_for_is_told_once_and_the_run_goes_on() {
    let mut world = ConflictSimulation::new();
    for _ in 0..2 {
        let told = ConversationEvent::RawStreamFailed("no space".to_owned());
        let session = world.engine.state().planner.id.clone();
        world
            .engine
            .handle_input(EngineInput::ConversationEvent(session, told))
            .unwrap();
    }
    let told = world.engine.take_recorded();
    let is_trouble =
        |record: &&EventLogRecord<Event>| matches!(record.event, Event::WarningRaised { .. });
    assert_eq!(told.iter().filter(is_trouble).count(), 1);
    assert_eq!(world.engine.outcome(), None);
}

#[test]
fn an_edit_while_the_conflict_is_open_is_looked_at_again() {
    let (mut world, plan) = in_conflict(("# Task", "# Task of mine"));
    fs::write(&plan, format!("{}\nlater\n", read(&plan))).unwrap();
    world.perform(ConflictTestAction::Resolve(ConflictTestAnswer::Agents));
    assert!(!read(&plan).contains("later"));
    assert!(world.kept().iter().any(|text| text.contains("later")));
}

#[test]
fn what_was_taken_in_before_a_turn_is_kept_when_its_review_takes_it_away() {
    let mut world = ConflictSimulation::new();
    for deed in [
        ConflictTestAction::Begin,
        ConflictTestAction::End,
        ConflictTestAction::Edit(ConflictTestDocument::Comments, ConflictTestEdit::Append),
    ] {
        world.perform(deed);
    }
    for deed in [ConflictTestAction::Begin, ConflictTestAction::End] {
        world.perform(deed);
    }
    let comments = read(&world.layout().comments());
    assert!(!comments.contains("typed"), "{comments}");
    assert_eq!(world.lost(), [""; 0]);
    drop(world.folder);
}

/// Ends the running turn and writes its document, is killed before that is recorded, and starts again; returns the
/// kinds of what is recorded then.
fn kinds_after_kill(world: &mut ConflictSimulation) -> Vec<String> {
    world.finish_writing();
    let order = world.engine.state().running.clone().unwrap().order;
    let (turn, result) = (order.turn.clone(), TurnOutcome::completed(""));
    let ended = Event::TurnEnded { turn, result };
    world.engine.run.journal.record(ended).unwrap();
    let write = DocumentWrite::TurnDocument(order);
    let unrecorded = world.engine.documents.write(&mut world.engine.run, write);
    assert_eq!(unrecorded.len(), 1, "{unrecorded:?}");
    world.engine.documents = RunDocuments::default();
    drop(world.engine.take_recorded());
    world.engine.resume(Gate::Manual).unwrap();
    recorded_kinds(world)
}

fn recorded_kinds(world: &mut ConflictSimulation) -> Vec<String> {
    let kind = |record: EventLogRecord<Event>| {
        let value = serde_json::to_value(record.event).unwrap();
        value["kind"].as_str().unwrap().to_owned()
    };
    let recorded = world.engine.take_recorded();
    recorded.into_iter().map(kind).collect()
}

#[test]
fn a_document_that_is_written_and_not_recorded_is_no_edit_of_the_user() {
    let mut world = ConflictSimulation::new();
    for committed in ["plan.committed", "review.committed", "response.committed"] {
        world.perform(ConflictTestAction::Begin);
        let kinds = kinds_after_kill(&mut world);
        assert!(kinds.iter().any(|kind| kind == committed), "{kinds:?}");
        let wrong = ["plan.edited", "comments.edited", "document.conflict"];
        let is_wrong = |kind: &String| wrong.contains(&kind.as_str());
        assert!(!kinds.iter().any(is_wrong), "{committed}: {kinds:?}");
    }
    let plan = world.engine.state().plan.clone().unwrap();
    assert_eq!(plan.version, 2);
    assert!(read(&world.layout().plan()).contains("\nversion: 2\n"));
    assert_eq!(world.kept(), [""; 0]);
}

#[test]
fn a_mark_that_is_written_and_not_recorded_is_no_edit_and_what_the_user_changes_back_is() {
    let mut world = planning();
    world.perform(ConflictTestAction::End);
    let path = world.layout().plan();
    let known = document_files::read_document(&path)
        .unwrap()
        .unwrap()
        .sha256;
    let lock = WorkflowDocumentLock::try_acquire(world.engine.journal().guard()).unwrap();
    let marked = set_plan_status(&lock, &known, PlanStatus::Approved, UnixMillis(0)).unwrap();
    assert!(marked.is_some());
    drop(lock);
    let marked = read(&path);
    let changed = format!("{marked}mine\n");
    drop(world.engine.take_recorded());
    for (text, kind) in [
        (&marked, "plan.marked"),
        (&changed, "plan.edited"),
        (&marked, "plan.edited"),
    ] {
        fs::write(&path, text).unwrap();
        world.engine.record_user_edits().unwrap();
        assert_eq!(recorded_kinds(&mut world), [kind]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_that_the_user_typed_is_lost(deeds in proptest::collection::vec(deed(), 1..40)) {
        let mut world = ConflictSimulation::new();
        for deed in deeds {
            world.perform(deed);
            prop_assert_eq!(world.lost(), [""; 0], "after {:?}", deed);
            prop_assert!(world.engine.outcome().is_none(), "{:?}", world.engine.outcome());
        }
    }
}

#[tokio::test]
async fn the_status_of_a_plan_in_the_users_editor_is_written_once_that_is_closed() {
    let mut simulation = ConflictSimulation::new();
    simulation.begin();
    simulation.end();
    simulation.engine.set_plan_in_editor(true).unwrap();
    simulation.begin();
    let pending = simulation.engine.documents.pending.as_ref().unwrap();
    fs::write(&pending.staging.comments, "[APPROVED]\n").unwrap();
    simulation.turn_ends();
    assert_eq!(simulation.engine.state().phase, Phase::Approved);
    let plan = simulation.layout().plan();
    let status = || {
        let text = read(&plan);
        let line = text.lines().find(|line| line.starts_with("status: "));
        line.unwrap().to_owned()
    };
    assert_eq!(status(), "status: reviewing");
    simulation.engine.set_plan_in_editor(false).unwrap();
    assert_eq!(status(), "status: approved");
    assert_eq!(
        simulation.engine.state().plan.as_ref().unwrap().file_sha256,
        document_files::hash_document(&fs::read(&plan).unwrap())
    );
}
