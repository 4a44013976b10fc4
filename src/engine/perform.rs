//! Performs effects: each arm calls one function, and what happens comes back as events.

use tokio::sync::mpsc;

use crate::adapter::{AdapterCommand, SessionSpec, TurnAccess, TurnSpec};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::plan::{PlanStatus, file_hash};
use crate::domain::question::QuestionAnswer;
use crate::domain::session::{Message, MessageRole};
use crate::domain::turn::{Role, TurnOrder, TurnOutcome, TurnProfile};
use crate::permission::loop_detector::LoopDetector;
use crate::process::{ProcessMark, SandboxSupport};
use crate::store::debug_log::PROMPT_TARGET;
use crate::store::{StoreError, failpoints};

use super::asking::hidden_permissions;
use super::codex_rules;
use super::containing::Holder;
use super::documents::Pen;
use super::live::{Ask, Conversation, Live, Parts, TurnAsk};
use super::prompting::{NOW_BUILD, NOW_PLAN};
use super::reads::denied_files;
use super::setup::NamedAdapter;
use super::staging::Staging;
use super::told::Wrote;
use super::writing::Writing;
use super::{
    AtWork, Engine, EngineError, Inward, Outcome, documents, failed, scratch, staging, troubled,
    with_hint,
};
use crate::permission::RuleSet;

/// How many asks may wait for a live conversation; more than a turn can ever have open.
const ASKS: usize = 64;

impl Engine {
    pub(super) fn perform(&mut self, effect: Effect) -> Result<Vec<Event>, EngineError> {
        failpoints::trace_effect(&effect);
        match effect {
            Effect::StartTurn(order) => return self.start_turn(order),
            Effect::InterruptTurn(_) => self.interrupt(),
            Effect::SteerTurn(text) => return self.steer(text),
            Effect::ForgetConversation(role) => return Ok(self.forget(role)),
            Effect::MoveRole { role, adapter } => return Ok(self.move_role(role, adapter)),
            Effect::CollectDocument(order) => return Ok(self.write(Writing::Returned(order))),
            Effect::SettleConflict { order, answer } => {
                return Ok(self.write(Writing::Settled { order, answer }));
            }
            Effect::CommitDraft(order) => return Ok(self.write(Writing::Draft(order))),
            Effect::DiscardDraft(order) => return Ok(self.drop_draft(&order)),
            Effect::AppendRemarks(text) => return Ok(self.write(Writing::Remarks(text))),
            Effect::SwitchToBuildProfile => return self.switch_to(TurnProfile::Build, NOW_BUILD),
            Effect::SwitchToPlanProfile => return self.switch_to(TurnProfile::Plan, NOW_PLAN),
            Effect::SurveyRepository => return Ok(self.survey()),
            Effect::EnterExecution(terms) => return Ok(self.enter_execution(terms)),
            Effect::SnapshotTree { step, attempt } => self.snapshot(step, attempt),
            Effect::RestoreTree { step } => self.restore_tree(step),
            Effect::AuditStep { step } => self.audit_step(step),
            Effect::RestoreFiles { step, paths } => self.put_back(step, paths),
            Effect::RunBaseline(test) => self.run_baseline(test),
            Effect::StopBaseline => self.stop_baseline(),
            Effect::RunTests { step, test } => self.run_tests(step, test),
            Effect::SaveTestNetwork(network) => return Ok(self.keep_test_network(network)),
            Effect::SaveTestSocket { path, is_reached } => {
                return Ok(self.keep_test_socket(&path, is_reached));
            }
            Effect::CommitStep {
                step,
                paths,
                message,
            } => self.commit_step(step, paths, message),
            Effect::RecordStep { step } => return Ok(self.write(Writing::Step(step))),
            Effect::StoreTree { seen } => self.keep_tree(seen),
            Effect::ApplyReversal { reversal, kept } => self.reverse(reversal, kept),
            Effect::RecordReversal {
                reversal,
                kept,
                commit,
            } => return Ok(self.write(Writing::Reversal(reversal, kept, commit))),
            Effect::AskUser(question) => return Ok(vec![Event::QuestionAsked { question }]),
            Effect::EnterPlan { reason } => return Ok(vec![Event::PlanEntered { reason }]),
            Effect::AnswerAgent { request, answer } => self.answer_agent(&request, &answer),
            Effect::ExpireApprovals { approvals, why } => {
                return Ok(self.expire_approvals(approvals, why));
            }
            Effect::StopChildren(sessions) => self.stop_children(&sessions),
            Effect::StopDiscussions(all) => self.discussions.stop(&all),
            Effect::AppendLog(text) => return Ok(self.log(&text)),
            Effect::FinishRun => self.finish(Outcome::Finished),
            Effect::HaltRun(reason) => self.finish(Outcome::Halted(reason)),
        }
        Ok(Vec::new())
    }

    /// Runs work off the loop; what it makes happen comes back as an event.
    pub(super) fn spawn(&mut self, work: impl Future<Output = Event> + Send + 'static) {
        self.spawn_all(async move { vec![work.await] });
    }

