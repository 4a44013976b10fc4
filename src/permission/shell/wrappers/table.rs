//! The programs that run the command behind them, as data.
//!
//! It refuses to know how their words are read.

use super::{Rest, Spec};
use crate::permission::shell::WrapperKind;

const PLAIN: Spec = Spec {
    names: &[],
    verbs: &[],
    kind: WrapperKind::Known,
    short: "",
    long: &[],
    texts: &[],
    n_operands: 0,
    rest: Rest::Words,
};

const PRIVILEGE: Spec = Spec {
    kind: WrapperKind::Privilege,
    ..PLAIN
};

const REMOTE: Spec = Spec {
    kind: WrapperKind::Remote,
    ..PLAIN
};

/// Every wrapper that is known.
pub const SPECS: &[Spec] = &[
    Spec {
        names: &["sudo", "doas", "please", "sudo-rs"],
        short: "ugpCDRrtThUacL",
        long: &[
            "--user",
            "--group",
            "--prompt",
            "--close-from",
            "--chdir",
            "--chroot",
            "--role",
            "--type",
            "--command-timeout",
            "--host",
            "--other-user",
        ],
        ..PRIVILEGE
    },
    Spec {
        names: &["pkexec", "chpst", "setpriv", "runcon"],
        short: "u",
        long: &["--user", "--reuid", "--regid", "--groups", "--bounding-set"],
        ..PRIVILEGE
    },
    Spec {
        names: &["gosu", "su-exec", "setuidgid"],
        n_operands: 1,
        ..PRIVILEGE
    },
    Spec {
        names: &["sg"],
        texts: &["-c"],
        n_operands: 1,
        rest: Rest::Joined,
        ..PRIVILEGE
    },
    Spec {
        names: &["gdb", "lldb"],
        verbs: &["--args", "--"],
        ..PLAIN
    },
    Spec {
        names: &["perf"],
        verbs: &["stat", "record", "trace"],
        short: "eopCr",
        long: &["--event", "--output", "--repeat"],
        ..PLAIN
    },
    Spec {
        names: &["su"],
        short: "sgGwC",
        long: &[
            "--shell",
            "--group",
            "--supp-group",
            "--whitelist-environment",
        ],
        texts: &["-c", "--command", "--session-command"],
        rest: Rest::Nothing,
        ..PRIVILEGE
    },
    Spec {
        names: &["runuser"],
        short: "ugGsw",
        long: &["--user", "--group", "--supp-group", "--shell"],
        texts: &["-c", "--command", "--session-command"],
        ..PRIVILEGE
    },
    Spec {
        names: &[
            "nohup",
            "setsid",
            "builtin",
            "command",
            "busybox",
            "toybox",
            "noglob",
            "nocorrect",
            "catchsegv",
            "fakeroot",
            "torsocks",
            "torify",
            "unbuffer",
            "caffeinate",
            "eatmydata",
            "ccache",
            "sccache",
            "tini",
            "dumb-init",
            "chronic",
            "rtk",
            "setarch",
            "linux64",
            "dbus-run-session",
            "choom",
            "uvx",
            "bunx",
            "exec",
            "winpty",
            "pkgx",
            "tsocks",
            "proxychains",
            "proxychains4",
            "fakechroot",
            "ltrace",
            "valgrind",
        ],
        short: "an",
        ..PLAIN
    },
    Spec {
        names: &["env", "/usr/bin/env"],
        short: "uCPS",
        long: &["--unset", "--chdir"],
        ..PLAIN
    },
    Spec {
        names: &["nice", "ionice", "time", "gtime", "stdbuf", "prlimit"],
        short: "ncpPuioefS",
        long: &[
            "--adjustment",
            "--class",
            "--classdata",
            "--format",
            "--output",
            "--input",
            "--error",
        ],
        ..PLAIN
    },
    Spec {
        names: &["timeout", "gtimeout"],
        short: "sk",
        long: &["--signal", "--kill-after"],
        n_operands: 1,
        ..PLAIN
    },
    Spec {
        names: &["chroot"],
        long: &["--userspec", "--groups"],
        n_operands: 1,
        ..PRIVILEGE
    },
    Spec {
        names: &["unshare", "nsenter"],
        short: "tSGRw",
        long: &[
            "--target",
            "--setuid",
            "--setgid",
            "--root",
            "--wd",
            "--map-user",
        ],
        ..PRIVILEGE
    },
    Spec {
        names: &["flock"],
        short: "wE",
        long: &["--timeout", "--wait", "--conflict-exit-code"],
        texts: &["-c", "--command"],
        n_operands: 1,
        ..PLAIN
    },
    Spec {
        names: &[
            "taskset",
            "chrt",
            "setfacl-run",
            "cgexec",
            "numactl",
            "softlimit",
        ],
        short: "gmNCic",
        n_operands: 1,
        ..PLAIN
    },
    Spec {
        names: &["strace", "dtruss"],
        verbs: &[],
        short: "eoOpsSuaIPbEX",
        ..PLAIN
    },
    Spec {
        names: &["script"],
        short: "ETIBOmo",
        texts: &["-c", "--command"],
        n_operands: 1,
        ..PLAIN
    },
    Spec {
        names: &["watch"],
        short: "nq",
        long: &["--interval", "--equexit"],
        rest: Rest::Joined,
        ..PLAIN
    },
    Spec {
        names: &["hyperfine", "concurrently"],
        short: "wrmMpcSPLn",
        long: &[
            "--warmup",
            "--runs",
            "--min-runs",
            "--max-runs",
            "--shell",
            "--export-json",
            "--export-markdown",
            "--export-csv",
            "--names",
            "--parameter-list",
            "--parameter-scan",
        ],
        texts: &["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"],
        rest: Rest::Texts,
        ..PLAIN
    },
    Spec {
        names: &["entr", "nodemon", "watchexec"],
        short: "wefx",
        texts: &["-s", "--exec", "-x", "-c"],
        ..PLAIN
    },
    Spec {
        names: &["cmake"],
        verbs: &["-E"],
        ..PLAIN
    },
    Spec {
        names: &["cargo"],
        verbs: &["watch"],
        short: "xwid",
        long: &["--exec", "--watch", "--ignore", "--delay", "--workdir"],
        texts: &["-s", "--shell"],
        ..PLAIN
    },
    Spec {
        names: &["nix-shell", "nix"],
        short: "pAI",
        texts: &["--run", "--command"],
        rest: Rest::Nothing,
        ..PLAIN
    },
    Spec {
        names: &["npx", "pnpx"],
        short: "p",
        long: &["--package"],
        texts: &["-c", "--call"],
        ..PLAIN
    },
    Spec {
        names: &["npm", "pnpm", "yarn", "bun"],
        verbs: &["exec", "x", "dlx"],
        texts: &["-c", "--call"],
        ..PLAIN
    },
    Spec {
        names: &[
            "poetry", "pipenv", "pdm", "hatch", "rye", "uv", "pipx", "conda", "mamba", "op",
            "doppler",
        ],
        verbs: &["run"],
        short: "npC",
        long: &[
            "--with",
            "--python",
            "--extra",
            "--group",
            "--project",
            "--directory",
            "--env-file",
            "--name",
            "--prefix",
        ],
        ..PLAIN
    },
    Spec {
        names: &[
            "bundle",
            "mise",
            "asdf",
            "rbenv",
            "pyenv",
            "aws-vault",
            "chamber",
        ],
        verbs: &["exec", "x"],
        ..PLAIN
    },
    Spec {
        names: &["direnv"],
        verbs: &["exec"],
        n_operands: 1,
        ..PLAIN
    },
    Spec {
        names: &[
            "systemd-run",
            "systemd-inhibit",
            "xvfb-run",
            "firejail",
            "bwrap",
            "proot",
            "rlwrap",
        ],
        short: "pMHEuns",
        long: &[
            "--property",
            "--unit",
            "--setenv",
            "--uid",
            "--gid",
            "--server-args",
            "--what",
            "--why",
        ],
        ..PLAIN
    },
    Spec {
        names: &["tmux", "screen", "byobu"],
        verbs: &[
            "new-session",
            "new",
            "new-window",
            "neww",
            "split-window",
            "splitw",
            "run-shell",
            "run",
            "send-keys",
            "send",
            "respawn-pane",
            "-dm",
            "-dmS",
            "-d",
            "-X",
            "-m",
            "-S",
        ],
        short: "sncteFxyS",
        rest: Rest::Joined,
        ..PLAIN
    },
    Spec {
        names: &["ssh", "mosh", "autossh", "rsh", "slogin", "sshpass-ssh"],
        short: "bcDEeFIiJLlmOopQRSWwB",
        n_operands: 1,
        rest: Rest::Joined,
        ..REMOTE
    },
    Spec {
        names: &["sshpass"],
        short: "fdpP",
        ..PLAIN
    },
    Spec {
        names: &["vagrant"],
        verbs: &["ssh"],
        texts: &["-c", "--command"],
        rest: Rest::Nothing,
        ..REMOTE
    },
    Spec {
        names: &[
            "docker",
            "podman",
            "nerdctl",
            "docker-compose",
            "podman-compose",
            "lxc",
            "incus",
        ],
        verbs: &["exec", "run"],
        short: "evpulwhmcnHf",
        long: &[
            "--name",
            "--env",
            "--env-file",
            "--volume",
            "--publish",
            "--user",
            "--workdir",
            "--network",
            "--net",
            "--entrypoint",
            "--mount",
            "--label",
            "--memory",
            "--cpus",
            "--gpus",
            "--platform",
            "--hostname",
            "--add-host",
            "--cap-add",
            "--cap-drop",
            "--device",
            "--tmpfs",
            "--ulimit",
            "--security-opt",
            "--restart",
            "--shm-size",
            "--pull",
            "--log-driver",
            "--dns",
            "--ipc",
            "--pid",
            "--link",
            "--detach-keys",
            "--index",
            "--file",
            "--project-name",
            "--profile",
            "--context",
            "--host",
        ],
        n_operands: 1,
        ..REMOTE
    },
    Spec {
        names: &["kubectl", "oc", "k", "microk8s"],
        verbs: &["exec", "run", "debug"],
        short: "ncfs",
        long: &[
            "--namespace",
            "--container",
            "--context",
            "--image",
            "--filename",
            "--kubeconfig",
        ],
        n_operands: 1,
        ..REMOTE
    },
];
