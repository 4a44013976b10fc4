//! Tests in which conversation of the CLI each turn of a session runs.

use std::sync::{Arc, Mutex};

use super::*;
use crate::adapter::{AdapterTraits, LaunchSpec, SandboxProvider, adapter_entry};
use crate::config::config_model::ReviewerSession;
use crate::domain::adapter_kind::AdapterKind;
use crate::domain::event::Event;
use crate::domain::ids::TurnId;
use crate::domain::turn::{Role, TurnOrder, TurnPurpose};
use crate::engine::approvals::ApprovalTestRun;
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::prompt_builder::PromptBuilder;
use crate::engine::turn_start::{self, TurnPrompts};

/// The conversations that the launches resume; `None` for a new one.
type Launches = Arc<Mutex<Vec<Option<String>>>>;

/// An adapter whose CLI is `cat`; each turn ends at once.
struct RecordingAdapter(Launches);

impl Adapter for RecordingAdapter {
    fn traits(&self) -> &'static AdapterTraits {
        adapter_entry(AdapterKind::Pipe).traits
    }

    fn prepare_launch(&mut self, session: &SessionSpec, _turn: &TurnSpec) -> LaunchSpec {
        self.0.lock().unwrap().push(session.external_id.clone());
        LaunchSpec {
            program: "cat".to_owned(),
            args: Vec::new(),
            env: std::collections::BTreeMap::new(),
            env_remove: Vec::new(),
            cwd: session.cwd.clone(),
            lifetime: CliProcessLifetime::Session,
            sandbox: SandboxProvider::Cli,
        }
    }

    fn can_serve(&self, _turn: &TurnSpec) -> bool {
        true
    }

    fn on_command(&mut self, order: AdapterCommand) -> Vec<AdapterOutput> {
        if !matches!(order, AdapterCommand::StartTurn(_)) {
            return Vec::new();
        }
        let final_text = String::new();
        let end = CliTurnOutcome::Completed { final_text };
        [
            AdapterEvent::Ready { version: None },
            AdapterEvent::TurnEnded(end),
        ]
        .map(AdapterOutput::Event)
        .into()
    }

    fn on_stdout_line(&mut self, _line: &str) -> Vec<AdapterOutput> {
        Vec::new()
    }

    fn on_exit(&mut self, _exit: &CliExit) -> Vec<AdapterOutput> {
        Vec::new()
    }
}

/// Runs these turns of the reviewer, one after another, and returns what was launched for them.
async fn launches_of(kept: ReviewerSession, turns: &[TurnPurpose]) -> Vec<Option<String>> {
    let id = SessionId::new("ses_b");
    let mut run = ApprovalTestRun::planning(Some((id.clone(), "codex".to_owned())));
    let run = &mut run.engine.run;
    let setup = Arc::get_mut(&mut run.setup).unwrap();
    setup.config.workflow.reviewer_session = kept;
    let settings = setup.config.adapters["codex"].clone();
    let adapter = NamedAdapter::new("codex".to_owned(), settings);
    setup.adapters.insert(Role::Reviewer, adapter);
    run.record(Event::SessionOpened {
        role: Role::Reviewer,
        external_id: "earlier".to_owned(),
        model: None,
    })
    .unwrap();
    let launches = Launches::default();
    let parts = ConversationParts {
        session: id.clone(),
        adapter: Box::new(RecordingAdapter(launches.clone())),
        raw: run.raw_stream(&id),
        marker: ProcessMark::new("run", "reviewer"),
        children: ChildSpawner::default(),
    };
    let (commands, inbox) = mpsc::channel(8);
    let (told, mut events) = mpsc::channel(64);
    let task = tokio::spawn(AgentConversation::new(parts, inbox, told).run_until_shutdown());
    for (n, purpose) in turns.iter().enumerate() {
        let order = TurnOrder {
            turn: TurnId::new(format!("trn_{n}")),
            purpose: purpose.clone(),
            again: None,
        };
        let staging = turn_start::prepare_staging(run, &order).unwrap();
        let prompts = TurnPrompts {
            prompt: String::new(),
            recovery: String::new(),
            background_reports: Vec::new(),
            conversation: PromptBuilder::new(run, &order).conversation_start(),
        };
        let prepared = turn_start::prepare_turn(run, &order, staging, prompts).unwrap();
        let start = ConversationCommand::StartTurn(Box::new(prepared.request));
        commands.send(start).await.unwrap();
        let is_end = |event: &ConversationEvent| {
            matches!(
                event,
                ConversationEvent::Adapter(AdapterEvent::TurnEnded(_))
            )
        };
        while !is_end(&events.recv().await.unwrap().1) {}
    }
    drop(commands);
    while events.recv().await.is_some() {}
    task.await.unwrap();
    let launches = launches.lock().unwrap();
    launches.clone()
}

#[tokio::test]
async fn a_judgement_has_a_conversation_of_its_own_and_the_next_review_continues_the_reviewers() {
    let turns = [
        TurnPurpose::Review,
        TurnPurpose::Review,
        TurnPurpose::Judge,
        TurnPurpose::Judge,
        TurnPurpose::Review,
    ];
    let earlier = || Some("earlier".to_owned());
    let launched = launches_of(ReviewerSession::Resume, &turns).await;
    assert_eq!(launched, [earlier(), None, None, earlier()]);
    let launched = launches_of(ReviewerSession::Fresh, &turns).await;
    assert_eq!(launched, [None, None, None, None, None]);
}