    /// Runs work off the loop; what it makes happen comes back as events, in their order.
    pub(super) fn spawn_all(&mut self, work: impl Future<Output = Vec<Event>> + Send + 'static) {
        let done = self.done.0.clone();
        self.tasks.spawn(async move {
            for event in work.await {
                // Nobody listens any more only when the program is about to end.
                let _nobody = done.send(Inward::Event(Box::new(event))).await;
            }
        });
    }

    fn start_turn(&mut self, order: TurnOrder) -> Result<Vec<Event>, EngineError> {
        let role = order.purpose.role();
        match self.prepare_turn(&order, role) {
            Ok((mut ask, at_work)) => {
                let prompt = ask.turn.prompt.clone();
                let turn = order.turn.as_str();
                tracing::info!(target: PROMPT_TARGET, turn, %prompt, "a prompt goes out");
                // The folder that held an earlier turn's document is this turn's now, and stays.
                self.held
                    .take_if(|held| held.staging.dir == at_work.staging.dir);
                self.at_work = Some(at_work);
                self.turn_is_over = false;
                for said in self.users_words(&order) {
                    self.append_message(role, Wrote::User, &order, &said)?;
                }
                self.append_message(role, Wrote::Program, &order, &prompt)?;
                self.offer_tools(role, &mut ask);
                let events = self.ask_live(role, Ask::Turn(Box::new(ask)));
                self.hand_over_waiting();
                Ok(events)
            }
            Err(message) => {
                let result = TurnOutcome::Failed {
                    kind: "refused".to_owned(),
                    message,
                    transient: false,
                    limit: None,
                    other: None,
                };
                Ok(vec![Event::TurnEnded {
                    turn: order.turn,
                    result,
                }])
            }
        }
    }

    fn prepare_turn(&mut self, order: &TurnOrder, role: Role) -> Result<(TurnAsk, AtWork), String> {
        let state = self.journal.state();
        let session = state.session(role).ok_or("this run has no reviewer")?;
        let adapter = self.adapter_of(role)?;
        let dir = self.journal.layout().staging_folder(&session.id);
        let staging =
            staging::prepare(self.journal.layout(), dir).map_err(|error| error.to_string())?;
        let spec = SessionSpec {
            session: session.id.clone(),
            fresh_id: uuid::Uuid::new_v4().to_string(),
            external_id: session.external_id.clone(),
            cwd: self.setup.root.clone(),
            staging: staging.dir.clone(),
            cli: adapter.cli(),
            trust: self.setup.trust,
            hook_command: None,
            tool_server: None,
            hidden_folders: scratch::of_all_runs(),
        };
        let access = if order.purpose.may_write() {
            TurnAccess::Workspace
        } else {
            TurnAccess::ReadOnly
        };
        let prompt = self.whole_prompt(order, &staging)?;
        let recovery = self.recovery_prompt(order)?;
        let prompt_sha256 = file_hash(prompt.as_bytes());
        let rules = self.setup.permissions.rules(order.purpose.profile().name());
        let turn = TurnSpec {
            turn: order.turn.clone(),
            prompt,
            access,
            hidden_permissions: hidden_permissions(&rules, order.purpose.may_write()),
        };
        let conversation = if self.begins_fresh(order) {
            Conversation::Fresh
        } else {
            Conversation::Continued
        };
        let holder = self.holder(adapter, &staging, access, &rules);
        let at_work = AtWork {
            order: order.clone(),
            prompt_sha256,
            with_recovery: format!("{recovery}\n\n{}", turn.prompt),
            staging,
            calls: LoopDetector::default(),
            removed: adapter.protocol().removed_tools(),
            reports: self.due_reports(role),
        };
        Ok((
            TurnAsk {
                session: spec,
                conversation,
                turn,
                recovery,
                holder,
                limit: self.setup.config.limits.turn_timeout,
                patience: self.setup.config.limits.silence,
            },
            at_work,
        ))
    }

    /// What holds the process that serves a turn.
    fn holder(
        &self,
        adapter: &NamedAdapter,
        staging: &Staging,
        access: TurnAccess,
        rules: &RuleSet,
    ) -> Holder {
        Holder {
            kernel: match self.setup.config.safety.contain_agents {
                true => self.setup.kernel.clone(),
                false => SandboxSupport::Unavailable("safety.contain_agents is off".to_owned()),
            },
            root: self.setup.root.clone(),
            closed: Vec::new(),
            workdir: self.journal.layout().workdir().to_owned(),
            shown: None,
            staging: staging.dir.clone(),
            access,
            tools: None,
            writable: adapter.settings.writable.clone(),
            unread: denied_files(&self.setup.root, rules),
            ways_out: codex_rules::ways_out(&adapter.settings),
        }
    }

