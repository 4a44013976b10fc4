//! Says how to probe an installed `claude` before any turn, and parses its answer.
//!
//! The caller runs [`VERSION_ARGS`] and passes the output in. A missing login is not an error, because custom providers
//! have none.

use crate::adapter::cli_capabilities::{
    CliCapabilities, CliProbeError, CliVersion, FeatureSupport,
};

/// The arguments of the probe; it answers within 0.1 s and contacts no service.
pub const VERSION_ARGS: &[&str] = &["--version"];

/// The arguments that make claude report whether a user is logged in; it contacts no service.
pub const LOGIN_STATUS_ARGS: &[&str] = &["auth", "status"];

/// The command that logs a user in.
pub const LOGIN_COMMAND: &str = "claude auth login";

/// Returns whether claude says that no user is logged in. Any other output does not count as logged out.
pub fn is_logged_out(said: &str) -> bool {
    let said: Option<serde_json::Value> = serde_json::from_str(said.trim()).ok();
    said.is_some_and(|said| said["loggedIn"] == false)
}

/// The oldest version that this program has been run with.
pub const OLDEST_VERSION: CliVersion = CliVersion::new(2, 1, 330);

/// Installs a version that works. The version is named because with Node 20 a bare install brings an older one.
pub const INSTALL_COMMAND: &str = "npm install -g @anthropic-ai/claude-code@2.1.330";

/// Explains why [`INSTALL_COMMAND`] names the version; it follows the hint of an error.
pub const INSTALL_NOTE: &str = "include the version: with Node 20, `npm install @anthropic-ai/claude-code` alone installs 2.1.197, \
     because newer versions require Node 22 (2.1.330 runs anyway: it is a native program)";

/// Parses the output of `claude --version`, such as `2.1.330 (Claude Code)`.
///
/// # Errors
/// [`CliProbeError::NoVersion`] if it contains no version, [`CliProbeError::TooOld`] if it is older than
/// [`OLDEST_VERSION`].
pub fn parse_capabilities(program: &str, output: &str) -> Result<CliCapabilities, CliProbeError> {
    let version = output
        .lines()
        .filter(|line| line.contains("Claude Code"))
        .find_map(|line| CliVersion::parse(line.split_whitespace().next()?))
        .ok_or_else(|| CliProbeError::no_version(program, "claude", output, INSTALL_COMMAND))?;
    if version < OLDEST_VERSION {
        return Err(CliProbeError::TooOld {
            program: program.to_owned(),
            found: version,
            needed: OLDEST_VERSION,
            install: INSTALL_COMMAND,
        });
    }
    Ok(CliCapabilities {
        version,
        resume: FeatureSupport::Supported,
        approvals: FeatureSupport::Supported,
        interrupt: FeatureSupport::Supported,
        live_text: FeatureSupport::Supported,
        usage: FeatureSupport::Supported,
    })
}

/// Builds the error for a program that was not found.
pub fn not_found_error(program: &str) -> CliProbeError {
    CliProbeError::NotFound {
        program: program.to_owned(),
        adapter: "claude",
        install: INSTALL_COMMAND,
    }
}

/// Returns what the user can do about an error, including the trap of older Node versions.
pub fn install_hint(refusal: &CliProbeError) -> String {
    format!("{}; {INSTALL_NOTE}", refusal.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_itself_says_that_nobody_is_logged_in() {
        assert!(is_logged_out(
            "{\n  \"loggedIn\": false,\n  \"authMethod\": \"none\"\n}\n"
        ));
        for said in [
            "{\"loggedIn\": true}",
            "{}",
            "",
            "error: unknown command 'auth'",
        ] {
            assert!(!is_logged_out(said), "{said}");
        }
    }

    fn check(output: &str) -> String {
        match parse_capabilities("claude", output) {
            Ok(found) => format!("{} can resume: {:?}", found.version, found.resume),
            Err(refusal) => format!("{refusal}\nhint: {}", install_hint(&refusal)),
        }
    }

    #[test]
    fn the_tested_version_and_newer_ones_are_taken() {
        assert_eq!(
            check("2.1.330 (Claude Code)\n"),
            "2.1.330 can resume: Supported"
        );
        assert_eq!(
            check("3.0.0-beta.1 (Claude Code)"),
            "3.0.0 can resume: Supported"
        );
    }

    #[test]
    fn the_version_that_node_20_brings_is_refused_with_the_exact_remedy() {
        insta::assert_snapshot!(check("2.1.197 (Claude Code)"), @r#"
        claude 2.1.197 is too old, 2.1.330 or newer is needed
        hint: install a newer one with `npm install -g @anthropic-ai/claude-code@2.1.330`; include the version: with Node 20, `npm install @anthropic-ai/claude-code` alone installs 2.1.197, because newer versions require Node 22 (2.1.330 runs anyway: it is a native program)
        "#);
    }

    #[test]
    fn output_without_a_version_is_refused() {
        insta::assert_snapshot!(check("bash: claude: cannot execute"), @r#"
        claude did not print its version: bash: claude: cannot execute
        hint: run `claude --version` to see more, reinstall it with `npm install -g @anthropic-ai/claude-code@2.1.330`, or set adapters.claude.program in config.toml; include the version: with Node 20, `npm install @anthropic-ai/claude-code` alone installs 2.1.197, because newer versions require Node 22 (2.1.330 runs anyway: it is a native program)
        "#);
        insta::assert_snapshot!(check(""), @r#"
        claude did not print its version: it printed nothing
        hint: run `claude --version` to see more, reinstall it with `npm install -g @anthropic-ai/claude-code@2.1.330`, or set adapters.claude.program in config.toml; include the version: with Node 20, `npm install @anthropic-ai/claude-code` alone installs 2.1.197, because newer versions require Node 22 (2.1.330 runs anyway: it is a native program)
        "#);
    }
}
