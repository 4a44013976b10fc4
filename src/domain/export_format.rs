//! In which form a run is written down as one page, to be given to somebody else.
//!
//! Refuses to know how a page looks.

/// A form of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportFormat {
    /// One page of HTML, dark and light.
    #[default]
    Html,
    /// Markdown.
    Markdown,
}

impl ExportFormat {
    /// Its word, as in `/export html`; `None` for another one.
    pub fn from_name(word: &str) -> Option<Self> {
        match word {
            "html" => Some(Self::Html),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// How the name of its file ends, without the dot.
    pub fn file_extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
        }
    }
}
