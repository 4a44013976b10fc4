//! Turns a discussion request into a plan for the discussion, or into the reason why it cannot start.
//!
//! The request overrides the preset, and the preset overrides the configuration, field by field. Everything
//! is checked before anything starts, the files too. Does not start anything.

use std::path::Path;

use thiserror::Error;

use super::attachments::AttachmentError;
use super::discussion_request::DiscussionRequest;
use crate::config::AppConfig;
use crate::config::effective_permissions::EffectivePermissions;
use crate::domain::discussion::{
    AttachmentFile, DiscussionOrder, DiscussionOverrides, DiscussionSettings, MAX_TOPIC_CHARS,
    RosterError, SettingOutOfRange,
};
use crate::domain::ids::DiscussionId;
use crate::engine::discussion_runner::finding_topic::with_finding_context;
use crate::engine::run_context::RunContext;
use crate::engine::subagents::authorization::check_agent_allowed;
use crate::engine::{TaskCaller, TaskStartError, agent_activity};
use crate::mcp::tools::group_discuss::{self, GroupDiscussToolArguments};
use crate::store::WorkdirLayout;
use crate::store::scoped_read::FileText;
use crate::text::clean_text;

/// The maximum length of the context, in characters.
pub const MAX_CONTEXT_CHARS: usize = 100_000;

/// The error text for a context that is too long.
pub const CONTEXT_TOO_LONG: &str =
    "the context is longer than 100,000 characters; name files instead";

