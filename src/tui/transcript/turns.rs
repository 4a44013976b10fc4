//! Whose turn it is, when it began and what it used: a name stands once a turn, and its cost below it.
//!
//! Refuses to know the run's state: all of it is read off the events.

use std::collections::BTreeMap;

use super::block::{Block, Content, Who};
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::session::{SessionUsage, version_label};
use crate::domain::turn::{Role, TurnOutcome};
use crate::tui::words::{elapsed, tokens};
use crate::tui::wrap::one_line;

/// The turn at hand.
#[derive(Debug, Default)]
pub(super) struct Turns {
    since: Option<UnixMillis>,
    /// Who spoke or acted last, in this turn.
    last: Option<Role>,
    /// The totals that were told last.
    used: BTreeMap<Role, SessionUsage>,
    /// The totals when the turn began.
    before: BTreeMap<Role, SessionUsage>,
    /// At which adapter each role is, as far as it was told.
    adapters: BTreeMap<Role, String>,
    /// Whether turns came before that are not told here.
    lacks_earlier: bool,
    /// Whether a turn began or ended here; what comes before that is of one that began earlier.
    has_bounds: bool,
    /// Whether the next block had its name in any case.
    is_reset: bool,
    /// The event of the first block, where it has a name only because what came before is not told here.
    first_named: Option<(u64, Role)>,
    /// The turns of which something was told before what is told here.
    cut: Vec<Cut>,
    /// The end of a turn of which nothing else is told here, with the totals up to then.
    bare: Option<(u64, UnixMillis, BTreeMap<Role, SessionUsage>)>,
}

/// A turn that ended here and of which not everything is known.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// The event that ended it.
    seq: u64,
    role: Role,
    /// When it began, where that is known.
    since: Option<UnixMillis>,
    ended_at: UnixMillis,
    /// What was used up to then, where that is known.
    used: Option<SessionUsage>,
    /// What was used before it, where that is known.
    before: Option<SessionUsage>,
}

/// What the earlier part of the log changes of what is told already.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// The lines that end turns, each by its event and its role.
    pub lines: Vec<(u64, Role, String)>,
    /// The line of a turn of which only the end was told.
    pub line_before: Option<(u64, Block)>,
    /// The event of a block that needs no name: its author goes on.
    pub unnamed: Option<u64>,
}

impl Turns {
    /// Events came before that are not told here: what totals were then is not known.
    pub fn begin_later(&mut self) {
        self.lacks_earlier = true;
    }

    /// Counts events from a later one on, as their log does.
    pub fn count_from(&mut self, n_before: u64) {
        let cut = self.cut.iter_mut().map(|cut| &mut cut.seq);
        let named = self.first_named.iter_mut().map(|(seq, _)| seq);
        let bare = self.bare.iter_mut().map(|(seq, ..)| seq);
        cut.chain(named)
            .chain(bare)
            .for_each(|seq| *seq += n_before);
    }

    /// Takes over what was told right before, where nothing later is known; gives what of that is known now.
    pub fn take_earlier(&mut self, earlier: Self) -> Mended {
        let mended = self.mend(&earlier);
        let goes_on = !self.has_bounds;
        if goes_on {
            self.since = self.since.or(earlier.since);
            self.last = self.last.or(earlier.last);
        }
        for (role, usage) in earlier.used {
            self.used.entry(role).or_insert(usage);
            let before = match goes_on {
                true => earlier.before.get(&role).copied(),
                false => Some(usage),
            };
            if let Some(before) = before {
                self.before.entry(role).or_insert(before);
            }
        }
        self.cut.splice(0..0, earlier.cut);
        if earlier.is_reset {
            self.first_named = earlier.first_named;
        }
        self.bare = self.bare.take().or(earlier.bare);
        self.has_bounds |= earlier.has_bounds;
        self.is_reset |= earlier.is_reset;
        for (role, adapter) in earlier.adapters {
            self.adapters.entry(role).or_insert(adapter);
        }
        self.lacks_earlier = earlier.lacks_earlier;
        mended
    }

    fn mend(&mut self, earlier: &Self) -> Mended {
        let all = std::mem::take(&mut self.cut);
        for mut cut in all {
            let totals = match cut.since {
                // It began in the earlier part.
                None => &earlier.before,
                Some(_) => &earlier.used,
            };
            let from_zero = (!earlier.lacks_earlier).then(SessionUsage::default);
            cut.before = cut.before.or(totals.get(&cut.role).copied().or(from_zero));
            let up_to = earlier.used.get(&cut.role).copied();
            cut.used = cut.used.or(up_to).or(from_zero);
            cut.since = cut.since.or(earlier.since);
            self.cut.push(cut);
        }
        let line_before = self
            .bare
            .take()
            .and_then(|bare| self.tell_bare(bare, earlier));
        let lines = self
            .cut
            .iter()
            .map(|cut| (cut.seq, cut.role, cut.in_words()));
        let lines = lines.collect();
        self.cut.retain(|cut| !cut.is_whole());
        let goes_on = |(_, role): &(u64, Role)| earlier.last == Some(*role);
        let unnamed = self.first_named.filter(goes_on).map(|(seq, _)| seq);
        Mended {
            lines,
            line_before,
            unnamed,
        }
    }

