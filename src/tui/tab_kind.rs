//! The list of the tabs: their names, and what is fixed about each.
//!
//! The types that draw them are in `tabs`, above everything that only names a tab.

/// Passes the list of the tabs, in their order, to a macro: `Name (title, name in /tab NAME, whether it is folded)
/// field: type`. The types are paths from `tabs`.
macro_rules! for_each_tab {
    ($build:ident) => {
        $build! {
            Chat ("Chat", "chat", AlwaysOpen) chat: chat::ChatTab,
            Plan ("Plan", "plan", AlwaysOpen) plan: plan::PlanTab,
            Comments ("Comments", "comments", AlwaysOpen) comments: comments::CommentsTab,
            Log ("Log", "log", FoldedAtFirst) log: log::LogTab,
            Status ("Status", "status", FoldedAtFirst) status: status::StatusTab,
        }
    };
}
pub(super) use for_each_tab;

/// Whether a tab is folded to its number until it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TabFolding {
    AlwaysOpen,
    FoldedAtFirst,
}

/// What is fixed about a tab.
#[derive(Debug, PartialEq, Eq)]
pub struct TabInfo {
    pub title: &'static str,
    /// The tab's name in `/tab NAME`.
    pub slash_name: &'static str,
    pub folding: TabFolding,
}

/// Declares the names of the tabs from their list.
macro_rules! tab_kinds {
    (
        $first:ident ($first_title:literal, $first_slash:literal, $first_folding:ident) $first_field:ident: $first_type:ty,
        $($name:ident ($title:literal, $slash:literal, $folding:ident) $field:ident: $type:ty,)*
    ) => {
        /// A tab of the screen, by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
        pub enum TabKind {
            #[default]
            $first,
            $($name,)*
        }

        impl TabKind {
            /// All tabs in their order.
            pub const ALL: &[Self] = &[Self::$first, $(Self::$name,)*];

            fn info(self) -> &'static TabInfo {
                match self {
                    Self::$first => &TabInfo {
                        title: $first_title,
                        slash_name: $first_slash,
                        folding: TabFolding::$first_folding,
                    },
                    $(Self::$name => &TabInfo {
                        title: $title,
                        slash_name: $slash,
                        folding: TabFolding::$folding,
                    },)*
                }
            }
        }
    };
}
#[cfg(test)]
pub(super) use tab_kinds;

for_each_tab!(tab_kinds);

impl TabKind {
    /// Returns the tab's title.
    pub fn title(self) -> &'static str {
        self.info().title
    }

    /// Returns the number by which a command may name the tab, from 1.
    pub fn digit(self) -> usize {
        self.index() + 1
    }

    /// Returns the tab's index, from 0.
    pub fn index(self) -> usize {
        Self::ALL
            .iter()
            .position(|tab| *tab == self)
            .unwrap_or_default()
    }

    /// Returns the tab's name as a slash command.
    pub fn slash_name(self) -> &'static str {
        self.info().slash_name
    }

    /// Returns whether the tab is folded until it is opened.
    pub fn is_folded_at_first(self) -> bool {
        self.info().folding == TabFolding::FoldedAtFirst
    }
}
