//! Builds the text of each prompt from the run's state, the templates and the files.
//!
//! The wording is in the templates; only the first line, which identifies the prompt by phase and detail, is
//! written here.

mod turn_preamble;
mod user_notes;

use crate::config::config_model::ReviewerSession;
use crate::domain::findings::{Finding, FindingDisposition};
use crate::domain::phase::Phase;
use crate::domain::plan::{self, approval_hash};
use crate::domain::plan_execution::{CurrentStep, PlanExecution, StepOutcome, StepRecord};
use crate::domain::session::Session;
use crate::domain::tool_availability::{self, ToolContext};
use crate::domain::turn::{Role, TurnOrder, TurnPurpose, TurnRetryReason};
use crate::prompts::PromptRenderError;
use crate::prompts::template_variables::{
    CommitLine, CommonVars, DoneStep, ExecuteTask, ExecuteVars, InstructionFile, OpenFinding,
    RecoverVars, RefineGoalVars, RespondVars, ReviewVars, WritePlanVars,
};
use crate::text::{clean_text, front_matter, truncate};

use self::turn_preamble::{
    describe_deferred_results, describe_denied_requests, describe_turn_retry,
    describe_unanswered_requests, turn_retry_reason,
};
use super::Engine;
use super::staging_folder::{self, TurnStagingFolder};

/// How much of a failing test run the agent sees, in lines at the beginning and at the end.
const TEST_OUTPUT_LINES: (usize, usize) = (20, 120);

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
pub(super) const SWITCH_TO_BUILD_PROMPT: &str = "The plan is approved. From now on you are the agent `build`: you execute it, step by step, \
                                    as each message says.";

/// The message that switches it back to the `plan` profile.
pub(super) const SWITCH_TO_PLAN_PROMPT: &str = "The user sends you back to planning. From now on you are the agent `plan`: you change nothing but \
                                   the plan, as the next message says.";

impl Engine {
    /// Builds the prompt that a turn would send if it started now; changes nothing.
    ///
    /// # Errors
    /// The reason why there is no prompt; the turn itself would fail with the same.
    pub fn preview_prompt(&self, order: &TurnOrder) -> Result<String, String> {
        let role = order.purpose.role();
        let session = self
            .state()
            .session(role)
            .ok_or("this run has no reviewer")?;
        let layout = self.journal.layout();
        let staging = staging_folder::staging_paths(layout, layout.staging_folder(&session.id));
        self.full_prompt(order, &staging)
    }

    /// Builds everything that a turn sends to the agent: what it must be told again, any introduction, then the
    /// prompt.
    pub(super) fn full_prompt(
        &self,
        order: &TurnOrder,
        staging: &TurnStagingFolder,
    ) -> Result<String, String> {
        let mut prompt = self.turn_prompt(order, staging)?;
        if self.needs_recovery(order) {
            prompt = format!("{}\n\n{prompt}", self.recovery_prompt(order)?);
        }
        Ok(if self.needs_execution_introduction(order) {
            format!("{SWITCH_TO_BUILD_PROMPT}\n\n{prompt}")
        } else {
            prompt
        })
    }

    /// Returns whether the planner may not know yet that it executes now: true until its first step is done.
    fn needs_execution_introduction(&self, order: &TurnOrder) -> bool {
        let execution = self.state().execution.as_ref();
        let is_first = execution.is_some_and(|execution| execution.done.is_empty());
        is_first && matches!(order.purpose, TurnPurpose::Step { .. })
    }

    /// Returns whether the role's conversation is lost; a review that always starts a new one needs no recovery.
    fn needs_recovery(&self, order: &TurnOrder) -> bool {
        let session = self.state().session(order.purpose.role());
        session.is_some_and(Session::needs_recovery) && !self.starts_new_conversation(order)
    }