    fn tell_bare(
        &mut self,
        (seq, ended_at, used): (u64, UnixMillis, BTreeMap<Role, SessionUsage>),
        earlier: &Self,
    ) -> Option<(u64, Block)> {
        let Some(role) = earlier.last else {
            let is_earlier = earlier.lacks_earlier && !earlier.has_bounds;
            self.bare = is_earlier.then(|| {
                let mut all = earlier.used.clone();
                all.extend(used);
                (seq, ended_at, all)
            });
            return None;
        };
        let from_zero = (!earlier.lacks_earlier).then(SessionUsage::default);
        let of = |totals: &BTreeMap<Role, SessionUsage>| totals.get(&role).copied();
        let cut = Cut {
            seq,
            role,
            since: earlier.since,
            ended_at,
            used: of(&used).or(of(&earlier.used)).or(from_zero),
            before: of(&earlier.before).or(from_zero),
        };
        self.cut.push(cut);
        Some((seq, cut.line()))
    }

    /// Takes an event in, by its number; gives the line that ends a turn.
    pub fn on_event(&mut self, (at, seq): (UnixMillis, u64), event: &Event) -> Option<Block> {
        match event {
            Event::TurnStarted { .. } | Event::TurnEnded { .. } | Event::PhaseChanged { .. } => {
                self.is_reset = true;
            }
            _ => {}
        }
        match event {
            Event::UsageReported { role, usage } => {
                self.used.insert(*role, *usage);
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
            } => return Some(self.is_of_version(*role, adapter, version)),
            Event::TurnStarted { .. } => {
                self.since = Some(at);
                self.last = None;
                self.has_bounds = true;
                self.before.clone_from(&self.used);
            }
            Event::TurnEnded {
                result: TurnOutcome::Completed { .. },
                ..
            } => {
                return self.on_turn_end(at, seq);
            }
            Event::TurnEnded { .. } => {
                (self.last, self.since, self.has_bounds) = (None, None, true);
            }
            Event::PhaseChanged { .. } => self.last = None,
            _ => {}
        }
        None
    }

    /// Which CLI a role is played by.
    fn is_of_version(&self, role: Role, adapter: &str, version: &str) -> Block {
        let who = role.name();
        let adapter = match adapter {
            "" => self.adapters.get(&role).map_or("", String::as_str),
            adapter => adapter,
        };
        let text = match adapter {
            // It was told before what is shown, and is no part of what was recorded then.
            "" => format!("the {who}'s CLI has the version {}", one_line(version)),
            name => format!("the {who} is {}", one_line(&version_label(name, version))),
        };
        Block::new(Who::System, Content::notice(&text)).about(Some(role))
    }

    fn on_turn_end(&mut self, at: UnixMillis, seq: u64) -> Option<Block> {
        let began_before = self.lacks_earlier && !self.has_bounds;
        self.has_bounds = true;
        let (since, role) = (self.since.take(), self.last.take());
        let Some(role) = role else {
            self.bare = began_before.then(|| (seq, at, self.used.clone()));
            return None;
        };
        if since.is_none() && !began_before {
            return None;
        }
        let before = self.before.get(&role).copied();
        let from_zero = (!self.lacks_earlier).then(SessionUsage::default);
        let cut = Cut {
            seq,
            role,
            since,
            ended_at: at,
            used: self.used.get(&role).copied().or(from_zero),
            before: before.or(from_zero),
        };
        if !cut.is_whole() {
            self.cut.push(cut);
        }
        Some(cut.line())
    }

    /// Says whether a block needs a name line: the first of its author, and after somebody else's.
    pub fn names(&mut self, block: &Block) -> bool {
        match (block.who, &block.content) {
            (Who::System, _) => false,
            (Who::Agent(role), _) => {
                let is_first = !std::mem::replace(&mut self.is_reset, true) && self.lacks_earlier;
                self.first_named = self.first_named.or(is_first.then_some((block.seq, role)));
                self.last.replace(role) != Some(role)
            }
            (Who::You, _) => {
                (self.last, self.is_reset) = (None, true);
                true
            }
        }
    }

    /// A name that was written may be gone: the next block has its own.
    pub fn forget_name(&mut self) {
        self.last = None;
    }
}

impl Cut {
    /// Tells whether nothing more of it can be known.
    fn is_whole(&self) -> bool {
        self.since.is_some() && self.before.is_some() && self.used.is_some()
    }

    fn line(&self) -> Block {
        let block = Block::new(Who::System, Content::notice(&self.in_words()));
        block.about(Some(self.role))
    }

    fn in_words(&self) -> String {
        let totals = self.used.zip(self.before).map(|(used, before)| {
            let read = used.input_tokens.saturating_sub(before.input_tokens);
            (
                read,
                used.output_tokens.saturating_sub(before.output_tokens),
            )
        });
        let used = match totals {
            None | Some((0, 0)) => String::new(),
            Some((read, written)) => {
                format!(" · {} tokens in, {} out", tokens(read), tokens(written))
            }
        };
        let who = self.role.name();
        match self.since {
            Some(since) => {
                let took = elapsed(since, self.ended_at);
                format!("the {who}'s turn took {took}{used}")
            }
            None => format!("the {who}'s turn ended{used}"),
        }
    }
}
