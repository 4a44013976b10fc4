//! Whose turn it is, when it started and what it used: the author's name is shown once per turn, the usage beside it.
//!
//! All of it is derived from events, so that it also works for a part of the log.

use std::collections::BTreeMap;

use super::block_content::BlockContent;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::event::Event;
use crate::domain::event_wording::describe_version;
use crate::domain::ids::UnixMillis;
use crate::domain::question::QuestionKind;
use crate::domain::session::{SessionUsage, version_label};
use crate::domain::turn::{Role, TurnOutcome, TurnPurpose};
use crate::text::{clean_to_one_line, format_duration};
use crate::tui::labels::format_tokens;

/// State of the current turn.
#[derive(Debug, Default)]
pub(super) struct TurnTracker {
    since: Option<UnixMillis>,
    /// The agent that spoke or acted last in this turn.
    last_agent: Option<BlockAuthor>,
    /// The latest reported totals.
    latest_usage: BTreeMap<Role, SessionUsage>,
    /// The totals when the turn started.
    usage_at_start: BTreeMap<Role, SessionUsage>,
    /// The adapter of each role, as far as events named it.
    adapters: BTreeMap<Role, String>,
    /// Whether the reviewer's next turn is one of a fresh session that judges a dispute.
    expects_judge: bool,
    /// Whether there were earlier turns that are not loaded here.
    has_unseen_turns: bool,
    /// Whether a turn started or ended here; anything before that belongs to an earlier turn.
    has_turn_boundary: bool,
    /// Whether the next block gets its name in any case.
    is_name_reset: bool,
    /// The event of the first block, if it has a name only because earlier blocks are not loaded.
    first_named_block: Option<(u64, BlockAuthor)>,
    /// Turns that started before the loaded part.
    partial_turns: Vec<PartialTurn>,
    /// The end of a turn if nothing else of the turn is loaded, with the totals up to then.
    bare_turn_end: Option<(u64, UnixMillis, BTreeMap<Role, SessionUsage>)>,
}

/// A turn that ended here, with some of its facts unknown.
#[derive(Debug, Clone, Copy)]
struct PartialTurn {
    /// The event that ended it.
    seq: u64,
    role: Role,
    /// When it started, if known.
    since: Option<UnixMillis>,
    ended_at: UnixMillis,
    /// Usage up to its end, if known.
    used: Option<SessionUsage>,
    /// Usage before it, if known.
    before: Option<SessionUsage>,
}

/// Corrections to existing blocks once an earlier part of the log is loaded.
#[derive(Debug, Default)]
pub(super) struct TurnCorrections {
    /// The lines that end turns, each by its event and its role.
    pub turn_end_blocks: Vec<(u64, Role, TranscriptBlock)>,
    /// The line of a turn if only its end was loaded.
    pub bare_end_block: Option<(u64, TranscriptBlock)>,
    /// The event of a block that needs no name, because the author before it is the same.
    pub block_without_name: Option<u64>,
}

impl TurnTracker {
    /// Notes that earlier turns are not loaded: their totals are unknown.
    pub fn mark_unseen_turns(&mut self) {
        self.has_unseen_turns = true;
    }

    /// Shifts event numbers after the start of the log became known.
    pub fn shift_sequence(&mut self, n_before: u64) {
        let cut = self.partial_turns.iter_mut().map(|cut| &mut cut.seq);
        let named = self.first_named_block.iter_mut().map(|(seq, _)| seq);
        let bare = self.bare_turn_end.iter_mut().map(|(seq, ..)| seq);
        cut.chain(named)
            .chain(bare)
            .for_each(|seq| *seq += n_before);
    }