    /// Returns whether the configuration makes a turn start a new conversation.
    pub(super) fn starts_new_conversation(&self, order: &TurnOrder) -> bool {
        // A reviewer that is asked for what its review lacks must continue in the conversation that knows the
        // review.
        let goes_on = matches!(order.again, Some(TurnRetryReason::AskedBack { .. }));
        order.purpose == TurnPurpose::Review
            && !goes_on
            && self.setup.config.workflow.reviewer_session == ReviewerSession::Fresh
    }

    /// Builds the prompt of a turn.
    fn turn_prompt(
        &self,
        order: &TurnOrder,
        staging: &TurnStagingFolder,
    ) -> Result<String, String> {
        let body = match &order.purpose {
            TurnPurpose::RefineGoal { said, .. } => self.refine_goal_prompt(order, said),
            TurnPurpose::WritePlan => self.write_plan_prompt(order, staging)?,
            TurnPurpose::Review => self.review_prompt(order, staging)?,
            TurnPurpose::Respond => self.respond_prompt(order, staging)?,
            TurnPurpose::Step { .. } | TurnPurpose::Fix { .. } | TurnPurpose::Summary => {
                self.execute_prompt(order)?
            }
        };
        let body = body.map_err(|error| error.to_string())?;
        let said = describe_turn_retry(order);
        let refused = describe_denied_requests(&self.state().refused, order.purpose.role());
        let unanswered =
            describe_unanswered_requests(&self.state().unanswered, order.purpose.role());
        let agent = self.agent_instructions(order);
        let remarks = self.describe_user_notes(&order.purpose)?;
        let reports = self.background_results_text(order.purpose.role());
        let results = describe_deferred_results(&self.state().results, order.purpose.role());
        let kept = self.describe_queued_messages(order);
        Ok(format!(
            "{}\n\n{agent}{reports}{unanswered}{refused}{results}{kept}{said}{body}{remarks}",
            prompt_header(order, self.state().iteration)
        ))
    }

    /// Returns the user's own prompt for the turn's agent, marked as such; empty if there is none. It is sent with
    /// each turn because conversations keep the system prompt with which they began.
    fn agent_instructions(&self, order: &TurnOrder) -> String {
        let name = order.purpose.profile().name();
        match self.setup.agent_prompts.get(name) {
            Some(text) => format!(
                "[agent-collab agent {name}]\n{}\n[end of agent {name}]\n\n",
                text.trim()
            ),
            None => String::new(),
        }
    }

    /// Builds the text that is put before a prompt if the CLI has lost the conversation.
    pub(super) fn recovery_prompt(&self, order: &TurnOrder) -> Result<String, String> {
        let state = self.state();
        let done = state
            .execution
            .as_ref()
            .and_then(|execution| execution.done.last());
        let vars = RecoverVars {
            common: CommonVars {
                project_instructions: self.project_instructions(),
                ..self.common_variables(order)
            },
            role: order.purpose.role().name().to_owned(),
            phase: state.phase.name().to_owned(),
            plan: self.plan_for_agents()?,
            comments: self.comments_for_agents()?,
            last_step: done.map(|step| format!("{}. {}", step.n, step.text)),
            open_findings: self.open_findings(),
            prompt: None,
        };
        let body = self
            .setup
            .prompts
            .render_recover(&vars)
            .map_err(|error| error.to_string())?;
        Ok(format!("[agent-collab RECOVER]\n\n{body}"))
    }

    /// Returns the variables of every prompt. The project's instructions are only in the first prompt of a
    /// conversation: later turns have them in the history.
    fn common_variables(&self, order: &TurnOrder) -> CommonVars {
        let goal = self.state().goal.as_ref();
        let session = self.state().session(order.purpose.role());
        let goes_on = !self.starts_new_conversation(order)
            && session.is_some_and(|session| session.external_id.is_some());
        CommonVars {
            goal: goal.map(|goal| goal.text.clone()).unwrap_or_default(),
            goal_title: goal.map(|goal| goal.title.clone()).unwrap_or_default(),
            root: self.setup.root.to_string_lossy().into_owned(),
            tools: self.supports_tools(order.purpose.role()),
            delegating: self.describe_delegation_tools(order),
            project_instructions: if goes_on {
                Vec::new()
            } else {
                self.project_instructions()
            },
        }
    }

