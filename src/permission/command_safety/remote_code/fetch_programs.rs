//! Lists programs that fetch, decode, or print settings for the calling shell.

/// Programs that fetch bytes from another machine.
pub const FETCHERS: &str = "curl wget wget2 fetch aria2c axel http https xh xhs httpie lynx w3m links elinks nc ncat netcat telnet socat \
    ftp lftp tftp get lwp-request lwp-download hurl curlie ssh scp sftp dig nslookup host iwr irm \
    invoke-webrequest invoke-restmethod ipfs rclone";

/// Programs with sub-commands that fetch.
pub const FETCHING_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("gsutil", &["cat", "cp"]),
    ("aws", &["cp"]),
    ("gh", &["api"]),
    ("openssl", &["s_client"]),
    ("git", &["archive"]),
    ("docker", &["logs"]),
    ("kubectl", &["logs"]),
    ("adb", &["shell"]),
];

/// Programs that convert bytes, and the options without which they do not decode.
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

/// Words that ask a program for settings of the calling shell.
pub const SHELL_SETTINGS_WORDS: &str = "shellenv init hook activate env docker-env podman-env shell-init --alias alias \
    virtualenv-init path export shell.bash shell.zsh shell hook-env --bash --zsh setup source config signin \
    -Mlocal::lib export-credentials --eval use-env  widget shellcode \
    prefix show-environment print-env -s -b";

/// Programs that only print settings of the shell.
pub const SHELL_SETTINGS_PROGRAMS: &str = "ssh-agent gpg-agent dircolors lesspipe lesspipe.sh resize tset locale register-python-argcomplete keychain setup-envtest \
    gdircolors envsubst module modulecmd shopt set declare typeset alias trap getopt stty tput pyenv rbenv direnv \
    mise fnm nvm asdf opam brew starship zoxide conda";

/// Words that ask any program for its shell completions.
pub const COMPLETION_WORDS: &str = "completion completions generate-shell-completion gen-completions completion-script shell-completion --completion --completions";

/// Programs that print settings for the shell when one of [`SHELL_SETTINGS_WORDS`] asks for them.
pub const SHELL_HOOK_PROGRAMS: &str = "tmux systemctl rustup cargo hub gh npm pip pipx python perl luarocks minikube docker docker-machine podman kubectl helm fzf thefuck \
    atuin navi mcfly oh-my-posh jenv goenv nodenv phpenv plenv exenv swiftenv tfenv jabba sdk volta n nvs ruby-build chruby rvm \
    poetry uv hatch pdm rye pixi micromamba mamba virtualenv pipenv spack guix nix devbox flox devenv shadowenv aws aws-vault granted \
    assume gcloud az doctl heroku flyctl vault chamber op bw doppler gpg-agent gpgconf lmod carapace broot mcfly zellij tmuxifier any-nix-shell \
    git-town gitlab-runner basher bashmarks antidote antibody sheldon zplug znap vivid lesskey grc direnv-instant colima limactl lima \
    crc okteto telepresence kind k3d eksctl flux linkerd istioctl argocd tkn stern kubectx switcher kubie kubeswitch pulumi wasmtime wasmer \
    emsdk esp-idf idf.py julia juliaup ghcup stack cabal dune esy coursier cs sbt-extras gvm g gobrew xcode-select swiftly bun deno pnpm yarn \
    node corepack proto aqua pkgx tea hermit bazelisk just task mask turbo nx";
