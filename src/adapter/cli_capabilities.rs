//! What a probe learns about an installed CLI before any turn: its version, its features, or why it is unusable.
//!
//! Each adapter chooses the arguments to run and parses the output; running the CLI happens elsewhere.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::clean_to_one_line;
use crate::text::truncate::to_chars;

/// How many characters to quote of output that contains no version.
const MAX_OUTPUT_CHARS: usize = 200;

/// What one installed CLI can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CliCapabilities {
    /// The version that the CLI reports.
    pub version: CliVersion,
    /// Resumes an earlier conversation.
    pub resume: FeatureSupport,
    /// Asks for approval before a call and waits for the answer.
    pub approvals: FeatureSupport,
    /// Interrupts a running turn by protocol and keeps the conversation.
    pub interrupt: FeatureSupport,
    /// Streams text while the model writes it.
    pub live_text: FeatureSupport,
    /// Reports the token usage of a conversation.
    pub usage: FeatureSupport,
}

impl CliCapabilities {
    /// Describes a CLI that supports everything.
    pub fn with_all_features(version: CliVersion) -> Self {
        Self {
            version,
            resume: FeatureSupport::Supported,
            approvals: FeatureSupport::Supported,
            interrupt: FeatureSupport::Supported,
            live_text: FeatureSupport::Supported,
            usage: FeatureSupport::Supported,
        }
    }
}

/// How to find out whether a CLI is there and can be used.
#[derive(Debug)]
pub enum CliProbe {
    /// It prints its version.
    Version(VersionProbe),
    /// The program exists; nothing else can be known.
    Exists,
}

/// How to ask a CLI for its version.
#[derive(Debug)]
pub struct VersionProbe {
    /// The arguments that make the CLI print its version; it contacts no service.
    pub args: &'static [&'static str],
    /// Finds the version in what the CLI prints.
    pub parse_version: fn(output: &str) -> Option<CliVersion>,
    /// The oldest version that this program has been run with.
    pub oldest: CliVersion,
    /// The exact command that installs a version known to work.
    pub install: &'static str,
    /// What to know about that command; follows the hint of an error.
    pub install_note: Option<&'static str>,
    /// Says what a version can do.
    pub capabilities: fn(CliVersion) -> CliCapabilities,
    pub login: LoginProbe,
}

/// How to ask a CLI whether a user is logged in.
#[derive(Debug)]
pub struct LoginProbe {
    /// The arguments that make the CLI report it; it contacts no service.
    pub args: &'static [&'static str],
    /// Returns whether the output says that no user is logged in. Any other output does not count as logged out.
    pub is_logged_out: fn(output: &str) -> bool,
    /// The command that logs a user in.
    pub command: &'static str,
}

impl VersionProbe {
    /// Parses what `program` printed; `cli` is the adapter's name in hints.
    ///
    /// # Errors
    /// [`CliProbeError::NoVersion`] if it contains no version, [`CliProbeError::TooOld`] if it is older than the
    /// oldest version that works.
    pub fn parse_capabilities(
        &self,
        cli: &'static str,
        program: &str,
        output: &str,
    ) -> Result<CliCapabilities, CliProbeError> {
        let version = (self.parse_version)(output)
            .ok_or_else(|| CliProbeError::no_version(program, cli, output, self.install))?;
        if version < self.oldest {
            return Err(CliProbeError::TooOld {
                program: program.to_owned(),
                found: version,
                needed: self.oldest,
                install: self.install,
            });
        }
        Ok((self.capabilities)(version))
    }

    /// Returns what the user can do about an error.
    pub fn error_hint(&self, error: &CliProbeError) -> String {
        let hint = error.hint();
        match self.install_note {
            Some(note) => format!("{hint}; {note}"),
            None => hint,
        }
    }
}

/// Whether a CLI can do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureSupport {
    Supported,
    Missing,
}

/// Why a CLI cannot be used. The text says what is wrong, [`CliProbeError::hint`] says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CliProbeError {
    /// The program was not found.
    #[error("{program} not found")]
    NotFound {
        /// The program that was looked up, as configured.
        program: String,
        /// The adapter, used to name its setting.
        adapter: &'static str,
        /// The exact command that installs a version known to work.
        install: &'static str,
    },
    /// The output of the program names no version.
    #[error("{program} did not print its version: {said}")]
    NoVersion {
        /// The program, as configured.
        program: String,
        /// The adapter, used to name its setting.
        adapter: &'static str,
        /// The first line of what it printed instead, cleaned and cut.
        said: String,
        /// The exact command that installs a version known to work.
        install: &'static str,
    },
    /// The program did not exit after it was asked for its version.
    #[error("`{program} --version` did not end within {seconds} s")]
    TimedOut {
        /// The program, as configured.
        program: String,
        /// The adapter, used to name its setting.
        adapter: &'static str,
        /// How long the probe waited.
        seconds: u64,
    },
    /// The program is older than any version that agent-collab was run with.
    #[error("{program} {found} is too old, {needed} or newer is needed")]
    TooOld {
        /// The program, as configured.
        program: String,
        /// The version it reported.
        found: CliVersion,
        /// The oldest version that is supported.
        needed: CliVersion,
        /// The exact command that installs a version known to work.
        install: &'static str,
    },
}