    /// Merges the state of the directly preceding part where nothing later is known; returns the
    /// corrections that this allows.
    pub fn merge_earlier(&mut self, earlier: Self) -> TurnCorrections {
        let mended = self.correct_partial_turns(&earlier);
        let goes_on = !self.has_turn_boundary;
        if goes_on {
            self.since = self.since.or(earlier.since);
            self.last_agent = self.last_agent.or(earlier.last_agent);
        }
        for (role, usage) in earlier.latest_usage {
            self.latest_usage.entry(role).or_insert(usage);
            let before = if goes_on {
                earlier.usage_at_start.get(&role).copied()
            } else {
                Some(usage)
            };
            if let Some(before) = before {
                self.usage_at_start.entry(role).or_insert(before);
            }
        }
        self.partial_turns.splice(0..0, earlier.partial_turns);
        if earlier.is_name_reset {
            self.first_named_block = earlier.first_named_block;
        }
        self.bare_turn_end = self.bare_turn_end.take().or(earlier.bare_turn_end);
        self.has_turn_boundary |= earlier.has_turn_boundary;
        self.is_name_reset |= earlier.is_name_reset;
        for (role, adapter) in earlier.adapters {
            self.adapters.entry(role).or_insert(adapter);
        }
        self.has_unseen_turns = earlier.has_unseen_turns;
        mended
    }

    fn correct_partial_turns(&mut self, earlier: &Self) -> TurnCorrections {
        let all = std::mem::take(&mut self.partial_turns);
        for mut cut in all {
            let totals = match cut.since {
                // The turn started in the earlier part.
                None => &earlier.usage_at_start,
                Some(_) => &earlier.latest_usage,
            };
            let from_zero = (!earlier.has_unseen_turns).then(SessionUsage::default);
            cut.before = cut.before.or(totals.get(&cut.role).copied().or(from_zero));
            let up_to = earlier.latest_usage.get(&cut.role).copied();
            cut.used = cut.used.or(up_to).or(from_zero);
            cut.since = cut.since.or(earlier.since);
            self.partial_turns.push(cut);
        }
        let line_before = self
            .bare_turn_end
            .take()
            .and_then(|bare| self.resolve_bare_end(bare.0, bare.1, bare.2, earlier));
        let lines = self
            .partial_turns
            .iter()
            .map(|cut| (cut.seq, cut.role, cut.turn_end_block()));
        let lines = lines.collect();
        self.partial_turns.retain(|cut| !cut.is_complete());
        let goes_on = |(_, who): &(u64, BlockAuthor)| earlier.last_agent == Some(*who);
        let unnamed = self.first_named_block.filter(goes_on).map(|(seq, _)| seq);
        TurnCorrections {
            turn_end_blocks: lines,
            bare_end_block: line_before,
            block_without_name: unnamed,
        }
    }

    fn resolve_bare_end(
        &mut self,
        seq: u64,
        ended_at: UnixMillis,
        used: BTreeMap<Role, SessionUsage>,
        earlier: &Self,
    ) -> Option<(u64, TranscriptBlock)> {
        let Some(role) = earlier.last_agent.and_then(BlockAuthor::role) else {
            let is_earlier = earlier.has_unseen_turns && !earlier.has_turn_boundary;
            self.bare_turn_end = is_earlier.then(|| {
                let mut all = earlier.latest_usage.clone();
                all.extend(used);
                (seq, ended_at, all)
            });
            return None;
        };
        let from_zero = (!earlier.has_unseen_turns).then(SessionUsage::default);
        let of = |totals: &BTreeMap<Role, SessionUsage>| totals.get(&role).copied();
        let cut = PartialTurn {
            seq,
            role,
            since: earlier.since,
            ended_at,
            used: of(&used).or(of(&earlier.latest_usage)).or(from_zero),
            before: of(&earlier.usage_at_start).or(from_zero),
        };
        self.partial_turns.push(cut);
        Some((seq, cut.turn_end_block()))
    }

