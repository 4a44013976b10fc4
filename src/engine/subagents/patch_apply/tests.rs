//! Tests of a child's changes, the user's own in the meantime, and the user's decision: nothing is lost in
//! any order.

use std::collections::BTreeMap;
use std::process::Command;

use proptest::prelude::*;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::domain::event::{ApprovalDecision, CallPermission};
use crate::domain::ids::TurnId;
use crate::domain::task::{TaskOrder, TaskWaitMode};
use crate::engine::approvals::{ApprovalTestRun, play_running_turn};
use crate::engine::engine_input::EngineInput;
use crate::engine::git::{GitRepository, GitSettings, RepositoryDiscovery};
use crate::engine::subagents::ActiveTask;
use crate::engine::subagents::task_transcript::TaskTranscript;
use crate::engine::subagents::write_access::plan_child_worktree;
use crate::engine::{Engine, LeftoverKind};

const PATHS: [&str; 4] = ["a", "b", "c", "d/e"];

/// The content of each path; a path that is missing here does not exist.
type PatchTestFiles = BTreeMap<&'static str, String>;

/// A child whose agent the test simulates, during a step whose agent the test simulates, too.
struct PatchSimulation {
    world: ApprovalTestRun,
    plot: Arc<ChildWorktree>,
    session: SessionId,
}

