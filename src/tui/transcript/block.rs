//! One block of the stream: who, what, and its lines at the width of the last frame.
//!
//! Refuses to know events. A block that grows lays out only what is new.

use ratatui::text::Line;

use super::card::{Card, Changed, ToolEnd};
use super::ending::Ending;
use super::lines::{self, Laid, Look};
use super::talk::Talk;
use super::todos::Told;
use crate::domain::discussion::DiscussionEvent;
use crate::domain::ids::RequestId;
use crate::domain::turn::Role;
use crate::text::truncate;
use crate::tui::words::Clock;
use crate::tui::wrap::{drawable, shown};

/// How many bytes of one block are shown; the session's file holds the rest.
const MAX_TEXT: usize = 256 << 10;

/// Who speaks or acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// One of the agents.
    Agent(Role),
    /// The user.
    You,
    /// This program.
    System,
}

/// Whether thinking is folded to one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folding {
    /// It is.
    #[default]
    Folded,
    /// It is shown whole.
    Open,
}

/// What a block holds; all texts are drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A finished text.
    Speech {
        /// The text.
        text: String,
    },
    /// A text that is being written.
    Provisional {
        /// The CLI's name of it.
        item: String,
        /// What came so far.
        text: String,
    },
    /// Thinking.
    Thinking {
        /// The text.
        text: String,
    },
    /// A call of a tool.
    Tool(Card),
    /// A discussion.
    Talk(Talk),
    /// A list of todos.
    Todos(Told),
    /// How a run ended.
    Ending(Ending),
    /// A quiet line of the program.
    Notice {
        /// The text.
        text: String,
    },
    /// Something that the program checked or that changed the run.
    Fact {
        /// The text.
        text: String,
        /// How it is to be taken.
        tone: Tone,
        /// What it rests on, shown once it is opened; mostly nothing.
        more: String,
    },
    /// A new phase begins.
    Divider {
        /// Its name.
        text: String,
    },
}

/// How a fact is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Well.
    Good,
    /// Badly.
    Bad,
    /// Nothing came of it, and nothing went wrong.
    Still,
    /// The user was asked; what waits now stands in its dialog.
    Asked,
}

/// A block and its lines.
#[derive(Debug)]
pub struct Block {
    /// Its author.
    pub who: Who,
    /// What it holds.
    pub content: Content,
    /// About whose turn the program says it; where both agents stand beside each other, it stands in that one's column.
    pub about: Option<Role>,
    /// The number in the log of the event that it tells of, or of the last one before it; 0 where that
    /// log is gone.
    pub seq: u64,
    /// Whether its author's name stands above it.
    pub is_named: bool,
    /// What the user chose for it, where it can be folded.
    own: Option<Folding>,
    laid: Laid,
}

impl Content {
    /// A finished text.
    pub fn speech(text: &str) -> Self {
        // What comes before the first line is no part of what is said.
        Self::Speech {
            text: bounded(text.trim_start_matches(['\n', '\r'])),
        }
    }

    /// The beginning of a cleaned text.
    pub fn provisional(item: &str, text: String) -> Self {
        Self::Provisional {
            item: item.to_owned(),
            text: drawable(text),
        }
    }

    /// A quiet line.
    pub fn notice(text: &str) -> Self {
        Self::Notice {
            text: bounded(text),
        }
    }

    /// Something that the program knows.
    pub fn fact(tone: Tone, text: &str) -> Self {
        Self::fact_with(tone, text, "")
    }

    /// Something that the program knows, and what it rests on.
    pub fn fact_with(tone: Tone, text: &str, more: &str) -> Self {
        Self::Fact {
            text: bounded(text),
            tone,
            more: bounded(more),
        }
    }
}

impl Content {
    /// All of its text, as one would copy it.
    pub fn text(&self) -> String {
        match self {
            Self::Speech { text }
            | Self::Provisional { text, .. }
            | Self::Thinking { text }
            | Self::Notice { text }
            | Self::Divider { text } => text.clone(),
            Self::Fact { text, more, .. } => format!("{text}\n{more}").trim_end().to_owned(),
            Self::Tool(card) => card.text(),
            Self::Talk(talk) => talk.text(),
            Self::Todos(told) => told.text.clone(),
            Self::Ending(ending) => ending.text(),
        }
    }
}

