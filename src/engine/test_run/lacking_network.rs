//! Signs in the output of tests that they wanted a network which they have not.
//!
//! Refuses to give it to them: the user is asked.

use crate::text::one_line;

/// What programs say who reach no server, no other machine and no name.
const SIGNS: &[&str] = &[
    "econnrefused",
    "enetunreach",
    "eai_again",
    "enotfound",
    "connection refused",
    "network is unreachable",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to lookup address information",
    "failed to establish a new connection",
    "could not connect to server",
    "can't connect to",
    "cannot connect to the docker daemon",
    "unknownhostexception",
    "no such host",
    "spurious network error",
];
/// How much of the line is told, in characters.
const LINE_CHARS: usize = 160;

/// The last line that tells of it.
pub fn missing_network_line(output: &str) -> Option<String> {
    let tells = |line: &&str| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign))
    };
    let line = output.lines().rev().find(tells)?;
    Some(one_line(line.trim()).chars().take(LINE_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_says_without_a_network_is_told_apart_from_other_failures() {
        let output = "1 test\nError: connect ECONNREFUSED 127.0.0.1:5432\n  at net\n1 failed";
        assert_eq!(
            missing_network_line(output).as_deref(),
            Some("Error: connect ECONNREFUSED 127.0.0.1:5432")
        );
        assert_eq!(missing_network_line("assertion failed: 1 == 2"), None);
    }
}
