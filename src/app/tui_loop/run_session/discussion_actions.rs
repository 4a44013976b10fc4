//! Plans and starts discussions for the user.

use crate::config::AppConfig;
use crate::domain::discussion::DiscussionOrder;
use crate::domain::task::TaskWaitMode;
use crate::engine::{DiscussionRequest, Engine, EngineError, TaskCaller};
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;
use crate::text::{clean_to_one_line, pluralize};
use crate::tui::{DiscussionPlanView, DiscussionTopic, Screen};

/// Shows the available presets.
pub fn show_presets(config: &AppConfig, screen: &mut Screen) {
    let presets = config.discuss.presets.iter();
    let presets = presets.map(|(name, preset)| {
        let rounds = preset.rounds.map(|_| {
            let terms = preset.apply_to(config.discuss.default_settings());
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
    screen.on_discussion_presets(presets.collect());
}

/// Shows the settings that a discussion would have.
pub fn plan(engine: &Engine, topic: DiscussionTopic, screen: &mut Screen) {
    match engine.plan_discussion(&to_discussion_request(&topic)) {
        Ok(planned) => screen.show_discussion_plan(&to_planned_view(topic, &planned.order)),
        Err(why) => screen.set_toast(&why.to_string()),
    }
}

/// Starts a discussion. Returns why it did not start.
pub fn start(
    engine: &mut Engine,
    topic: &DiscussionTopic,
) -> Result<Result<(), String>, EngineError> {
    let started = engine.start_discussion(&to_discussion_request(topic))?;
    Ok(started.map(drop).map_err(|why| why.to_string()))
}

fn rounds_label(n: u32) -> String {
    pluralize(usize::try_from(n).unwrap_or(usize::MAX), "round")
}

/// Converts the user's topic to the arguments of a discussion.
pub fn to_arguments(topic: &DiscussionTopic) -> GroupDiscussToolArguments {
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
            "at most {} characters, {} per message",
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