fn git(folder: &Path, arguments: &str) -> String {
    let mut command = Command::new("git");
    command.args(arguments.split(' ')).current_dir(folder);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn lay(folder: &Path, files: &PatchTestFiles) {
    for path in PATHS {
        let place = folder.join(path);
        match files.get(path) {
            Some(text) => {
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                std::fs::write(place, text).unwrap();
            }
            None => drop(std::fs::remove_file(place)),
        }
    }
}

fn found(folder: &Path) -> PatchTestFiles {
    let read = |path| Some((path, std::fs::read_to_string(folder.join(path)).ok()?));
    PATHS.into_iter().filter_map(read).collect()
}

impl PatchSimulation {
    async fn new(base: &PatchTestFiles) -> Self {
        let mut world = ApprovalTestRun::new();
        let engine = &mut world.engine;
        let root = engine.run.setup.root.clone();
        git(&root, "init -q -b main");
        lay(&root, base);
        let mut settings = GitSettings::new("run_1", CancellationToken::new());
        settings
            .env
            .insert("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned());
        let RepositoryDiscovery::Found(repository) =
            GitRepository::discover(&root, settings).await.unwrap()
        else {
            panic!("a repository");
        };
        engine.run.repository = Some(repository);
        let session = SessionId::new("ses_w");
        let turn = TurnId::new("ses_w.1");
        let plot = Arc::new(plan_child_worktree(&engine.run, &session, &turn, None).unwrap());
        plot.create().await.unwrap();
        let order = TaskOrder {
            session: session.clone(),
            parent: None,
            n: 1,
            first_agent: None,
            agent: "general".to_owned(),
            description: "writes".to_owned(),
            adapter: "codex".to_owned(),
            model: None,
            waits: TaskWaitMode::Background,
            turn,
            speaks: None,
            tree: Some(plot.path.clone()),
        };
        engine
            .apply_event(Event::TaskStarted(order.clone()))
            .unwrap();
        let at_task = ActiveTask {
            order,
            cancel: CancellationToken::new(),
            time_limit: Duration::from_secs(60),
            stop_reason: None,
            waiters: Vec::new(),
            worktree: Some(plot.clone()),
            stage: ActiveTaskStage::Working,
            transcript: TaskTranscript::default(),
        };
        engine
            .subagents
            .active_tasks
            .insert(session.clone(), at_task);
        Self {
            world,
            plot,
            session,
        }
    }

    fn root(&self) -> PathBuf {
        self.world.engine.run.setup.root.clone()
    }

    fn ends(&mut self, end: TaskOutcome) {
        let ended = ChildEvent::Finished {
            end,
            took: Duration::ZERO,
            tampered: Ok(Vec::new()),
        };
        self.world
            .engine
            .handle_input(EngineInput::ChildEvent(self.session.clone(), ended))
            .unwrap();
    }

    async fn until(&mut self, is_so: impl Fn(&Engine) -> bool) {
        let engine = &mut self.world.engine;
        while !is_so(engine) {
            let inward = timeout(Duration::from_secs(60), engine.next_input()).await;
            engine
                .handle_input(inward.expect("something happens"))
                .unwrap();
        }
    }

    /// Waits until the patch is done or the user is asked, and returns which.
    async fn until_asked(&mut self) -> bool {
        let session = self.session.clone();
        let is_over = move |engine: &Engine| !engine.subagents.active_tasks.contains_key(&session);
        self.until(|engine| is_over(engine) || !engine.state().approvals.is_empty())
            .await;
        !is_over(&self.world.engine)
    }

    fn answer(&mut self, answer: ApprovalDecision) {
        let asked = &self.world.engine.state().approvals;
        let asked = asked.iter().find(|asked| asked.request.own == "patch");
        let call = asked.unwrap().n;
        self.world.engine.decide_approval(call, answer).unwrap();
    }

    fn patch(&self) -> Option<TaskPatch> {
        self.world
            .engine
            .run
            .child_session(&self.session)?
            .patch
            .clone()
    }

    fn kept(&self, ending: &str) -> String {
        let name = format!(".agent-collab/patches/ses_w_1{ending}.patch");
        std::fs::read_to_string(self.root().join(name)).unwrap_or_default()
    }

    fn nothing_is_left(&self) {
        assert!(!self.plot.path.exists());
        assert_eq!(self.plot.registry.list_records().unwrap().records, []);
        assert!(!self.root().join(".git/worktrees").exists());
        let turns = std::fs::read_dir(self.root().join(".agent-collab/turns")).unwrap();
        let put = turns
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("put-"));
        assert_eq!(put.count(), 0);
    }
}

fn files(of: &'static str) -> impl Strategy<Value = PatchTestFiles> {
    let text = move |path: &'static str| {
        prop_oneof![
            2 => Just(Some(format!("base {path}\n"))),
            1 => Just(Some(format!("{of} {path}\n"))),
            1 => Just(Some(format!("same {path}\n"))),
            1 => Just(None),
        ]
    };
    PATHS.map(text).prop_map(|texts| {
        let named = PATHS.into_iter().zip(texts);
        named
            .filter_map(|(path, text)| Some((path, text?)))
            .collect()
    })
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nothing_of_either_side_is_lost(
        base in files("base"), childs in files("child"), users in files("user"),
        says_yes in any::<bool>(), completes in any::<bool>(),
    ) {
        block_on(async {
            let mut played = PatchSimulation::new(&base).await;
            lay(&played.plot.path, &childs);
            lay(&played.root(), &users);
            played.ends(if completes {
TaskOutcome::from_last_message("done")
} else {
TaskOutcome::Cancelled { error: "stopped".to_owned() }
});
            let was_asked = played.until_asked().await;
            if was_asked {
                played.answer(if says_yes { ApprovalDecision::AllowOnce } else { ApprovalDecision::DenyAndStop });
                assert!(!played.until_asked().await);
            }
            let now = found(&played.root());
            let patch = played.patch();
            let state = patch.as_ref().map(|patch| patch.state);
            for path in PATHS {
                let [base, childs, users, now] = [&base, &childs, &users, &now].map(|files| files.get(path));
                match (state, childs == base, users == base || users == childs) {
                    // What the child did not change is the user's version.
                    (_, true, _) | (None, ..) => assert_eq!(now, users, "{path}"),
                    (Some(PatchState::Applied), _, is_alone) => {
                        assert_eq!(now, childs, "{path}");
                        let replaced = played.kept("-replaced");
                        assert!(is_alone || users.is_none_or(|text| replaced.contains(text.trim())), "{path}: {replaced}");
                    }
                    (Some(_), ..) => {
                        assert_eq!(now, users, "{path}");
                        let kept = played.kept("");
                        assert!(kept.contains(childs.or(base).unwrap().trim()), "{path}: {kept}");
                    }
                }
            }
            let is_same = base == childs;
            assert_eq!(state, match () {
                () if is_same => None,
                () if completes && (says_yes || !was_asked) => Some(PatchState::Applied),
                () => Some(PatchState::Kept),
            });
            played.nothing_is_left();
        });
    }
}

