//! Discussions of the run, by the user's hand: planned, begun, stopped, gone on with, written down.

use std::fs;

use crate::app::diagnosing::diagnosis;
use crate::app::discussions;
use crate::app::export::markdown;
use crate::app::start::Refusal;
use crate::config::Config;
use crate::domain::discussion::{DiscussionOrder, Mode, StopReason, Terms};
use crate::domain::ids::DiscussionId;
use crate::domain::task::Waits;
use crate::engine::{Caller, DiscussionAsk, Engine};
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;
use crate::store::atomic_file;
use crate::text::{n_of, one_line};
use crate::tui::{Action, Planned, Topic};

use super::beginning::What;
use super::ending::End;
use super::{Done, Shell};

fn rounds(n: u32) -> String {
    n_of(usize::try_from(n).unwrap_or(usize::MAX), "round")
}

impl Shell {
    /// Tells the screen which presets of discussions there are.
    pub(super) fn name_presets(&mut self, config: &Config) {
        let presets = config.discuss.presets.iter();
        let presets = presets.map(|(name, preset)| {
            let mode = preset.mode.as_deref().and_then(Mode::named);
            let rounds = preset.rounds.map(|n| {
                let terms = Terms {
                    mode: mode.unwrap_or_default(),
                    rounds: n,
                    ..Terms::default()
                };
                format!("{} at most", rounds(terms.n_rounds()))
            });
            let parts = [
                preset.mode.clone(),
                rounds,
                preset.context.as_deref().map(one_line),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (name.clone(), parts.join(", "))
        });
        self.screen.on_presets(presets.collect());
    }

    /// Shows what a discussion would be begun with.
    pub(super) fn plan_discussion(&mut self, topic: Topic) -> Result<Option<End>, End> {
        let Some(engine) = self.engine_to_discuss() else {
            return Ok(None);
        };
        match engine.plan_discussion(&ask(&topic)) {
            Ok(planned) => self.screen.on_planned(&in_words(topic, &planned.order)),
            Err(why) => self.screen.on_word(&why.to_string()),
        }
        Ok(None)
    }

    /// Begins a discussion; where there is no run yet, in one that has no goal.
    pub(super) fn discuss(&mut self, topic: Topic) -> Result<Option<End>, End> {
        let Some(engine) = &mut self.engine else {
            return self.begin(What::Beside(Box::new(Action::Discuss(topic))));
        };
        if let Err(why) = engine.begin_discussion(&ask(&topic))? {
            self.refuse_sent(&why.to_string(), &Action::Discuss(topic));
        }
        self.show_news()
    }

    pub(super) fn stop_discussion(&mut self, id: &DiscussionId) -> Result<Option<End>, End> {
        let stopped = match &mut self.engine {
            Some(engine) => engine.stop_discussion(id, StopReason::User)?,
            None => false,
        };
        if !stopped {
            self.screen.on_word("that discussion is over already");
        }
        self.show_news()
    }

    pub(super) fn go_on_discussing(&mut self, id: &DiscussionId) -> Result<Option<End>, End> {
        let Some(engine) = self.engine_to_discuss() else {
            return Ok(None);
        };
        if let Err(why) = engine.continue_discussion(id, Waits::Background)? {
            self.screen.on_word(&why.to_string());
        }
        self.show_news()
    }

    fn engine_to_discuss(&mut self) -> Option<&mut Engine> {
        if self.engine.is_none() {
            self.screen
                .on_word("there is no run yet: write the goal first");
        }
        self.engine.as_mut()
    }

    /// Writes a discussion of the run in front down, among the pages: where a run lies only its engine writes.
    pub(super) fn export_discussion(&mut self, id: &DiscussionId) -> Result<Option<End>, End> {
        let seen = self.views.run_in_front().map(|(_, layout)| layout);
        let own = || Some(self.occupied.as_ref()?.layout.clone());
        let Some(folder) = seen.or_else(own).map(|layout| layout.exports()) else {
            return Ok(None);
        };
        let (screen, state) = self.front();
        let mut discussions = state.iter().flat_map(|state| &state.discussions);
        let Some(discussion) = discussions.find(|each| each.id() == id) else {
            return Ok(None);
        };
        let path = folder.join(format!("{id}.md"));
        let text = markdown::of_discussion(discussion);
        if let Err(error) = fs::create_dir_all(&folder) {
            screen.on_word(&format!("cannot make {}: {error}", folder.display()));
            return Ok(None);
        }
        // A link that lies there is put away and not followed: it is nobody's wish.
        screen.on_word(&match atomic_file::replace_file(&path, text.as_bytes()) {
            Ok(()) => format!("written to {}", path.display()),
            Err(error) => format!("{error}; {}", error.hint()),
        });
        Ok(None)
    }

    /// Works out what a discussion would be given.
    pub(super) fn show_budget(&mut self, preset: Option<String>) -> Result<Option<End>, End> {
        let wishes = self.wishes.clone();
        let arguments = GroupDiscussToolArguments {
            preset,
            ..GroupDiscussToolArguments::default()
        };
        self.beside(async move {
            let derived = discussions::budget(&wishes, arguments).await;
            let told = derived.map(|derived| derived.in_words());
            Done::Told("what a discussion would be given", Box::new(told))
        });
        Ok(None)
    }

    /// Looks at what everything stands on.
    pub(super) fn diagnose(&mut self) -> Result<Option<End>, End> {
        let wishes = self.wishes.clone();
        self.beside(async move {
            let found = diagnosis(&wishes).await;
            let told = found.map(|found| found.in_words());
            Done::Told("what a run stands on here", Box::new(told))
        });
        Ok(None)
    }

    pub(super) fn on_told(
        &mut self,
        title: &'static str,
        told: Result<String, Refusal>,
    ) -> Option<End> {
        let (screen, _) = self.front();
        match told {
            Ok(text) => screen.on_text(title, &text),
            Err(refusal) => screen.on_word(&format!("{}; {}", refusal.problem, refusal.hint)),
        }
        None
    }
}

/// What the user said of a discussion.
pub(super) fn topic_of(topic: &Topic) -> GroupDiscussToolArguments {
    GroupDiscussToolArguments {
        topic: topic.text.clone(),
        preset: topic.preset.clone(),
        ..GroupDiscussToolArguments::default()
    }
}

fn ask(topic: &Topic) -> DiscussionAsk {
    DiscussionAsk {
        caller: Caller::User,
        arguments: topic_of(topic),
        finding: topic.finding,
        waits: Waits::Background,
    }
}

/// A plan as a dialog says it.
fn in_words(topic: Topic, order: &DiscussionOrder) -> Planned {
    let participants = order.participants.iter().map(|each| {
        let name = one_line(&each.name);
        format!("{name} ({})", one_line(&each.adapter))
    });
    let terms = &order.terms;
    let budget = order.participants.first().map(|each| {
        let budget = terms.budget_at(&each.adapter);
        format!(
            "{} characters of it at a time, {} of each message of another",
            budget.context_chars, budget.message_chars
        )
    });
    Planned {
        topic: Topic {
            text: order.topic.clone(),
            ..topic
        },
        participants: participants.collect(),
        terms: format!(
            "{}, {} at most, {} min a speech, {} min in all",
            terms.mode.name(),
            rounds(terms.n_rounds()),
            terms.timeout_ms / 60_000,
            terms.deadline_ms / 60_000,
        ),
        budget: budget.unwrap_or_default(),
    }
}