    /// Describes what a turn's agent can delegate, because its CLI may list the tools only after a search.
    fn describe_delegation_tools(&self, order: &TurnOrder) -> Option<String> {
        if !self.supports_tools(order.purpose.role()) {
            return None;
        }
        let rules = self.setup.permissions.rules(order.purpose.profile().name());
        let standing = ToolContext {
            purpose: Some(&order.purpose),
            depth: 0,
            rules: &rules,
        };
        let has = DELEGATION_TOOLS
            .iter()
            .filter(|(tool, _)| tool_availability::hidden_reason(tool, &standing).is_none());
        let lines: Vec<String> = has.map(|(tool, does)| format!("`{tool}` {does}")).collect();
        (!lines.is_empty()).then(|| {
            let server = tool_availability::TOOL_SERVER_NAME;
            format!("{}. They are tools of the server `{server}`; if you do not see one, search your tools for its name.", lines.join("; "))
        })
    }

    fn project_instructions(&self) -> Vec<InstructionFile> {
        let files = self.setup.instructions.iter();
        files
            .map(|(name, text)| InstructionFile {
                name: name.clone(),
                folder: name.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
                text: text.clone(),
            })
            .collect()
    }

    /// Returns the plan without the front matter, which is for the program only.
    fn plan_for_agents(&self) -> Result<Option<String>, String> {
        let plan = self.plan_on_disk().map_err(|error| error.to_string())?;
        Ok(plan.as_deref().map(without_front_matter))
    }

    /// Returns the review without the front matter.
    fn comments_for_agents(&self) -> Result<Option<String>, String> {
        let comments = self.comments_on_disk();
        let comments = comments.map_err(|error| error.to_string())?;
        Ok(comments.as_deref().map(without_front_matter))
    }

    /// Returns the template's words for who reviews the plan.
    fn describe_reviewer(&self) -> String {
        let vendor = |role: Role| self.setup.adapters.get(&role)?.traits().model_vendor;
        let (planner, reviewer) = (vendor(Role::Planner), vendor(Role::Reviewer));
        let is_other = planner.is_some() && reviewer.is_some() && planner != reviewer;
        let word = match (&self.state().reviewer, is_other) {
            (None, _) => "nobody",
            (Some(_), true) => "other_vendor",
            (Some(_), false) => "somebody",
        };
        word.to_owned()
    }

    fn refine_goal_prompt(
        &self,
        order: &TurnOrder,
        said: &str,
    ) -> Result<String, PromptRenderError> {
        let vars = RefineGoalVars {
            common: self.common_variables(order),
            role: order.purpose.role().name().to_owned(),
            // A goal that was just given is not repeated as a message.
            message: Some(said.to_owned())
                .filter(|said| *said != self.common_variables(order).goal),
        };
        self.setup.prompts.render_refine_goal(&vars)
    }

    fn write_plan_prompt(
        &self,
        order: &TurnOrder,
        staging: &TurnStagingFolder,
    ) -> Result<Result<String, PromptRenderError>, String> {
        let vars = WritePlanVars {
            common: self.common_variables(order),
            staging_plan: staging.plan.to_string_lossy().into_owned(),
            prior_plan: self.plan_for_agents()?,
            test_command: self.test_command_without_plan().map(|test| test.command),
            retry_reason: turn_retry_reason(order),
            reviewer: self.describe_reviewer(),
        };
        Ok(self.setup.prompts.render_write_plan(&vars))
    }

