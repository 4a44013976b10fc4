//! What an event says in facts, where texts and cards have no place.
//!
//! Refuses to know the stream: each event is told by itself.

use super::block::Content;
use super::lines::sign;
use super::{Transcript, retell, talk};
use crate::domain::event::{AgentActivity, Event};
use crate::tui::wrap::one_line;

impl Transcript {
    /// The fact that was told last, in a line with its sign, where nothing was told since.
    pub fn last_fact(&self) -> Option<String> {
        let last = self.blocks.iter().rfind(|block| !block.is_provisional())?;
        let Content::Fact { text, tone, .. } = &last.content else {
            return None;
        };
        let first = text.lines().next().unwrap_or_default();
        Some(format!("{}{first}", sign(*tone).0))
    }
}

/// What an event says beside texts and tools, for the log; drawable.
pub fn facts(event: &Event) -> Vec<String> {
    if let Event::Agent {
        news:
            AgentActivity::Text { .. }
            | AgentActivity::Thinking { .. }
            | AgentActivity::ToolEnded { .. },
        ..
    } = event
    {
        return Vec::new();
    }
    if let Event::TaskPatched { patch, .. } = event {
        return patch
            .is_settled()
            .then(|| one_line(&patch.describe()))
            .into_iter()
            .collect();
    }
    if let Event::Discussion { news, .. } = event {
        return talk::in_words(news).into_iter().collect();
    }
    retell::event(event)
        .into_iter()
        .filter_map(|block| match block.content {
            Content::Notice { text } | Content::Fact { text, .. } | Content::Divider { text } => {
                Some(text)
            }
            Content::Speech { .. }
            | Content::Provisional { .. }
            | Content::Thinking { .. }
            | Content::Tool(_)
            | Content::Todos(_)
            | Content::Ending(_)
            | Content::Talk(_) => None,
        })
        .collect()
}