fn base() -> PatchTestFiles {
    PATHS
        .into_iter()
        .map(|path| (path, format!("base {path}\n")))
        .collect()
}

#[tokio::test]
async fn a_conflict_is_asked_about_with_whose_it_is_and_what_it_would_change() {
    let mut played = PatchSimulation::new(&base()).await;
    std::fs::write(played.plot.path.join("a"), "child a\n").unwrap();
    std::fs::write(played.plot.path.join("b"), "child b\n").unwrap();
    std::fs::write(played.root().join("a"), "user a\n").unwrap();
    played.ends(TaskOutcome::from_last_message("done"));
    assert!(played.until_asked().await);
    let engine = &played.world.engine;
    let asked = &engine.state().approvals[0];
    assert_eq!(asked.child, Some("you ▸ general#1".to_owned().into()));
    assert_eq!(
        (&asked.permission, asked.targets.as_slice()),
        (
            &CallPermission::Edit,
            ["a".to_owned(), "b".to_owned()].as_slice()
        )
    );
    assert!(asked.offers.is_empty());
    let why = asked.why.as_ref().unwrap();
    assert!(
        why.reason
            .starts_with("a changed here too since the task started"),
        "{why:?}"
    );
    let shown = engine.pending_approval_detail(asked.n).unwrap();
    for line in ["-user a", "+child a", "+child b"] {
        assert!(shown.diff.contains(line), "{}", shown.diff);
    }
    // No approval that covers an edit of the files allows it.
    let engine = &mut played.world.engine;
    engine
        .approvals
        .allow_covered_calls(&mut engine.run)
        .unwrap();
    engine.settle().unwrap();
    assert_eq!(played.world.engine.state().approvals.len(), 1);
    // What was not shown is not written: another conflict asks again.
    std::fs::write(played.root().join("b"), "user b\n").unwrap();
    played.answer(ApprovalDecision::AllowOnce);
    let both = |engine: &Engine| {
        let asked = engine.state().approvals.first();
        asked.is_some_and(|asked| {
            asked
                .why
                .as_ref()
                .is_some_and(|why| why.reason.starts_with("a, b changed"))
        })
    };
    played.until(both).await;
    played.answer(ApprovalDecision::DenyWithReason(
        "mine is better".to_owned(),
    ));
    assert!(!played.until_asked().await);
    let patch = played.patch().unwrap();
    assert_eq!(
        (patch.state, patch.why.as_str()),
        (PatchState::Kept, "mine is better")
    );
    assert_eq!(
        std::fs::read_to_string(played.root().join("b")).unwrap(),
        "user b\n"
    );
    played.nothing_is_left();
}

#[tokio::test]
async fn between_the_turns_of_steps_changes_wait() {
    let mut played = PatchSimulation::new(&base()).await;
    std::fs::write(played.plot.path.join("c"), "child c\n").unwrap();
    played.world.engine.conversations.close_turn();
    played.ends(TaskOutcome::from_last_message("done"));
    let trees = played.plot.registry.clone();
    played
        .until(|engine| {
            let patch = engine
                .run
                .child_session(&SessionId::new("ses_w"))
                .and_then(|child| child.patch.as_ref());
            patch.is_some() && trees.list_records().unwrap().records.is_empty()
        })
        .await;
    assert_eq!(played.patch().unwrap().state, PatchState::Waiting);
    assert_eq!(found(&played.root()), base());
    let engine = &mut played.world.engine;
    let _orders = play_running_turn(engine);
    engine.subagents.continue_waiting_patches(&mut engine.run);
    assert!(!played.until_asked().await);
    assert_eq!(found(&played.root())["c"], "child c\n");
    played.nothing_is_left();
}