    fn review_prompt(
        &self,
        order: &TurnOrder,
        staging: &TurnStagingFolder,
    ) -> Result<Result<String, PromptRenderError>, String> {
        let state = self.state();
        let vars = ReviewVars {
            common: self.common_variables(order),
            plan: self.plan_for_agents()?.unwrap_or_default(),
            plan_path: self.journal.layout().plan().to_string_lossy().into_owned(),
            staging_comments: staging.comments.to_string_lossy().into_owned(),
            iteration: state.iteration,
            cap: state.iteration_limit(),
            highest_finding: state.findings.highest_number(),
            open_findings: self.open_findings(),
            retry_reason: turn_retry_reason(order),
        };
        Ok(self.setup.prompts.render_review(&vars))
    }

    fn respond_prompt(
        &self,
        order: &TurnOrder,
        staging: &TurnStagingFolder,
    ) -> Result<Result<String, PromptRenderError>, String> {
        let state = self.state();
        let vars = RespondVars {
            common: self.common_variables(order),
            plan: self.plan_for_agents()?.unwrap_or_default(),
            comments: self.comments_for_agents()?.unwrap_or_default(),
            open_findings: self.open_findings(),
            staging_plan: staging.plan.to_string_lossy().into_owned(),
            staging_comments: staging.comments.to_string_lossy().into_owned(),
            iteration: state.iteration,
            cap: state.iteration_limit(),
            unanswered: match &order.again {
                Some(TurnRetryReason::AskedBack { .. }) => {
                    state.findings.unanswered().map(finding_number).collect()
                }
                _ => repeatedly_unanswered_findings(state),
            },
            retry_reason: turn_retry_reason(order),
        };
        Ok(self.setup.prompts.render_respond(&vars))
    }

    fn execute_prompt(
        &self,
        order: &TurnOrder,
    ) -> Result<Result<String, PromptRenderError>, String> {
        let execution = self
            .state()
            .execution
            .as_ref()
            .ok_or("the execution is not entered")?;
        let plan = self.plan_on_disk().map_err(|error| error.to_string())?;
        let plan = plan.unwrap_or_default();
        if Some(&approval_hash(&plan)) != self.state().approved_sha256.as_ref() {
            return Err("the plan on disk is not the one that was approved".to_owned());
        }
        let vars = ExecuteVars {
            common: self.common_variables(order),
            test_command: execution.test.as_ref().map(|test| test.command.clone()),
            done: execution.done.iter().map(to_done_step).collect(),
            task: self.execute_task(&order.purpose, &plan)?,
            plan: without_front_matter(&plan),
        };
        Ok(self.setup.prompts.render_execute(&vars))
    }

    fn execute_task(&self, purpose: &TurnPurpose, text: &str) -> Result<ExecuteTask, String> {
        let state = self.state();
        let execution = state
            .execution
            .as_ref()
            .ok_or("the execution is not entered")?;
        let total = state.plan.as_ref().map_or(0, |plan| plan.plan.steps.len());
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        let current = execution.current.as_ref().ok_or("no step is at hand");
        let whole = |current: &CurrentStep| {
            let block = plan::step_block(text, current.n).as_deref().map(clean_text);
            block.unwrap_or_else(|| current.text.clone())
        };
        Ok(match purpose {
            TurnPurpose::Step { n } => ExecuteTask::Step {
                number: *n,
                total,
                text: whole(current?),
            },
            TurnPurpose::Fix { n, attempt } => fix_task(
                current?,
                whole(current?),
                *n,
                total,
                *attempt,
                state.settings.max_fix_turns,
                execution.describe_test_doubt(),
            ),
            _ => ExecuteTask::Summary {
                commits: commit_lines(execution),
            },
        })
    }

    /// Returns the open findings with the planner's last answers.
    fn open_findings(&self) -> Vec<OpenFinding> {
        self.state().findings.open().map(to_open_finding).collect()
    }
}

