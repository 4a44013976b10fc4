//! The tabs: three main ones, and two that stay folded until they are opened.

pub mod chat;
pub mod comments;
pub mod log;
pub mod plan;
pub mod status;

/// A tab of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TabKind {
    /// The conversation and the agents' actions.
    #[default]
    Chat,
    /// The plan and its progress.
    Plan,
    /// The review: findings and their answers.
    Comments,
    /// `log.md` and the events.
    Log,
    /// Roles, versions, usage and test results.
    Status,
}

/// Actions with a short label; related actions share one.
pub type TabHints = &'static [(&'static [&'static str], &'static str)];

const POINT_HINT: (&[&str], &str) = (&["previous-block", "next-block"], "pick");

/// The hints for reading the chat.
pub const CHAT_HINTS: TabHints = &[
    POINT_HINT,
    (&["open"], "open"),
    (&["copy"], "copy"),
    (&["find"], "find"),
];

/// The hints while the plan is compared with an earlier version.
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

    /// Returns the tab's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Chat => "Chat",
            Self::Plan => "Plan",
            Self::Comments => "Comments",
            Self::Log => "Log",
            Self::Status => "Status",
        }
    }

    /// Returns the digit that shows the tab, from 1.
    pub fn digit(self) -> usize {
        self.index() + 1
    }

    /// Returns the tab's index, from 0.
    pub fn index(self) -> usize {
        match self {
            Self::Chat => 0,
            Self::Plan => 1,
            Self::Comments => 2,
            Self::Log => 3,
            Self::Status => 4,
        }
    }

    /// Returns the tab's name as a slash command.
    pub fn slash_name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Plan => "plan",
            Self::Comments => "comments",
            Self::Log => "log",
            Self::Status => "status",
        }
    }

    /// Returns the actions that apply only to this tab, with short labels.
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

    /// Returns whether the tab is folded until it is opened.
    pub fn is_folded_at_first(self) -> bool {
        matches!(self, Self::Log | Self::Status)
    }
}