#[tokio::test]
async fn who_is_stopped_while_it_is_asked_about_keeps_its_changes() {
    let mut played = PatchSimulation::new(&base()).await;
    std::fs::write(played.plot.path.join("a"), "child a\n").unwrap();
    std::fs::write(played.root().join("a"), "user a\n").unwrap();
    played.ends(TaskOutcome::from_last_message("done"));
    assert!(played.until_asked().await);
    assert!(
        played
            .world
            .engine
            .stop_child_task(&played.session.clone(), "enough")
    );
    let session = played.session.clone();
    played
        .until(|engine| !engine.subagents.active_tasks.contains_key(&session))
        .await;
    assert_eq!(played.patch().unwrap().state, PatchState::Kept);
    assert!(played.world.engine.state().approvals.is_empty());
    assert!(played.kept("").contains("+child a"));
    played.nothing_is_left();
}

#[tokio::test]
async fn what_was_being_written_when_the_program_ended_is_gone_through_with_path_by_path() {
    let played = PatchSimulation::new(&base()).await;
    for path in ["a", "b", "c"] {
        let text = format!("child {path}\n");
        std::fs::write(played.plot.path.join(path), text).unwrap();
    }
    let patch = played.plot.save_patch().await.unwrap().unwrap();
    let trees = [&patch.base, &patch.tree].map(|tree| TreeId(tree.clone()));
    let prepared = patch_writer::merge_patch(&played.plot, trees)
        .await
        .unwrap();
    let between = Some((prepared.merge.ours.0, prepared.target.0));
    let patch = TaskPatch { between, ..patch };
    // One file is written, one was saved by the user since, and one was saved at that exact moment.
    let root = played.root();
    std::fs::write(root.join("a"), "child a\n").unwrap();
    std::fs::write(root.join("b"), "user b\n").unwrap();
    let came_out = root.join(".agent-collab/turns/put-ses_w.1/new");
    std::fs::create_dir_all(&came_out).unwrap();
    std::fs::write(came_out.join("a"), "user a\n").unwrap();
    std::fs::write(came_out.join("c"), "child c\n").unwrap();

    let why = finish_interrupted_write(&played.plot, &patch)
        .await
        .unwrap_err();
    let told =
        "b changed since and is kept, the rest is written; files saved in the meantime are in ";
    let kept = why.strip_prefix(told).expect(&why);
    assert_eq!(
        std::fs::read_to_string(root.join(kept)).unwrap(),
        "user a\n"
    );
    let now = found(&root);
    assert_eq!(
        [&now["a"], &now["b"], &now["c"]],
        ["child a\n", "user b\n", "child c\n"]
    );
    std::fs::write(root.join("b"), "base b\n").unwrap();
    assert_eq!(
        finish_interrupted_write(&played.plot, &patch).await,
        Ok(String::new())
    );
    assert_eq!(found(&root)["b"], "child b\n");
}

#[tokio::test]
async fn a_tree_of_an_earlier_run_and_a_damaged_record_are_told_and_the_run_goes_on() {
    let mut played = PatchSimulation::new(&base()).await;
    let engine = &mut played.world.engine;
    let (session, turn) = (SessionId::new("ses_x"), TurnId::new("ses_x.1"));
    let earlier = plan_child_worktree(&engine.run, &session, &turn, None).unwrap();
    earlier.create().await.unwrap();
    std::fs::write(earlier.path.join("a"), "earlier a\n").unwrap();
    let damaged = earlier.registry.folder().join("ses_y.json");
    std::fs::write(damaged, "{").unwrap();
    let _before = engine.take_recorded();
    let collected = engine.recover_leftovers(LeftoverKind::Worktrees);
    collected.unwrap();
    let mut told = String::new();
    while !(told.contains("find the worktrees") && told.contains("apply the changes")) {
        for record in played.world.engine.take_recorded() {
            if let Event::WarningRaised { what, message } = record.event {
                told.push_str(&format!("{what}: {message}\n"));
            }
        }
        if !told.contains("apply the changes") {
            let inward = timeout(Duration::from_secs(60), played.world.engine.next_input()).await;
            let inward = inward.expect("it is told");
            played.world.engine.handle_input(inward).unwrap();
        }
    }
    assert!(told.contains("ses_y.json:1"), "{told}");
    assert!(
        told.contains(".agent-collab/patches/ses_x_1.patch"),
        "{told}"
    );
    assert_eq!(played.world.engine.outcome(), None);
}
