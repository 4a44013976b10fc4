//! The tabs: three main ones, and two that are folded until they are wanted.

pub mod chat;
pub mod comments;
pub mod log;
pub mod plan;
pub mod status;

/// One tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TabKind {
    /// What was said and done.
    #[default]
    Chat,
    /// The plan and how far it is.
    Plan,
    /// The review: findings and their answers.
    Comments,
    /// log.md and the events.
    Log,
    /// Roles, versions, usage, receipts.
    Status,
}

/// Actions with a word or two for them; those that belong together stand together.
pub type TabHints = &'static [(&'static [&'static str], &'static str)];

const POINT_HINT: (&[&str], &str) = (&["previous-block", "next-block"], "point");

/// The actions by which the chat is read.
pub const CHAT_HINTS: TabHints = &[
    POINT_HINT,
    (&["open"], "open"),
    (&["copy"], "copy"),
    (&["find"], "find"),
];

/// The actions that mean something where the plan is compared with an earlier version.
pub const COMPARISON_HINTS: TabHints = &[
    (&["filter"], "back"),
    (&["side"], "other form"),
    POINT_HINT,
    (&["note"], "note"),
    (&["rewrite"], "rewrite"),
];

impl TabKind {
    /// All tabs in their order.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Plan,
        Self::Comments,
        Self::Log,
        Self::Status,
    ];

    /// The tab's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Chat => "Chat",
            Self::Plan => "Plan",
            Self::Comments => "Comments",
            Self::Log => "Log",
            Self::Status => "Status",
        }
    }

    /// The digit that shows it, from 1.
    pub fn digit(self) -> usize {
        self.index() + 1
    }

    /// Its place, from 0.
    pub fn index(self) -> usize {
        match self {
            Self::Chat => 0,
            Self::Plan => 1,
            Self::Comments => 2,
            Self::Log => 3,
            Self::Status => 4,
        }
    }

    /// Its name as a slash command.
    pub fn slash_name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Plan => "plan",
            Self::Comments => "comments",
            Self::Log => "log",
            Self::Status => "status",
        }
    }

    /// The actions that mean something in it alone, with a word or two for each.
    pub fn hints(self) -> TabHints {
        match self {
            Self::Chat | Self::Status => &[],
            Self::Plan => &[
                POINT_HINT,
                (&["open"], "its diff"),
                (&["note"], "note"),
                (&["rewrite"], "rewrite"),
                (&["filter"], "compare"),
            ],
            Self::Comments => &[
                POINT_HINT,
                (&["open"], "open"),
                (&["discuss-finding"], "discuss"),
                (&["jump"], "its line"),
                (&["filter"], "filter"),
            ],
            Self::Log => &[POINT_HINT, (&["open"], "open"), (&["filter"], "filter")],
        }
    }

    /// Tells whether it is folded until it is wanted.
    pub fn is_folded_at_first(self) -> bool {
        matches!(self, Self::Log | Self::Status)
    }
}