    /// Passes an ask to a role's conversation, which is begun where there is none.
    pub(super) fn ask_live(&mut self, role: Role, ask: Ask) -> Vec<Event> {
        if !self.lives.contains_key(&role)
            && let Err(message) = self.begin_live(role)
        {
            return vec![failed("begin a conversation", message)];
        }
        let sent = self.lives.get(&role).map(|asks| asks.try_send(ask));
        match sent {
            Some(Ok(())) => Vec::new(),
            Some(Err(_)) | None => {
                self.lives.remove(&role);
                vec![failed(
                    "reach the agent",
                    "its conversation no longer answers",
                )]
            }
        }
    }

    fn begin_live(&mut self, role: Role) -> Result<(), String> {
        let state = self.journal.state();
        let session = state.session(role).ok_or("this run has no such role")?;
        let adapter = self.adapter_of(role)?;
        let raw = self.raw_stream(&session.id);
        let marker = ProcessMark::new(state.run.as_str(), role.name());
        let (asks, inbox) = mpsc::channel(ASKS);
        let parts = Parts {
            role,
            adapter: adapter.protocol(),
            raw,
            marker,
            children: self.setup.children.clone(),
        };
        let live = Live::new(parts, inbox, self.told.0.clone());
        self.tasks.spawn(live.run());
        self.lives.insert(role, asks);
        Ok(())
    }

    pub(super) fn interrupt(&mut self) {
        let role = self
            .at_work
            .as_ref()
            .map(|at_work| at_work.order.purpose.role());
        let asks = role.and_then(|role| self.lives.get(&role));
        if let Some(asks) = asks
            && asks
                .try_send(Ask::Order(AdapterCommand::Interrupt))
                .is_err()
        {
            tracing::warn!(
                "the conversation takes no interrupt; its process is ended at the program's end"
            );
        }
    }

    fn forget(&mut self, role: Role) -> Vec<Event> {
        let mut events = self.ask_live(role, Ask::Forget);
        events.push(Event::SessionLost {
            role,
            reason: "the user asked for a new session".to_owned(),
        });
        events
    }

    pub(super) fn append_remarks(
        &mut self,
        text: &str,
        pen: Result<Pen, StoreError>,
    ) -> Vec<Event> {
        let facts = documents::Facts {
            at: self.journal.now(),
            iteration: self.state().iteration.max(1),
            keep_in: self.state().findings.review_count().max(1),
            status: PlanStatus::Reviewing,
        };
        let after = match self.resumed {
            true => documents::After::ACrash,
            false => documents::After::Nothing,
        };
        let findings = &self.state().findings;
        let appended = pen
            .map_err(documents::Refused::Store)
            .and_then(|pen| documents::append_remarks(&pen, (text, after), findings, &facts));
        match appended {
            Ok(file_sha256) => vec![Event::RemarksAppended { file_sha256 }],
            Err(documents::Refused::Conflict) => vec![failed(
                "append your remarks",
                format!(
                    "{} is written to by another program again and again; end that program",
                    self.journal.layout().names().comments
                ),
            )],
            Err(documents::Refused::Store(error)) => vec![failed("append your remarks", error)],
        }
    }

    /// Puts a profile on the planner's session by a synthetic message.
    fn switch_to(&mut self, agent: TurnProfile, text: &str) -> Result<Vec<Event>, EngineError> {
        let session = &self.state().planner;
        let id = session.id.clone();
        let message = Message {
            id: format!("msg_{}", session.n_messages + 1),
            turn: None,
            role: MessageRole::User,
            agent,
            synthetic: true,
            ts: self.journal.now(),
            text: text.to_owned(),
        };
        self.journal.append_message(&id, &message)?;
        Ok(vec![Event::MessageAppended {
            role: Role::Planner,
            message: Message {
                text: String::new(),
                ..message
            },
        }])
    }

    fn answer_agent(&mut self, request: &RequestId, answer: &QuestionAnswer) {
        let raw = self.awaited.take_questions(request);
        let answers = match answer {
            QuestionAnswer::Texts { answers } => Some(
                answers
                    .iter()
                    .map(|(shown, text)| (raw.get(shown).unwrap_or(shown).clone(), text.clone()))
                    .collect(),
            ),
            _ => None,
        };
        self.answer_questions(request, answers);
    }

    /// Passes an order to the conversation that is at work.
    pub(super) fn order(&mut self, order: AdapterCommand) {
        let Some(order) = self.tools.take(order) else {
            return;
        };
        let role = self
            .at_work
            .as_ref()
            .map(|at_work| at_work.order.purpose.role());
        let asks = role.and_then(|role| self.lives.get(&role));
        if asks.is_none_or(|asks| asks.try_send(Ask::Order(order)).is_err()) {
            tracing::warn!("an answer found nobody who waits for it");
        }
    }

    pub(super) fn log(&self, text: &str) -> Vec<Event> {
        let at = crate::store::utc_time::to_rfc3339(self.journal.now());
        match self.journal.log_entry(&format!("\n- {at} {text}\n")) {
            Ok(()) => Vec::new(),
            Err(error) => vec![troubled("write the log of the steps", with_hint(&error))],
        }
    }
}
