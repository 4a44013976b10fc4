//! Plans, starts, stops, continues and exports discussions for the user.

use std::fs;

use crate::app::discussion_command;
use crate::app::doctor_checks::diagnose_environment;
use crate::app::export::markdown;
use crate::app::startup::StartError;
use crate::config::AppConfig;
use crate::domain::discussion::{DiscussionOrder, DiscussionSettings, DiscussionStopReason};
use crate::domain::ids::DiscussionId;
use crate::domain::task::TaskWaitMode;
use crate::engine::{DiscussionRequest, Engine, TaskCaller};
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;
use crate::store::atomic_file;
use crate::text::{clean_to_one_line, pluralize};
use crate::tui::{Action, DiscussionPlanView, DiscussionTopic};

use super::run_startup::RunStartKind;
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

fn rounds_label(n: u32) -> String {
    pluralize(usize::try_from(n).unwrap_or(usize::MAX), "round")
}

impl TuiApp {
    /// Shows the available discussion presets on the screen.
    pub(super) fn show_presets(&mut self, config: &AppConfig) {
        let presets = config.discuss.presets.iter();
        let presets = presets.map(|(name, preset)| {
            let rounds = preset.rounds.map(|_| {
                let terms = preset.apply_to(DiscussionSettings::default());
                format!("at most {}", rounds_label(terms.max_rounds()))
            });
            let parts = [
                preset.mode.map(|mode| mode.as_str().to_owned()),
                rounds,
                preset.context.as_deref().map(clean_to_one_line),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (name.clone(), parts.join(", "))
        });
        self.screen.on_discussion_presets(presets.collect());
    }

    /// Shows the settings that a discussion would have.
    pub(super) fn plan_discussion(
        &mut self,
        topic: DiscussionTopic,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = self.require_engine() else {
            return Ok(None);
        };
        match engine.plan_discussion(&to_discussion_request(&topic)) {
            Ok(planned) => self
                .screen
                .show_discussion_plan(&to_planned_view(topic, &planned.order)),
            Err(why) => self.screen.set_toast(&why.to_string()),
        }
        Ok(None)
    }

    /// Starts a discussion; without a run, opens one that has no goal.
    pub(super) fn start_discussion(
        &mut self,
        topic: DiscussionTopic,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return self.start_run(RunStartKind::ForAction(Box::new(Action::Discuss(topic))));
        };
        if let Err(why) = engine.start_discussion(&to_discussion_request(&topic))? {
            self.return_to_composer(&why.to_string(), &Action::Discuss(topic));
        }
        self.show_updates()
    }

    pub(super) fn stop_discussion(&mut self, id: &DiscussionId) -> Result<Option<TuiEnd>, TuiEnd> {
        let stopped = match &mut self.engine {
            Some(engine) => engine.stop_discussion(id, DiscussionStopReason::User)?,
            None => false,
        };
        if !stopped {
            self.screen
                .set_toast("That discussion has already finished.");
        }
        self.show_updates()
    }

    pub(super) fn continue_discussion(
        &mut self,
        id: &DiscussionId,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = self.require_engine() else {
            return Ok(None);
        };
        if let Err(why) = engine.resume_discussion(id, TaskWaitMode::Background)? {
            self.screen.set_toast(&why.to_string());
        }
        self.show_updates()
    }

    fn require_engine(&mut self) -> Option<&mut Engine> {
        if self.engine.is_none() {
            self.screen.set_toast("No run yet. Write the goal first.");
        }
        self.engine.as_mut()
    }

