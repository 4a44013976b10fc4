//! The facts of an event as plain lines, for places that cannot show texts and cards. Each event is
//! described on its own, without the stream.

use super::block_layout::tone_sign;
use super::transcript_block::BlockContent;
use super::{ChatTranscript, discussion_card, event_blocks};
use crate::domain::event::{AgentActivity, Event};
use crate::tui::text_wrap::to_one_line;

impl ChatTranscript {
    /// Returns the latest fact with its sign on one line, if it is the last finished block.
    pub fn last_fact_line(&self) -> Option<String> {
        let last = self.blocks.iter().rfind(|block| !block.is_provisional())?;
        let BlockContent::Fact { text, tone, .. } = &last.content else {
            return None;
        };
        let first = text.lines().next().unwrap_or_default();
        Some(format!("{}{first}", tone_sign(*tone).0))
    }
}

/// Returns what the log shows for an event, except texts and tool calls; cleaned for display.
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