impl CliProbeError {
    /// Returns what the user can do about the problem.
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound {
                adapter, install, ..
            } => {
                format!("install it: `{install}`, or set adapters.{adapter}.program in config.toml")
            }
            // The program exists but printed something else: its own output says more than a general hint.
            Self::NoVersion {
                program,
                adapter,
                install,
                ..
            } => format!(
                "run `{program} --version` to see more, reinstall it with `{install}`, or set adapters.{adapter}.program in config.toml"
            ),
            Self::TooOld { install, .. } => format!("install a newer one with `{install}`"),
            Self::TimedOut {
                program, adapter, ..
            } => format!(
                "run `{program} --version` to see what it waits for, or set adapters.{adapter}.program in config.toml"
            ),
        }
    }

    /// Builds the error for a program whose output names no version.
    pub fn no_version(
        program: &str,
        adapter: &'static str,
        said: &str,
        install: &'static str,
    ) -> Self {
        let first = said.lines().find(|line| !line.trim().is_empty());
        Self::NoVersion {
            program: program.to_owned(),
            adapter,
            said: first.map_or_else(
                || "it printed nothing".to_owned(),
                |line| to_chars(&clean_to_one_line(line), MAX_OUTPUT_CHARS),
            ),
            install,
        }
    }
}

/// A release of a CLI, compared by its three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CliVersion {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl CliVersion {
    /// Builds a version of its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Parses `X.Y.Z`; what follows a `-` or `+` (a pre-release, a build) is left out of the comparison.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(['-', '+']).next().unwrap_or(text);
        let mut parts = numbers.split('.').map(parse_number);
        let version = Self::new(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }
}

fn parse_number(digits: &str) -> Option<u32> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

impl fmt::Display for CliVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl From<CliVersion> for String {
    fn from(version: CliVersion) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for CliVersion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not a version of the form X.Y.Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: Option<&str>) {
        let found = CliVersion::parse(text).map(|version| version.to_string());
        assert_eq!(found.as_deref(), wanted, "{text}");
    }

    #[test]
    fn a_version_is_three_numbers() {
        check("0.169.0", Some("0.169.0"));
        check("2.1.197", Some("2.1.197"));
        check("1.2.3-alpha.4", Some("1.2.3"));
        check("1.2", None);
        check("1.2.3.4", None);
        check("1.+2.3", None);
        check("99999999999.0.0", None);
        check("", None);
    }

    #[test]
    fn versions_are_compared_number_by_number() {
        assert!(CliVersion::new(0, 99, 0) < CliVersion::new(0, 169, 0));
        assert!(CliVersion::new(2, 1, 197) > CliVersion::new(2, 1, 20));
    }

    #[test]
    fn a_refusal_names_what_was_found_what_is_needed_and_the_remedy() {
        let refusal = CliProbeError::TooOld {
            program: "codex".into(),
            found: CliVersion::new(0, 99, 0),
            needed: CliVersion::new(0, 169, 0),
            install: "npm install -g x@1",
        };
        assert_eq!(
            format!("{refusal}\nhint: {}", refusal.hint()),
            "codex 0.99.0 is too old, 0.169.0 or newer is needed\nhint: install a newer one with `npm install -g x@1`"
        );
    }

    #[test]
    fn what_a_program_prints_instead_is_told_without_secrets_and_controls() {
        let said = "\n boom \u{1b}[2J\u{7} ghp_16C7e42F292c6912E7710c838347Ae178B4a\nmore";
        let refusal =
            CliProbeError::no_version("codex", "codex", said, "npm install -g x@1").to_string();
        assert!(
            refusal.starts_with("codex did not print its version: boom "),
            "{refusal}"
        );
        for hidden in ["ghp_16C7", "\u{1b}", "\u{7}", "more"] {
            assert!(!refusal.contains(hidden), "{refusal}");
        }
    }

    #[test]
    fn a_program_that_prints_nothing_is_said_so() {
        let refusal = CliProbeError::no_version("codex", "codex", " \n", "npm install -g x@1");
        assert_eq!(
            format!("{refusal}\nhint: {}", refusal.hint()),
            "codex did not print its version: it printed nothing\nhint: run `codex --version` to see more, reinstall it with `npm install -g x@1`, or set adapters.codex.program in config.toml"
        );
    }
}
