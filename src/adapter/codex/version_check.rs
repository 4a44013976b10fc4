//! Says how to probe an installed `codex`, and parses what it prints.

use crate::adapter::cli_capabilities::{CliCapabilities, CliVersion, LoginProbe, VersionProbe};

/// How codex is probed.
pub(super) const VERSION_PROBE: VersionProbe = VersionProbe {
    args: &["--version"],
    parse_version,
    oldest: CliVersion::new(0, 169, 0),
    install: "npm install -g @openai/codex@0.169.0",
    install_note: None,
    capabilities: CliCapabilities::with_all_features,
    login: LoginProbe {
        args: &["login", "status"],
        is_logged_out,
        command: "codex login",
    },
};

fn is_logged_out(said: &str) -> bool {
    said.lines().any(|line| line.trim() == "Not logged in")
}

fn parse_version(stdout: &str) -> Option<CliVersion> {
    stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("codex-cli "))
        .find_map(|text| CliVersion::parse(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_itself_says_that_nobody_is_logged_in() {
        assert!(is_logged_out("WARNING: something else\nNot logged in\n"));
        for said in [
            "Logged in using ChatGPT",
            "",
            "error: unknown argument 'login'",
        ] {
            assert!(!is_logged_out(said), "{said}");
        }
    }

    fn check(stdout: &str, wanted: &str) {
        let found = match VERSION_PROBE.parse_capabilities("codex", "codex", stdout) {
            Ok(capabilities) => capabilities.version.to_string(),
            Err(refusal) => format!("{refusal}; {}", VERSION_PROBE.error_hint(&refusal)),
        };
        assert_eq!(found, wanted);
    }

    #[test]
    fn the_version_is_read_even_after_a_warning() {
        check("codex-cli 0.169.0\n", "0.169.0");
        check(
            "WARNING: no aliases\ncodex-cli 0.170.1-alpha.2\n",
            "0.170.1",
        );
    }

    #[test]
    fn an_older_version_is_refused_with_the_exact_remedy() {
        check(
            "codex-cli 0.168.9",
            "codex 0.168.9 is too old, 0.169.0 or newer is needed; install a newer one with `npm install -g @openai/codex@0.169.0`",
        );
    }

    #[test]
    fn another_program_of_that_name_is_refused() {
        check(
            "Codex, a comic reader 3.1",
            "codex did not print its version: Codex, a comic reader 3.1; run `codex --version` to see more, reinstall it with `npm install -g @openai/codex@0.169.0`, or set adapters.codex.program in config.toml",
        );
    }
}