/// Explains why a discussion could not start.
#[derive(Debug, Error)]
pub enum DiscussionStartError {
    /// The topic is empty or too long, or the context is too long.
    #[error("{0}")]
    InvalidTopic(&'static str),
    #[error("no preset {name:?}; {}", known_presets(.known))]
    NoSuchPreset {
        /// The name that was given.
        name: String,
        /// The names of the existing presets.
        known: Vec<String>,
    },
    /// The participants cannot be chosen as requested.
    #[error(transparent)]
    InvalidRoster(#[from] RosterError),
    /// A setting is out of range.
    #[error(transparent)]
    OutOfRange(#[from] SettingOutOfRange),
    /// The caller may not start the agent of a participant.
    #[error(transparent)]
    NotAllowed(#[from] TaskStartError),
    /// A file cannot be attached.
    #[error(transparent)]
    Attachment(#[from] AttachmentError),
    #[error("no finding {0} in this run")]
    NoSuchFinding(u32),
    /// No discussion with this id can be resumed.
    #[error("{0}")]
    CannotResume(String),
}

fn known_presets(known: &[String]) -> String {
    match known {
        [] => "there are none; add [discuss.preset.NAME] to config.toml".to_owned(),
        known => format!("there are {}", known.join(", ")),
    }
}

/// A checked discussion that is ready to start.
#[derive(Debug)]
pub struct DiscussionPlan {
    /// The order, with an id of its own.
    pub order: DiscussionOrder,
    pub(super) attachments: Vec<FileText>,
}

impl DiscussionPlan {
    /// Warns that not everything fits into a prompt and says what happens then; `None` where everything fits.
    pub fn describe_truncation(&self) -> Option<String> {
        let order = &self.order;
        let texts = [&order.topic, &order.context].into_iter();
        let texts = texts.chain(self.attachments.iter().map(|source| &source.text));
        let n_given: u64 = texts.map(|text| text.chars().count() as u64).sum();
        let budgets = order.participants.iter();
        let budgets =
            budgets.map(|each| order.terms.budget_for_adapter(&each.adapter).context_chars);
        let room = budgets.min()?;
        (n_given > room).then(|| {
            format!(
                "too long: topic, context and files have {n_given} characters, a prompt has room for {room}; the context \
                 is cut, and files are only named (raise discuss.budget.input_tokens for more)"
            )
        })
    }
}

/// Everything that planning a discussion needs.
#[derive(Debug, Clone, Copy)]
pub struct DiscussionPlanner<'a> {
    /// The repository's real root.
    pub root: &'a Path,
    /// The configuration in force.
    pub config: &'a AppConfig,
    /// The permission rules in force.
    pub permissions: &'a EffectivePermissions,
    /// The layout of the program's own folder.
    pub layout: &'a WorkdirLayout,
}

/// Plans a discussion; starts nothing.
///
/// # Errors
/// The discussion could not start.
pub(in crate::engine) fn plan_discussion(
    run: &RunContext,
    ask: &DiscussionRequest,
) -> Result<DiscussionPlan, DiscussionStartError> {
    let planned = match ask.finding {
        Some(n) => build_planner(run).plan(&with_finding_context(run, n, ask)?)?,
        None => build_planner(run).plan(ask)?,
    };
    for participant in &planned.order.participants {
        check_agent_allowed(
            run,
            &ask.caller,
            group_discuss::TOOL.name,
            &participant.agent,
        )?;
    }
    Ok(planned)
}

pub(super) fn build_planner(run: &RunContext) -> DiscussionPlanner<'_> {
    let setup = &run.setup;
    DiscussionPlanner {
        root: &setup.root,
        config: &setup.config,
        permissions: &setup.permissions,
        layout: run.journal.layout(),
    }
}

impl DiscussionPlanner<'_> {
    /// Plans a discussion without checking whether the caller's rules allow it.
    ///
    /// # Errors
    /// The discussion could not start.
    pub fn plan(&self, ask: &DiscussionRequest) -> Result<DiscussionPlan, DiscussionStartError> {
        let said = &ask.arguments;
        let topic = validate_topic(&said.topic)?;
        let preset = self.find_preset(said.preset.as_deref())?;
        let terms = self.resolve_settings(said, &preset)?;
        let participants = self.resolve_participants(said, &preset, terms.mode)?;
        let context: Vec<&str> = [preset.context.as_deref(), said.context.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let context = clean_text(&context.join("\n\n"));
        if context.chars().count() > MAX_CONTEXT_CHARS {
            return Err(DiscussionStartError::InvalidTopic(CONTEXT_TOO_LONG));
        }
        let sources = self.read_attachments(&ask.caller, &said.files)?;
        let files = sources.iter().map(|source| AttachmentFile {
            path: source.name.clone(),
            n_bytes: source.text.len() as u64,
        });
        let order = DiscussionOrder {
            id: DiscussionId::new(format!("dsc_{}", uuid::Uuid::now_v7().simple())),
            parent: match &ask.caller {
                TaskCaller::User => None,
                TaskCaller::Session(session) => Some(session.clone()),
            },
            topic,
            context,
            files: files.collect(),
            participants,
            terms,
            preset: said.preset.clone(),
            finding: ask.finding,
        };
        Ok(DiscussionPlan {
            order,
            attachments: sources,
        })
    }

    fn find_preset(&self, name: Option<&str>) -> Result<DiscussionOverrides, DiscussionStartError> {
        let presets = &self.config.discuss.presets;
        let Some(name) = name else {
            return Ok(DiscussionOverrides::default());
        };
        presets
            .get(name)
            .cloned()
            .ok_or_else(|| DiscussionStartError::NoSuchPreset {
                name: agent_activity::clean_line(name),
                known: presets.keys().cloned().collect(),
            })
    }

    /// Resolves the settings: the request first, then the preset, then the configuration.
    fn resolve_settings(
        &self,
        said: &GroupDiscussToolArguments,
        preset: &DiscussionOverrides,
    ) -> Result<DiscussionSettings, SettingOutOfRange> {
        let explicit = DiscussionOverrides {
            mode: said.mode,
            order: said.order,
            rounds: said.rounds,
            keep_sessions: said.keep_sessions,
            verbose: said.verbose,
            ..DiscussionOverrides::default()
        };
        let written = preset.apply_to(self.config.discuss.default_settings());
        let terms = explicit.apply_to(written).validated()?;
        Ok(DiscussionSettings {
            // A higher concurrency than the number of slots would only make participants wait for a slot.
            concurrency: terms
                .concurrency
                .min(self.config.limits.max_children.max(1)),
            ..terms
        })
    }
}

fn validate_topic(said: &str) -> Result<String, DiscussionStartError> {
    let topic = clean_text(said).trim().to_owned();
    match topic.chars().count() {
        0 => Err(DiscussionStartError::InvalidTopic(
            "no topic: say what to decide, and between which options",
        )),
        n if n > MAX_TOPIC_CHARS => Err(DiscussionStartError::InvalidTopic(
            "the topic is longer than 1,000 characters; move the rest into the context",
        )),
        _ => Ok(topic),
    }
}
