//! Parses the output of `codex --version`: the version, its features, or why it cannot be used.

use crate::adapter::cli_capabilities::{
    CliCapabilities, CliProbeError, CliVersion, FeatureSupport,
};

/// The arguments that make codex print its version.
pub const VERSION_ARGS: [&str; 1] = ["--version"];

/// The arguments that make codex report whether a user is logged in; it contacts no service.
pub const LOGIN_STATUS_ARGS: &[&str] = &["login", "status"];

/// The command that logs a user in.
pub const LOGIN_COMMAND: &str = "codex login";

/// Returns whether codex says that no user is logged in. Any other output does not count as logged out.
pub fn is_logged_out(said: &str) -> bool {
    said.lines().any(|line| line.trim() == "Not logged in")
}

/// The oldest version that this program has been run with.
pub const OLDEST_VERSION: CliVersion = CliVersion::new(0, 169, 0);

/// The exact command that installs that version.
pub const INSTALL_COMMAND: &str = "npm install -g @openai/codex@0.169.0";

const ADAPTER_NAME: &str = "codex";

/// Parses the standard output of `codex --version`; errors name `program`.
///
/// # Errors
/// Fails on output that names no version, and on versions older than [`OLDEST_VERSION`].
pub fn parse_capabilities(program: &str, stdout: &str) -> Result<CliCapabilities, CliProbeError> {
    let version = stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("codex-cli "))
        .find_map(|text| CliVersion::parse(text.trim()))
        .ok_or_else(|| CliProbeError::no_version(program, ADAPTER_NAME, stdout, INSTALL_COMMAND))?;
    if version < OLDEST_VERSION {
        return Err(CliProbeError::TooOld {
            program: program.to_owned(),
            found: version,
            needed: OLDEST_VERSION,
            install: INSTALL_COMMAND,
        });
    }
    Ok(capabilities_for_version(version))
}

/// Builds the error for a program that was not found.
pub fn not_found_error(program: &str) -> CliProbeError {
    CliProbeError::NotFound {
        program: program.to_owned(),
        adapter: ADAPTER_NAME,
        install: INSTALL_COMMAND,
    }
}

fn capabilities_for_version(version: CliVersion) -> CliCapabilities {
    CliCapabilities {
        version,
        resume: FeatureSupport::Supported,
        approvals: FeatureSupport::Supported,
        interrupt: FeatureSupport::Supported,
        live_text: FeatureSupport::Supported,
        usage: FeatureSupport::Supported,
    }
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
        let found = match parse_capabilities("codex", stdout) {
            Ok(capabilities) => capabilities.version.to_string(),
            Err(refusal) => format!("{refusal}; {}", refusal.hint()),
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
