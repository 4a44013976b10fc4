//! One block of the stream: who, what, and its lines at the width of the last frame.
//!
//! Refuses to know events. A block that grows lays out only what is new.

use ratatui::text::Line;

use super::lines::{self, Laid, Look};
use crate::domain::turn::Role;
use crate::text::truncate;
use crate::tui::wrap::{drawable, shown};

/// How many bytes of one block are shown; the session's file holds the rest.
const MAX_TEXT: usize = 256 << 10;

/// How many bytes of a tool's output are kept; the session's file holds the rest.
const MAX_OUTPUT: usize = 8 << 10;

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
    Tool {
        /// The call.
        item: String,
        /// What is done, in one line.
        title: String,
        /// How it ended, once it did.
        end: Option<ToolEnd>,
    },
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
    /// Somebody waits for the user.
    NeedsYou,
}

/// How a tool ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEnd {
    /// The CLI's word, with the exit code where there is one.
    pub status: String,
    /// Whether it went well.
    pub tone: Tone,
    /// The last line of its output, where it went badly.
    pub detail: Option<String>,
    /// The end of its output, drawable.
    pub output: String,
}

impl ToolEnd {
    /// Says how a tool ended, by the CLI's word, its exit code and its output.
    pub fn new(word: &str, exit_code: Option<i32>, output: &str) -> Self {
        let went_badly = exit_code.is_some_and(|code| code != 0)
            || matches!(word, "failed" | "error" | "declined" | "denied");
        let last = output.lines().rev().find(|line| !line.trim().is_empty());
        let status = match exit_code {
            Some(code) if code != 0 => format!("{word}, exit {code}"),
            Some(_) | None => word.to_owned(),
        };
        Self {
            status: shown(&status),
            tone: if went_badly { Tone::Bad } else { Tone::Good },
            detail: last
                .filter(|_| went_badly)
                .map(|line| crate::tui::wrap::one_line(&truncate::to_bytes(line, 400))),
            output: end_of(output),
        }
    }

    /// How many bytes it holds.
    pub fn n_bytes(&self) -> usize {
        self.status.len() + self.output.len() + self.detail.as_ref().map_or(0, String::len)
    }
}

/// The end of a tool's output, whole lines of it.
fn end_of(output: &str) -> String {
    let output = output.trim_end();
    let mut from = output.len().saturating_sub(MAX_OUTPUT);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    match output.get(from..) {
        Some(end) if from > 0 => shown(end.split_once('\n').map_or(end, |(_, rest)| rest)),
        Some(end) => shown(end),
        None => String::new(),
    }
}

/// A block and its lines.
#[derive(Debug)]
pub struct Block {
    /// Its author.
    pub who: Who,
    /// What it holds.
    pub content: Content,
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
        Self::Speech {
            text: bounded(text),
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
        Self::Fact {
            text: bounded(text),
            tone,
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
            | Self::Fact { text, .. }
            | Self::Divider { text } => text.clone(),
            Self::Tool { title, end, .. } => match end {
                Some(end) if !end.output.is_empty() => format!("{title}\n{}", end.output),
                _ => title.clone(),
            },
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
            seq: 0,
            is_named: false,
            own: None,
            laid: Laid::default(),
        }
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

    /// The tool's call that it shows and that has not ended.
    pub fn running(&self) -> Option<&str> {
        match &self.content {
            Content::Tool {
                item, end: None, ..
            } => Some(item),
            _ => None,
        }
    }

    /// Ends a tool's call; gives the bytes that came to it.
    pub fn end_tool(&mut self, ended: ToolEnd) -> usize {
        let Content::Tool { end, .. } = &mut self.content else {
            return 0;
        };
        let n_bytes = ended.n_bytes();
        *end = Some(ended);
        self.laid = Laid::default();
        n_bytes
    }

    /// Names the files that it lists or a call is about from a folder on.
    pub fn name_from(&mut self, root: &str) {
        let (Content::Tool { title: text, .. } | Content::Notice { text }) = &mut self.content
        else {
            return;
        };
        if !root.is_empty() && text.contains(root) {
            *text = text.replace(root, "");
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
            | Content::Fact { text, .. }
            | Content::Divider { text } => text.len(),
            Content::Tool { item, title, end } => {
                item.len() + title.len() + end.as_ref().map_or(0, ToolEnd::n_bytes)
            }
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
            Content::Thinking { .. } => true,
            Content::Tool { end, title, .. } => {
                end.as_ref().is_some_and(|end| !end.output.is_empty()) || title.len() > 60
            }
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
