//! Says how to probe an installed `claude`, and parses what it prints.
//!
//! A missing login is not an error, because custom providers have none.

use crate::adapter::cli_capabilities::{CliCapabilities, CliVersion, LoginProbe, VersionProbe};

/// How claude is probed; it answers within 0.1 s.
pub(super) const VERSION_PROBE: VersionProbe = VersionProbe {
    args: &["--version"],
    parse_version,
    oldest: CliVersion::new(2, 1, 330),
    // The version is named because with Node 20 a bare install brings an older one.
    install: "npm install -g @anthropic-ai/claude-code@2.1.330",
    // Newer ones ask for Node 22, although 2.1.330 is a native program and runs without it.
    install_note: Some("keep `@2.1.330` in the npm command: npm on Node 20 would choose 2.1.197"),
    capabilities: CliCapabilities::with_all_features,
    login: LoginProbe {
        args: &["auth", "status"],
        is_logged_out,
        command: "claude auth login",
    },
};

fn is_logged_out(said: &str) -> bool {
    let said: Option<serde_json::Value> = serde_json::from_str(said.trim()).ok();
    said.is_some_and(|said| said["loggedIn"] == false)
}

/// Finds the version in output such as `2.1.330 (Claude Code)`.
fn parse_version(output: &str) -> Option<CliVersion> {
    output
        .lines()
        .filter(|line| line.contains("Claude Code"))
        .find_map(|line| CliVersion::parse(line.split_whitespace().next()?))
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
        match VERSION_PROBE.parse_capabilities("claude", "claude", output) {
            Ok(found) => format!("{} can resume: {:?}", found.version, found.resume),
            Err(refusal) => format!("{refusal}\nhint: {}", VERSION_PROBE.error_hint(&refusal)),
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
        hint: install a newer one with `npm install -g @anthropic-ai/claude-code@2.1.330`; keep `@2.1.330` in the npm command: npm on Node 20 would choose 2.1.197
        "#);
    }

    #[test]
    fn output_without_a_version_is_refused() {
        insta::assert_snapshot!(check("bash: claude: cannot execute"), @r#"
        claude did not print its version: bash: claude: cannot execute
        hint: run `claude --version` to see more, reinstall it with `npm install -g @anthropic-ai/claude-code@2.1.330`, or set adapters.claude.program in config.toml; keep `@2.1.330` in the npm command: npm on Node 20 would choose 2.1.197
        "#);
        insta::assert_snapshot!(check(""), @r#"
        claude did not print its version: it printed nothing
        hint: run `claude --version` to see more, reinstall it with `npm install -g @anthropic-ai/claude-code@2.1.330`, or set adapters.claude.program in config.toml; keep `@2.1.330` in the npm command: npm on Node 20 would choose 2.1.197
        "#);
    }
}