fn bounded(text: &str) -> String {
    let text = shown(text.trim_end());
    if text.len() <= MAX_TEXT {
        return text;
    }
    let kept = truncate::to_bytes(&text, MAX_TEXT);
    format!("{kept}\n[cut: the text has {} bytes]", text.len())
}

impl Block {
    /// Makes a block.
    pub fn new(who: Who, content: Content) -> Self {
        Self {
            who,
            content,
            about: None,
            seq: 0,
            is_named: false,
            own: None,
            laid: Laid::default(),
        }
    }

    /// The same, said about a turn of somebody.
    #[must_use]
    pub fn about(self, role: Option<Role>) -> Self {
        Self {
            about: role,
            ..self
        }
    }

    /// In whose column it stands.
    pub fn column(&self) -> Who {
        match (self.who, self.about) {
            (Who::System, Some(role)) => Who::Agent(role),
            (who, _) => who,
        }
    }

    /// What it says that went well, and what that rests on.
    pub fn good(&self) -> Option<(&str, &str)> {
        match &self.content {
            Content::Fact {
                text,
                tone: Tone::Good,
                more,
            } => Some((text, more)),
            _ => None,
        }
    }

    /// Tells whether its text has these letters, which are given in lower case.
    pub fn has(&self, letters: &str) -> bool {
        self.content.text().to_lowercase().contains(letters)
    }

    /// Tells whether it is being written.
    pub fn is_provisional(&self) -> bool {
        matches!(self.content, Content::Provisional { .. })
    }

    /// Tells whether it is being written by `role`, as `wanted` where that is given.
    pub fn is_provisional_of(&self, role: Role, wanted: Option<&str>) -> bool {
        match &self.content {
            Content::Provisional { item, .. } => {
                self.who == Who::Agent(role) && wanted.is_none_or(|wanted| wanted == item)
            }
            _ => false,
        }
    }

    /// Adds cleaned text to a provisional block; gives the bytes that came to it.
    pub fn grow(&mut self, more: String) -> usize {
        match &mut self.content {
            Content::Provisional { text, .. } if text.len() < MAX_TEXT => {
                let before = text.len();
                text.push_str(&drawable(more));
                text.len() - before
            }
            _ => 0,
        }
    }

    /// The tool's call that it shows, where it shows one.
    pub fn card(&self) -> Option<&Card> {
        match &self.content {
            Content::Tool(card) => Some(card),
            _ => None,
        }
    }

    /// The discussion that it shows, where it shows one.
    pub fn talk(&self) -> Option<&Talk> {
        match &self.content {
            Content::Talk(talk) => Some(talk),
            _ => None,
        }
    }

    /// The list that it shows, where it shows one.
    pub fn todos(&self) -> Option<&Told> {
        match &self.content {
            Content::Todos(told) => Some(told),
            _ => None,
        }
    }

    /// The list that it shows was written again.
    pub fn pass_todos(&mut self) {
        if let Content::Todos(told) = &mut self.content {
            told.is_past = true;
            self.laid = Laid::default();
        }
    }

