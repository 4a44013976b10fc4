//! What an event says in facts, where texts and cards have no place.
//!
//! Refuses to know the stream: each event is told by itself.

use super::block_layout::tone_sign;
use super::transcript_block::BlockContent;
use super::{ChatTranscript, discussion_card, event_blocks};
use crate::domain::event::{AgentActivity, Event};
use crate::tui::text_wrap::to_one_line;

impl ChatTranscript {
    /// The fact that was told last, in a line with its sign, where nothing was told since.
    pub fn last_fact_line(&self) -> Option<String> {
        let last = self.blocks.iter().rfind(|block| !block.is_provisional())?;
        let BlockContent::Fact { text, tone, .. } = &last.content else {
            return None;
        };
        let first = text.lines().next().unwrap_or_default();
        Some(format!("{}{first}", tone_sign(*tone).0))
    }
}

/// What an event says beside texts and tools, for the log; drawable.
pub fn event_facts(event: &Event) -> Vec<String> {
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
            .then(|| to_one_line(&patch.describe()))
            .into_iter()
            .collect();
    }
    if let Event::Discussion { news, .. } = event {
        return discussion_card::describe_discussion_event(news)
            .into_iter()
            .collect();
    }
    event_blocks::from_event(event)
        .into_iter()
        .filter_map(|block| match block.content {
            BlockContent::Notice { text }
            | BlockContent::Fact { text, .. }
            | BlockContent::Divider { text } => Some(text),
            BlockContent::Message { .. }
            | BlockContent::Provisional { .. }
            | BlockContent::Thinking { .. }
            | BlockContent::Tool(_)
            | BlockContent::Todos(_)
            | BlockContent::RunSummary(_)
            | BlockContent::Discussion(_) => None,
        })
        .collect()
}
