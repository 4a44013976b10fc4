//! Words that ask a program to print something for the calling shell.

/// Words that ask a program for settings of the calling shell.
pub const SHELL_SETTINGS_WORDS: &str = "shellenv init hook activate env docker-env podman-env shell-init --alias alias \
    virtualenv-init path export shell.bash shell.zsh shell hook-env --bash --zsh setup source config signin \
    -Mlocal::lib export-credentials --eval use-env  widget shellcode \
    prefix show-environment print-env -s -b";

/// Words that ask any program for its shell completions.
pub const COMPLETION_WORDS: &str = "completion completions generate-shell-completion gen-completions completion-script shell-completion --completion --completions";