    /// Exports a discussion of the run in front. The file goes to the export directory: only the engine writes in the
    /// run's own directory.
    pub(super) fn export_discussion(
        &mut self,
        id: &DiscussionId,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let seen = self.views.active_run().map(|(_, layout)| layout);
        let own = || Some(self.occupied.as_ref()?.layout.clone());
        let Some(folder) = seen.or_else(own).map(|layout| layout.exports()) else {
            return Ok(None);
        };
        let (screen, state) = self.active_screen();
        let mut discussions = state.iter().flat_map(|state| &state.discussions);
        let Some(discussion) = discussions.find(|each| each.id() == id) else {
            return Ok(None);
        };
        let path = folder.join(format!("{id}.md"));
        let text = markdown::render_discussion(discussion);
        if let Err(error) = fs::create_dir_all(&folder) {
            screen.set_toast(&format!("Cannot create {}: {error}", folder.display()));
            return Ok(None);
        }
        // A symbolic link there is replaced, not followed: the user did not name this path.
        screen.set_toast(&match atomic_file::replace_file(&path, text.as_bytes()) {
            Ok(()) => format!("Written to {}", path.display()),
            Err(error) => format!("{error}; {}", error.hint()),
        });
        Ok(None)
    }

    /// Shows what a discussion would be given.
    pub(super) fn show_budget(&mut self, preset: Option<String>) -> Result<Option<TuiEnd>, TuiEnd> {
        let wishes = self.wishes.clone();
        let arguments = GroupDiscussToolArguments {
            preset,
            ..GroupDiscussToolArguments::default()
        };
        self.spawn_background(async move {
            let derived = discussion_command::preview_budget(&wishes, arguments).await;
            let told = derived.map(|derived| derived.describe());
            BackgroundResult::TextReady("What a discussion would get", Box::new(told))
        });
        Ok(None)
    }

    /// Shows what a run needs and whether it is there.
    pub(super) fn diagnose(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let wishes = self.wishes.clone();
        self.spawn_background(async move {
            let found = diagnose_environment(&wishes).await;
            let told = found.map(|found| found.to_text());
            BackgroundResult::TextReady("What a run needs here", Box::new(told))
        });
        Ok(None)
    }

    pub(super) fn on_text_ready(
        &mut self,
        title: &'static str,
        told: Result<String, StartError>,
    ) -> Option<TuiEnd> {
        let (screen, _) = self.active_screen();
        match told {
            Ok(text) => screen.show_text(title, &text),
            Err(refusal) => screen.set_toast(&format!("{}; {}", refusal.problem, refusal.hint)),
        }
        None
    }
}

/// Converts the user's topic to the arguments of a discussion.
pub(super) fn to_arguments(topic: &DiscussionTopic) -> GroupDiscussToolArguments {
    GroupDiscussToolArguments {
        topic: topic.text.clone(),
        preset: topic.preset.clone(),
        ..GroupDiscussToolArguments::default()
    }
}

fn to_discussion_request(topic: &DiscussionTopic) -> DiscussionRequest {
    DiscussionRequest {
        caller: TaskCaller::User,
        arguments: to_arguments(topic),
        finding: topic.finding,
        wait_mode: TaskWaitMode::Background,
    }
}

/// Formats a plan for the dialog.
fn to_planned_view(topic: DiscussionTopic, order: &DiscussionOrder) -> DiscussionPlanView {
    let participants = order.participants.iter().map(|each| {
        let name = clean_to_one_line(&each.name);
        format!("{name} ({})", clean_to_one_line(&each.adapter))
    });
    let terms = &order.terms;
    let budget = order.participants.first().map(|each| {
        let budget = terms.budget_for_adapter(&each.adapter);
        format!(
            "up to {} characters of the discussion, {} per message",
            budget.context_chars, budget.message_chars
        )
    });
    DiscussionPlanView {
        topic: DiscussionTopic {
            text: order.topic.clone(),
            ..topic
        },
        participants: participants.collect(),
        settings: format!(
            "{}, up to {}, {} min per answer, {} min in total",
            terms.mode.as_str(),
            rounds_label(terms.max_rounds()),
            terms.timeout_ms / 60_000,
            terms.deadline_ms / 60_000,
        ),
        budget: budget.unwrap_or_default(),
    }
}
