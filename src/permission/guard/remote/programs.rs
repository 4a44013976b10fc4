//! The programs that fetch, decode, or print settings for the shell that asks them.
//!
//! It refuses to judge.

/// Programs that bring bytes from another machine.
pub const FETCHERS: &str = "curl wget wget2 fetch aria2c axel http https xh xhs httpie lynx w3m links elinks nc ncat netcat telnet socat \
    ftp lftp tftp get lwp-request lwp-download hurl curlie ssh scp sftp dig nslookup host iwr irm \
    invoke-webrequest invoke-restmethod ipfs rclone";

/// Programs whose words say that they fetch.
pub const FETCHING: &[(&str, &[&str])] = &[
    ("gsutil", &["cat", "cp"]),
    ("aws", &["cp"]),
    ("gh", &["api"]),
    ("openssl", &["s_client"]),
    ("git", &["archive"]),
    ("docker", &["logs"]),
    ("kubectl", &["logs"]),
    ("adb", &["shell"]),
];

/// Programs that turn bytes into others, and the options without which they do not decode.
pub const DECODERS: &[(&str, &[&str])] = &[
    ("base64", &["-d", "-D", "--decode"]),
    ("base32", &["-d", "-D", "--decode"]),
    ("basenc", &["-d", "--decode"]),
    ("gbase64", &["-d", "--decode"]),
    ("xxd", &["-r"]),
    ("openssl", &["-d"]),
    ("uudecode", &[]),
    ("gunzip", &[]),
    ("zcat", &[]),
    ("bzcat", &[]),
    ("xzcat", &[]),
    ("gzip", &["-d", "--decompress"]),
    ("xz", &["-d", "--decompress"]),
    ("bzip2", &["-d"]),
    ("zstd", &["-d"]),
    ("rev", &[]),
    ("gpg", &["-d", "--decrypt"]),
    ("rot13", &[]),
    ("tr", &[]),
    ("xor", &[]),
];

/// Words by which programs are asked for settings of the shell that calls them.
pub const SETTINGS: &str = "completion completions shellenv init hook activate env docker-env podman-env shell-init --alias alias \
    virtualenv-init path export shell.bash shell.zsh shell hook-env --bash --zsh setup source config signin \
    -Mlocal::lib export-credentials --eval use-env generate-shell-completion gen-completions widget shellcode \
    prefix print-env completion-script -s -b";

/// Programs that only ever print settings of the shell.
pub const SETTERS: &str = "ssh-agent dircolors lesspipe lesspipe.sh resize tset locale register-python-argcomplete keychain setup-envtest \
    gdircolors envsubst module modulecmd shopt set declare typeset alias trap getopt stty tput pyenv rbenv direnv \
    mise fnm nvm asdf opam brew starship zoxide conda";
