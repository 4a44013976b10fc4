//! Detects in test output that the tests needed a network, or a container engine's socket, that the sandbox
//! does not provide.
//!
//! Does not grant access: the user is asked.

use std::path::{Path, PathBuf};

use crate::domain::receipt::MissingSocket;
use crate::text::clean_to_one_line;

/// Error texts of programs that cannot reach a server, another machine or a name.
const NETWORK_ERROR_SIGNS: &[&str] = &[
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
/// Error texts of container clients that cannot reach their engine.
const CONTAINER_ERROR_SIGNS: &[&str] = &[
    "docker.sock",
    "podman.sock",
    "docker daemon",
    "valid docker environment",
    "cannot connect to podman",
    "error while fetching server api version",
];
/// The maximum length of the reported line, in characters.
const MAX_LINE_CHARS: usize = 160;

/// Returns the last line that shows a missing network.
pub fn missing_network_line(output: &str) -> Option<String> {
    last_line_with(NETWORK_ERROR_SIGNS, output)
}

/// Returns the socket of a container engine that the tests lacked, from those on this machine: the one that
/// the line names, else the first.
pub fn missing_socket(output: &str, on_this_machine: &[PathBuf]) -> Option<MissingSocket> {
    let line = last_line_with(CONTAINER_ERROR_SIGNS, output)?;
    let is_named = |socket: &&PathBuf| {
        let as_written = socket.display().to_string();
        let name = as_written.strip_prefix("/run").unwrap_or(&as_written);
        line.contains(name)
    };
    let named = on_this_machine.iter().find(is_named);
    let socket: &Path = named.or(on_this_machine.first())?;
    let path = socket.to_str()?.to_owned();
    Some(MissingSocket { path, line })
}

fn last_line_with(signs: &[&str], output: &str) -> Option<String> {
    let tells = |line: &&str| {
        let line = line.to_lowercase();
        signs.iter().any(|sign| line.contains(sign))
    };
    let line = output.lines().rev().find(tells)?;
    Some(
        clean_to_one_line(line.trim())
            .chars()
            .take(MAX_LINE_CHARS)
            .collect(),
    )
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

    #[test]
    fn the_socket_that_tests_lacked_is_the_one_they_name_or_the_first_of_the_machine() {
        let sockets = ["/run/user/7/docker.sock", "/run/docker.sock"].map(PathBuf::from);
        let lacked = |output: &str| missing_socket(output, &sockets).map(|lacked| lacked.path);
        let named = "dial unix /var/run/docker.sock: connect: connection refused";
        assert_eq!(lacked(named).as_deref(), Some("/run/docker.sock"));
        let unnamed = "Could not find a valid Docker environment.";
        assert_eq!(lacked(unnamed).as_deref(), Some("/run/user/7/docker.sock"));
        assert_eq!(lacked("assertion failed: 1 == 2"), None);
        assert_eq!(missing_socket(named, &[]), None);
    }
}