    /// The end of a run that it shows, where it shows one.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.content {
            Content::Ending(ending) => Some(ending),
            _ => None,
        }
    }

    /// Shows the end of a run as it is now.
    pub fn end_run(&mut self, ending: Ending) {
        self.content = Content::Ending(ending);
        self.laid = Laid::default();
    }

    /// Takes in what happens in the discussion that it shows.
    pub fn on_discussion(&mut self, news: &DiscussionEvent) {
        if let Content::Talk(talk) = &mut self.content {
            talk.take(news);
            self.laid = Laid::default();
        }
    }

    /// The discussion that it shows is over, and another block tells how.
    pub fn ends_below(&mut self) {
        if let Content::Talk(talk) = &mut self.content {
            talk.ends_below();
            self.laid = Laid::default();
        }
    }

    /// The program ended; a discussion that ran then is cut off.
    pub fn cut_off(&mut self) {
        if let Content::Talk(talk) = &mut self.content {
            talk.cut_off();
            self.laid = Laid::default();
        }
    }

    /// The tool's call that it shows and that has not ended.
    pub fn running(&self) -> Option<&str> {
        let card = self.card().filter(|card| card.end.is_none())?;
        Some(&card.item)
    }

    /// Ends a tool's call; gives the bytes that came to it.
    pub fn end_tool(&mut self, ended: ToolEnd) -> usize {
        let Content::Tool(card) = &mut self.content else {
            return 0;
        };
        let n_bytes = ended.n_bytes();
        card.end = Some(ended);
        self.laid = Laid::default();
        n_bytes
    }

    /// Tells something else in its place.
    pub fn tell(&mut self, content: Content) {
        self.content = content;
        self.laid = Laid::default();
    }

    /// Leaves its author's name out: they spoke right before.
    pub fn leave_name_out(&mut self) {
        self.is_named = false;
        self.laid = Laid::default();
    }

    /// Says that a call waits for the answer to a request, or not any more.
    pub fn wait(&mut self, request: Option<RequestId>) {
        if let Content::Tool(card) = &mut self.content {
            card.waits = request;
            self.laid = Laid::default();
        }
    }

    /// Says on a call's card that it was refused, and why; gives the bytes that came to it.
    pub fn refuse(&mut self, why: &str) -> usize {
        let Content::Tool(card) = &mut self.content else {
            return 0;
        };
        self.laid = Laid::default();
        card.refuse(why)
    }

    /// Tells what a call changes.
    pub fn change(&mut self, files: Vec<Changed>) {
        if let Content::Tool(card) = &mut self.content {
            card.change(files);
            self.laid = Laid::default();
        }
    }

    /// Names the files that it lists or a call is about from a folder on.
    pub fn name_from(&mut self, root: &str) {
        let differs = match &mut self.content {
            _ if root.is_empty() => false,
            Content::Tool(card) => card.name_from(root),
            Content::Notice { text } if text.contains(root) => {
                *text = text.replace(root, "");
                true
            }
            _ => false,
        };
        if differs {
            self.laid = Laid::default();
        }
    }

    /// Names the key that shows all of what is cut.
    pub fn name_key(&mut self, key: &str) {
        if let Content::Tool(card) = &mut self.content
            && card.name_key(key)
        {
            self.laid = Laid::default();
        }
    }

    /// Names times as the user's clock does, where it is known.
    pub fn tell_time(&mut self, clock: Option<Clock>) {
        let (Content::Fact { text, .. }, Some(clock)) = (&mut self.content, clock) else {
            return;
        };
        let local = clock.local(text);
        if local != *text {
            *text = local;
            self.laid = Laid::default();
        }
    }

    /// How many bytes of text it holds.
    pub fn n_bytes(&self) -> usize {
        match &self.content {
            Content::Speech { text }
            | Content::Provisional { text, .. }
            | Content::Thinking { text }
            | Content::Notice { text }
            | Content::Divider { text } => text.len(),
            Content::Fact { text, more, .. } => text.len() + more.len(),
            Content::Tool(card) => card.n_bytes(),
            Content::Talk(talk) => talk.n_bytes(),
            Content::Todos(told) => told.text.len(),
            Content::Ending(ending) => ending.n_bytes(),
        }
    }

    #[cfg(test)]
    pub(super) fn is_laid_out(&self) -> bool {
        self.laid.n_lines() > 0
    }

    /// How many lines it takes.
    pub fn height(&mut self, columns: usize, folding: Folding) -> usize {
        let look = self.look(columns, folding);
        lines::lay_out(&mut self.laid, self.who, &self.content, look);
        self.laid.n_lines()
    }

    /// Its lines.
    pub fn lines(
        &mut self,
        columns: usize,
        folding: Folding,
    ) -> impl Iterator<Item = Line<'static>> {
        let look = self.look(columns, folding);
        lines::lay_out(&mut self.laid, self.who, &self.content, look);
        self.laid.lines()
    }

    fn look(&self, columns: usize, thinking: Folding) -> Look {
        let usual = match self.content {
            Content::Thinking { .. } => thinking,
            Content::Todos(Told { is_past: false, .. }) => Folding::Open,
            _ => Folding::Folded,
        };
        Look {
            columns,
            folding: self.own.unwrap_or(usual),
            is_named: self.is_named,
        }
    }

    /// Opens it, or folds it; tells whether it can be.
    pub fn turn(&mut self, thinking: Folding) -> bool {
        let can = match &self.content {
            Content::Thinking { .. } | Content::Todos(_) => true,
            Content::Tool(card) => card.can_open(),
            Content::Speech { text } => lines::folds(self.who, text),
            Content::Fact { more, .. } => !more.is_empty(),
            _ => false,
        };
        if can {
            self.own = Some(match self.look(0, thinking).folding {
                Folding::Folded => Folding::Open,
                Folding::Open => Folding::Folded,
            });
        }
        can
    }
}
