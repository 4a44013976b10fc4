//! Builds the text of each prompt from the run's state, the templates and the files.
//!
//! The wording is in the templates; only the first line, which identifies the prompt by phase and detail, is
//! written here.

mod execute_prompt;
mod open_findings;
mod review_prompt;
mod run_prompt_reader;
mod turn_preamble;
mod user_messages;
mod user_notes;

use crate::config::config_model::ReviewerSession;
use crate::domain::own_tool::TOOL_SERVER_NAME;
use crate::domain::phase::Phase;
use crate::domain::run::{DocumentAuthor, RunState};
use crate::domain::session::Session;
use crate::domain::tool_availability::{self, ToolContext};
use crate::domain::turn::{Role, TurnOrder, TurnPurpose, TurnRetryReason};
use crate::prompts::template_variables::{
    CommonVars, InstructionFile, JudgeVars, RecoverVars, RefineGoalVars, ReplanVars, RespondVars,
    WritePlanVars,
};
use crate::text::front_matter;

use self::execute_prompt::to_done_step;
use self::open_findings::{
    disputed_findings, finding_number, open_findings, repeatedly_unanswered_findings,
};
use self::turn_preamble::{
    describe_deferred_results, describe_denied_requests, describe_turn_retry,
    describe_unanswered_requests, turn_retry_reason,
};
use self::user_messages::describe_queued_messages;
use self::user_notes::describe_user_notes;
use super::agent_conversation::ConversationStart;
use super::agent_tools::supports_tools;
use super::documents::{comments_on_disk, plan_on_disk};
use super::execution_effects::test_command_without_plan;
use super::run_context::RunContext;
use super::staging_folder::{self, TurnStagingFolder};
use super::subagents::background_results::background_results_text;

pub use self::run_prompt_reader::RunPromptReader;
pub(super) use self::user_messages::user_messages;

/// The tools with which an agent delegates work, and what each does.
const DELEGATION_TOOLS: [(&str, &str); 3] = [
    (
        "task",
        "gives searches and other work to agents of their own, several side by side",
    ),
    (
        "group_discuss",
        "has several agents discuss a question that reasons decide",
    ),
    ("session_manage", "looks at the tasks that you gave"),
];

/// The message that switches the planner's session to the `build` profile.
pub(super) const SWITCH_TO_BUILD_PROMPT: &str = "The plan is approved. From now on you are the executor, agent `build`: you execute it step by step, \
                                    as each message says.";

/// The message that switches it back to the `plan` profile.
pub(super) const SWITCH_TO_PLAN_PROMPT: &str = "The user sends you back to planning. From now on you are the planner, agent `plan`: you change nothing \
                                   except the plan, as the next message says.";

/// Builds the prompt of a turn.
pub(super) struct PromptBuilder<'a> {
    run: &'a RunContext,
    order: &'a TurnOrder,
}

impl<'a> PromptBuilder<'a> {
    pub(super) fn new(run: &'a RunContext, order: &'a TurnOrder) -> Self {
        Self { run, order }
    }