    /// Applies an event, given with its number; returns the line that ends a turn.
    pub fn on_event(&mut self, at: UnixMillis, seq: u64, event: &Event) -> Option<TranscriptBlock> {
        match event {
            Event::TurnStarted { .. } | Event::TurnEnded { .. } | Event::PhaseChanged { .. } => {
                self.is_name_reset = true;
            }
            _ => {}
        }
        self.note_judge(event);
        match event {
            Event::UsageReported { role, usage } => {
                self.latest_usage.insert(*role, *usage);
            }
            Event::RunCreated(created) => {
                *self = Self::default();
                let reviewer = created.reviewer.iter();
                let all = [(Role::Planner, &created.planner)].into_iter();
                let all = all.chain(reviewer.map(|session| (Role::Reviewer, session)));
                self.adapters = all.map(|(role, (_, name))| (role, name.clone())).collect();
            }
            Event::SessionMoved { role, adapter, .. } => {
                self.adapters.insert(*role, adapter.clone());
            }
            Event::SessionVersion {
                role,
                adapter,
                version,
            } => return Some(self.version_notice(*role, adapter, version)),
            Event::TurnStarted { .. } => {
                self.since = Some(at);
                self.last_agent = None;
                self.has_turn_boundary = true;
                self.usage_at_start.clone_from(&self.latest_usage);
            }
            Event::TurnEnded {
                result: TurnOutcome::Completed { .. },
                ..
            } => {
                return self.on_turn_end(at, seq);
            }
            Event::TurnEnded { .. } => {
                (self.last_agent, self.since, self.has_turn_boundary) = (None, None, true);
            }
            Event::PhaseChanged { .. } => self.last_agent = None,
            _ => {}
        }
        None
    }

    /// Notes whether a judge comes next. No event names it: after a review it is the only turn on the reviewer's side
    /// before the planner answers or the plan changes.
    fn note_judge(&mut self, event: &Event) {
        match event {
            Event::ReviewCommitted { .. } => self.expects_judge = true,
            Event::QuestionAsked { question } => {
                self.expects_judge = match &question.kind {
                    QuestionKind::Gate { order } => order.purpose == TurnPurpose::Judge,
                    QuestionKind::UsageLimit { purpose, .. }
                    | QuestionKind::AdapterFailed { purpose, .. }
                    | QuestionKind::NoDocument { purpose, .. } => *purpose == TurnPurpose::Judge,
                    _ => false,
                }
            }
            Event::DisputesJudged { .. }
            | Event::ResponseCommitted { .. }
            | Event::PlanCommitted { .. }
            | Event::PlanEdited { .. }
            | Event::PhaseChanged { .. }
            | Event::GoalConfirmed { .. } => self.expects_judge = false,
            _ => {}
        }
    }

    /// Returns whether an agent's block is of a fresh session that judges a dispute.
    pub fn is_judge(&self, who: BlockAuthor) -> bool {
        self.expects_judge && who == BlockAuthor::Agent(Role::Reviewer)
    }

    /// Returns the notice of a role's CLI and its version.
    fn version_notice(&self, role: Role, adapter: &str, version: &str) -> TranscriptBlock {
        let adapter = match adapter {
            // Older logs name the adapter only in an earlier event, which may not be loaded here.
            "" => self.adapters.get(&role).map_or("", String::as_str),
            adapter => adapter,
        };
        let text = describe_version(role, adapter, version);
        let mut block = TranscriptBlock::new(BlockAuthor::System, BlockContent::notice(&text));
        block.cli = Some(clean_to_one_line(&version_label(adapter, version)));
        block.with_role(Some(role))
    }