fn fix_task(
    current: &CurrentStep,
    text: String,
    number: u32,
    total: u32,
    attempt: u32,
    attempts: u32,
    doubt: Option<String>,
) -> ExecuteTask {
    let receipt = current.receipt.as_ref();
    let outcome = receipt.map(|receipt| match doubt {
        Some(doubt) => format!("{}, but {doubt}", describe_test_outcome(receipt)),
        None => describe_test_outcome(receipt),
    });
    ExecuteTask::Fix {
        number,
        total,
        text,
        command: receipt
            .map(|receipt| receipt.command.clone())
            .unwrap_or_default(),
        outcome: outcome.unwrap_or_default(),
        output: receipt
            .map(|receipt| {
                truncate::to_lines(
                    &receipt.output_tail,
                    TEST_OUTPUT_LINES.0,
                    TEST_OUTPUT_LINES.1,
                )
            })
            .unwrap_or_default(),
        attempt,
        attempts: attempts.max(attempt),
    }
}

/// Describes how a failed test run ended, to follow "it".
fn describe_test_outcome(receipt: &crate::domain::receipt::Receipt) -> String {
    match receipt.exit_code {
        Some(code) => format!("ended with exit status {code}"),
        None => format!("did not end by itself: {}", receipt.describe()),
    }
}

/// Returns a finished step with its commit.
fn to_done_step(step: &StepRecord) -> DoneStep {
    let end = match &step.outcome {
        StepOutcome::Committed { commit, .. } => {
            format!("commit {}", commit.chars().take(12).collect::<String>())
        }
        StepOutcome::Uncommitted { .. } => "not committed".to_owned(),
        StepOutcome::NoChange => "nothing changed".to_owned(),
    };
    DoneStep {
        n: step.n,
        text: step.text.clone(),
        end,
    }
}

fn without_front_matter(text: &str) -> String {
    front_matter::parse_document(text)
        .body
        .trim_start()
        .to_owned()
}

fn commit_lines(execution: &PlanExecution) -> Vec<CommitLine> {
    let line = |step: &StepRecord| match &step.outcome {
        StepOutcome::Committed { commit, message } => {
            let hash = commit.chars().take(12).collect();
            Some(CommitLine {
                hash,
                title: message.clone(),
            })
        }
        StepOutcome::Uncommitted { .. } | StepOutcome::NoChange => None,
    };
    execution.done.iter().filter_map(line).collect()
}

/// Returns findings that are still open although an earlier review already had them without an answer.
fn repeatedly_unanswered_findings(state: &crate::domain::run::RunState) -> Vec<u32> {
    let older =
        |finding: &&Finding| finding.raised_in < finding.last_in && finding.responses.is_empty();
    state
        .findings
        .open()
        .filter(older)
        .map(finding_number)
        .collect()
}

fn finding_number(finding: &Finding) -> u32 {
    finding.remark.n
}

fn to_open_finding(finding: &Finding) -> OpenFinding {
    OpenFinding {
        n: finding.remark.n,
        severity: finding.remark.severity.as_str().to_owned(),
        text: finding.remark.text.clone(),
        answer: finding.responses.last().map(|(_, response)| {
            let stand = match response.stand {
                FindingDisposition::Accepted => "accepted",
                FindingDisposition::Rejected => "rejected",
            };
            format!("{stand}: {}", response.reason)
        }),
    }
}

/// Returns the first line of every prompt.
fn prompt_header(order: &TurnOrder, iteration: u32) -> String {
    let detail = match &order.purpose {
        TurnPurpose::RefineGoal { .. } | TurnPurpose::WritePlan => String::new(),
        TurnPurpose::Review | TurnPurpose::Respond => format!(" {iteration}"),
        TurnPurpose::Step { n } => format!(" step {n}"),
        TurnPurpose::Fix { n, attempt } => format!(" fix {n}.{attempt}"),
        TurnPurpose::Summary => " summary".to_owned(),
    };
    let phase: Phase = order.purpose.phase();
    format!("[agent-collab {phase}{detail}]")
}