    fn state(&self) -> &'a RunState {
        self.run.state()
    }

    fn role(&self) -> Role {
        self.order.purpose.role()
    }

    fn session(&self) -> Option<&'a Session> {
        self.state().session(self.role())
    }

    /// Builds the prompt that the turn would send if it started now; changes nothing.
    pub(super) fn preview_prompt(&self) -> Result<String, String> {
        let session = self.session().ok_or("this run has no reviewer")?;
        let layout = self.run.journal.layout();
        let staging = staging_folder::staging_paths(layout, layout.staging_folder(&session.id));
        self.full_prompt(&staging)
    }

    /// Builds everything that the turn sends to the agent: what it must be told again, any introduction, then the
    /// prompt.
    pub(super) fn full_prompt(&self, staging: &TurnStagingFolder) -> Result<String, String> {
        let mut prompt = self.turn_prompt(staging)?;
        if self.needs_recovery() {
            prompt = format!("{}\n\n{prompt}", self.recovery_prompt()?);
        }
        Ok(if self.needs_execution_introduction() {
            format!("{SWITCH_TO_BUILD_PROMPT}\n\n{prompt}")
        } else {
            prompt
        })
    }

    /// Returns whether the planner may not know yet that it executes now: true until its first step is done.
    fn needs_execution_introduction(&self) -> bool {
        let execution = self.state().execution.as_ref();
        let is_first = execution.is_some_and(|execution| execution.done.is_empty());
        is_first && matches!(self.order.purpose, TurnPurpose::Step { .. })
    }

    /// Returns whether the role's conversation is lost; a review that always starts a new one needs no recovery.
    fn needs_recovery(&self) -> bool {
        self.session().is_some_and(Session::needs_recovery) && self.continues_conversation()
    }

    /// Returns in which conversation the turn runs.
    pub(super) fn conversation_start(&self) -> ConversationStart {
        if self.order.purpose.is_isolated() {
            return ConversationStart::Isolated;
        }
        // A reviewer that is asked for what its review lacks must continue in the conversation that knows the
        // review.
        let is_asked_back = matches!(self.order.again, Some(TurnRetryReason::AskedBack { .. }));
        let is_fresh_review = self.order.purpose == TurnPurpose::Review
            && !is_asked_back
            && self.run.setup.config.workflow.reviewer_session == ReviewerSession::Fresh;
        if is_fresh_review {
            ConversationStart::New
        } else {
            ConversationStart::Existing
        }
    }

    fn continues_conversation(&self) -> bool {
        self.conversation_start() == ConversationStart::Existing
    }

    fn turn_prompt(&self, staging: &TurnStagingFolder) -> Result<String, String> {
        let (order, role, state) = (self.order, self.role(), self.state());
        let body = match &order.purpose {
            TurnPurpose::RefineGoal { said, .. } => self.refine_goal_prompt(said)?,
            TurnPurpose::WritePlan => self.write_plan_prompt(staging)?,
            TurnPurpose::Review => self.review_prompt(staging)?,
            TurnPurpose::Respond => self.respond_prompt(staging)?,
            TurnPurpose::Judge => self.judge_prompt()?,
            TurnPurpose::Step { .. } | TurnPurpose::Fix { .. } | TurnPurpose::Summary => {
                self.execute_prompt()?
            }
        };
        let header = prompt_header(order, state.iteration);
        let agent = self.agent_instructions();
        if order.purpose.is_isolated() {
            return Ok(format!("{header}\n\n{agent}{body}"));
        }
        let reports = background_results_text(self.run, role);
        let unanswered = describe_unanswered_requests(&state.unanswered, role);
        let denied = describe_denied_requests(&state.refused, role);
        let results = describe_deferred_results(&state.results, role);
        let queued = describe_queued_messages(state, order);
        let retry = describe_turn_retry(order);
        let notes = describe_user_notes(self.run, &order.purpose)?;
        Ok(format!(
            "{header}\n\n{agent}{reports}{unanswered}{denied}{results}{queued}{retry}{body}{notes}"
        ))
    }

    /// Returns the user's own prompt for the turn's agent, marked as such; empty if there is none. It is sent with
    /// each turn because conversations keep the system prompt with which they began.
    fn agent_instructions(&self) -> String {
        let name = self.order.purpose.profile().name();
        match self.run.setup.agent_prompts.get(name) {
            Some(text) => format!(
                "[agent-collab agent {name}]\n{}\n[end of agent {name}]\n\n",
                text.trim()
            ),
            None => String::new(),
        }
    }

    /// Builds the text that is put before the turn's prompt if the CLI has lost the conversation. It contains only what
    /// that prompt does not.
    pub(super) fn recovery_prompt(&self) -> Result<String, String> {
        let state = self.state();
        let purpose = &self.order.purpose;
        let has_plan = match purpose {
            TurnPurpose::RefineGoal { .. } => false,
            TurnPurpose::Review => state.iteration <= 1 || !self.has_history(),
            _ => true,
        };
        let has_review = matches!(purpose, TurnPurpose::Review | TurnPurpose::Respond);
        let done = state
            .execution
            .as_ref()
            .and_then(|execution| execution.done.last());
        let vars = RecoverVars {
            common: CommonVars {
                project_instructions: self.project_instructions(),
                ..self.common_variables()
            },
            role: self.role().name().to_owned(),
            phase: state.phase.name().to_owned(),
            plan: self.plan_for_agents()?.filter(|_| !has_plan),
            comments: self.comments_for_agents()?.filter(|_| !has_review),
            last_step: done.map(|step| format!("{}. {}", step.n, step.text)),
            open_findings: open_findings(state),
            prompt: None,
        };
        let body = self.run.setup.prompts.render_recover(&vars);
        let body = body.map_err(|error| error.to_string())?;
        Ok(format!("[agent-collab RECOVER]\n\n{body}"))
    }

    /// Returns whether the turn continues a conversation that knows the run.
    fn has_history(&self) -> bool {
        let session = self.session();
        self.continues_conversation()
            && session.is_some_and(|session| session.external_id.is_some())
    }

    /// Returns the variables of every prompt. The project's instructions are only in the first prompt of a
    /// conversation, or in the recovery prompt before it: later turns have them in the history.
    fn common_variables(&self) -> CommonVars {
        let goal = self.state().goal.as_ref();
        CommonVars {
            goal: goal.map(|goal| goal.text.clone()).unwrap_or_default(),
            goal_title: goal.map(|goal| goal.title.clone()).unwrap_or_default(),
            root: self.run.setup.root.to_string_lossy().into_owned(),
            tools: supports_tools(self.run, self.role()),
            delegating: self.describe_delegation_tools(),
            project_instructions: if self.has_history() || self.needs_recovery() {
                Vec::new()
            } else {
                self.project_instructions()
            },
        }
    }

    /// Describes what the turn's agent can delegate, because its CLI may list the tools only after a search.
    fn describe_delegation_tools(&self) -> Option<String> {
        if !supports_tools(self.run, self.role()) {
            return None;
        }
        let purpose = &self.order.purpose;
        let rules = self.run.setup.permissions.rules(purpose.profile().name());
        let context = ToolContext {
            purpose: Some(purpose),
            depth: 0,
            rules: &rules,
        };
        let lines: Vec<String> = DELEGATION_TOOLS
            .iter()
            .filter(|(tool, _)| tool_availability::hidden_reason(tool, &context).is_none())
            .map(|(tool, does)| format!("`{tool}` {does}"))
            .collect();
        (!lines.is_empty()).then(|| {
            let server = TOOL_SERVER_NAME;
            format!("{}. They are tools of the server `{server}`; if you do not see one, search your tools for its name.", lines.join("; "))
        })
    }

    fn project_instructions(&self) -> Vec<InstructionFile> {
        let files = self.run.setup.instructions.iter();
        files
            .map(|(name, text)| InstructionFile {
                name: name.clone(),
                folder: name.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
                text: text.clone(),
            })
            .collect()
    }

    /// Loads the plan without the front matter, which is for the program only.
    fn plan_for_agents(&self) -> Result<Option<String>, String> {
        let plan = plan_on_disk(self.run);
        let plan = plan.map_err(|error| error.to_string())?;
        Ok(plan.as_deref().map(without_front_matter))
    }

    /// Loads the review without the front matter.
    fn comments_for_agents(&self) -> Result<Option<String>, String> {
        let comments = comments_on_disk(self.run);
        let comments = comments.map_err(|error| error.to_string())?;
        Ok(comments.as_deref().map(without_front_matter))
    }

    /// Returns the template's words for who reviews the plan.
    fn describe_reviewer(&self) -> String {
        let vendor = |role: Role| self.run.setup.adapters.get(&role)?.traits().model_vendor;
        let (planner, reviewer) = (vendor(Role::Planner), vendor(Role::Reviewer));
        let is_other = planner.is_some() && reviewer.is_some() && planner != reviewer;
        let word = match (&self.state().reviewer, is_other) {
            (None, _) => "nobody",
            (Some(_), true) => "other_vendor",
            (Some(_), false) => "somebody",
        };
        word.to_owned()
    }

    fn refine_goal_prompt(&self, message: &str) -> Result<String, String> {
        let common = self.common_variables();
        let vars = RefineGoalVars {
            role: self.role().name().to_owned(),
            // A goal that was just given is not repeated as a message.
            message: Some(message.to_owned()).filter(|message| *message != common.goal),
            common,
        };
        let prompt = self.run.setup.prompts.render_refine_goal(&vars);
        prompt.map_err(|error| error.to_string())
    }

    fn write_plan_prompt(&self, staging: &TurnStagingFolder) -> Result<String, String> {
        let vars = WritePlanVars {
            common: self.common_variables(),
            staging_plan: staging.plan.to_string_lossy().into_owned(),
            prior_plan: self.plan_for_agents()?,
            test_command: test_command_without_plan(self.run).map(|test| test.command),
            retry_reason: turn_retry_reason(self.order),
            reviewer: self.describe_reviewer(),
            replanning: self.state().replanning.as_ref().map(|record| ReplanVars {
                reason: record.reason.clone(),
                step: record.step,
                done: (record.done.iter())
                    .chain(record.kept.iter().flat_map(|kept| &kept.done))
                    .map(to_done_step)
                    .collect(),
            }),
        };
        let prompt = self.run.setup.prompts.render_write_plan(&vars);
        prompt.map_err(|error| error.to_string())
    }

    fn judge_prompt(&self) -> Result<String, String> {
        if self.state().findings.disputed().next().is_none() {
            return Err("no finding is disputed".to_owned());
        }
        let vars = JudgeVars {
            common: self.common_variables(),
            plan: self.plan_for_agents()?.unwrap_or_default(),
            disputes: disputed_findings(self.state()),
        };
        let prompt = self.run.setup.prompts.render_judge(&vars);
        prompt.map_err(|error| error.to_string())
    }

    fn respond_prompt(&self, staging: &TurnStagingFolder) -> Result<String, String> {
        let state = self.state();
        let vars = RespondVars {
            common: self.common_variables(),
            plan: self.plan_for_agents()?.unwrap_or_default(),
            plan_by_user: state.plan_by == DocumentAuthor::User,
            comments: self.comments_for_agents()?.unwrap_or_default(),
            open_findings: open_findings(state),
            staging_plan: staging.plan.to_string_lossy().into_owned(),
            staging_comments: staging.comments.to_string_lossy().into_owned(),
            iteration: state.iteration,
            cap: state.iteration_limit(),
            unanswered: match &self.order.again {
                Some(TurnRetryReason::AskedBack { .. }) => {
                    state.findings.unanswered().map(finding_number).collect()
                }
                _ => repeatedly_unanswered_findings(state),
            },
            retry_reason: turn_retry_reason(self.order),
        };
        let prompt = self.run.setup.prompts.render_respond(&vars);
        prompt.map_err(|error| error.to_string())
    }
}

fn without_front_matter(text: &str) -> String {
    front_matter::parse_document(text)
        .body
        .trim_start()
        .to_owned()
}

/// Returns the first line of every prompt.
fn prompt_header(order: &TurnOrder, iteration: u32) -> String {
    let detail = match &order.purpose {
        TurnPurpose::RefineGoal { .. } | TurnPurpose::WritePlan => String::new(),
        TurnPurpose::Review | TurnPurpose::Respond => format!(" {iteration}"),
        TurnPurpose::Judge => format!(" {iteration} dispute"),
        TurnPurpose::Step { n } => format!(" step {n}"),
        TurnPurpose::Fix { n, attempt } => format!(" fix {n}.{attempt}"),
        TurnPurpose::Summary => " summary".to_owned(),
    };
    let phase: Phase = order.purpose.phase();
    format!("[agent-collab {phase}{detail}]")
}