    fn on_turn_end(&mut self, at: UnixMillis, seq: u64) -> Option<TranscriptBlock> {
        let began_before = self.has_unseen_turns && !self.has_turn_boundary;
        self.has_turn_boundary = true;
        let (since, who) = (self.since.take(), self.last_agent.take());
        let Some(role) = who.and_then(BlockAuthor::role) else {
            self.bare_turn_end = began_before.then(|| (seq, at, self.latest_usage.clone()));
            return None;
        };
        if since.is_none() && !began_before {
            return None;
        }
        let before = self.usage_at_start.get(&role).copied();
        let from_zero = (!self.has_unseen_turns).then(SessionUsage::default);
        let cut = PartialTurn {
            seq,
            role,
            since,
            ended_at: at,
            used: self.latest_usage.get(&role).copied().or(from_zero),
            before: before.or(from_zero),
        };
        if !cut.is_complete() {
            self.partial_turns.push(cut);
        }
        Some(cut.turn_end_block())
    }

    /// Returns whether a block needs a name line: the first of its author, and after another author's
    /// block.
    pub fn claim_name_line(&mut self, block: &TranscriptBlock) -> bool {
        match block.author {
            BlockAuthor::System => false,
            who @ (BlockAuthor::Agent(_) | BlockAuthor::Subagent) => {
                let is_first =
                    !std::mem::replace(&mut self.is_name_reset, true) && self.has_unseen_turns;
                self.first_named_block = self
                    .first_named_block
                    .or(is_first.then_some((block.seq, who)));
                self.last_agent.replace(who) != Some(who)
            }
            BlockAuthor::User | BlockAuthor::TaskGiver => {
                (self.last_agent, self.is_name_reset) = (None, true);
                true
            }
        }
    }

    /// Returns the agent that has spoken or acted last in this turn.
    pub fn speaker(&self) -> Option<BlockAuthor> {
        self.last_agent
    }

    /// Returns the role whose agent spoke or acted last in this turn.
    pub fn last_role(&self) -> Option<Role> {
        self.last_agent.and_then(BlockAuthor::role)
    }

    /// Returns the adapter of a role; empty where it is not known.
    pub fn adapter(&self, role: Option<Role>) -> &str {
        let adapter = role.and_then(|role| self.adapters.get(&role));
        adapter.map_or("", String::as_str)
    }

    /// Makes the next block show its name, because the block with the name may be gone.
    pub fn reset_name(&mut self) {
        self.last_agent = None;
    }
}

impl PartialTurn {
    /// Returns whether all facts of the turn are known.
    fn is_complete(&self) -> bool {
        self.since.is_some() && self.before.is_some() && self.used.is_some()
    }

    fn turn_end_block(&self) -> TranscriptBlock {
        let used = self.describe_tokens();
        let mut block = TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::notice(&self.describe_turn_end(&used)),
        );
        if let Some(since) = self.since {
            let took = match self.ended_at.0.saturating_sub(since.0) {
                ..1_000 => "<1 s".to_owned(),
                took => format_duration(took),
            };
            block.turn_usage = used.into_iter().chain([took]).collect();
        }
        block.with_role(Some(self.role))
    }

    /// Describes the tokens that were read and written, as far as known.
    fn describe_tokens(&self) -> Vec<String> {
        let totals = self.used.zip(self.before).map(|(used, before)| {
            let read = used.input_tokens.saturating_sub(before.input_tokens);
            (
                read,
                used.output_tokens.saturating_sub(before.output_tokens),
            )
        });
        match totals {
            None | Some((0, 0)) => Vec::new(),
            Some((read, written)) => vec![
                format!("{} in", format_tokens(read)),
                format!("{} out", format_tokens(written)),
            ],
        }
    }

    fn describe_turn_end(&self, used: &[String]) -> String {
        let used = match used {
            [] => String::new(),
            parts => format!(" · tokens: {}", parts.join(", ")),
        };
        let who = self.role.name();
        match self.since {
            Some(since) => {
                let took = match self.ended_at.0.saturating_sub(since.0) {
                    ..1_000 => "less than 1 s".to_owned(),
                    took => format_duration(took),
                };
                format!("The {who}'s turn took {took}{used}")
            }
            None => format!("The {who}'s turn ended{used}"),
        }
    }
}
