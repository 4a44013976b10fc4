//! Names the formats in which a run can be exported as one page.

/// A format of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportFormat {
    /// One page of HTML, dark and light.
    #[default]
    Html,
    Markdown,
}

impl ExportFormat {
    /// Parses the word of a format, as in `/export html`; `None` for any other word.
    pub fn from_name(word: &str) -> Option<Self> {
        match word {
            "html" => Some(Self::Html),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// Returns the extension of the file, without the dot.
    pub fn file_extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
        }
    }
}
