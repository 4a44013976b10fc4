//! A table of programs that run another command.
//!
//! How their words are read is in `command_wrappers`.

use super::{CommandForm, WrapperSpec};
use crate::permission::shell::WrapperKind;

const PLAIN_WRAPPER: WrapperSpec = WrapperSpec {
    names: &[],
    verbs: &[],
    kind: WrapperKind::Known,
    short_value_options: "",
    long_value_options: &[],
    script_options: &[],
    n_operands: 0,
    command_form: CommandForm::Words,
};

const PRIVILEGE_WRAPPER: WrapperSpec = WrapperSpec {
    kind: WrapperKind::Privilege,
    ..PLAIN_WRAPPER
};

const REMOTE_WRAPPER: WrapperSpec = WrapperSpec {
    kind: WrapperKind::Remote,
    ..PLAIN_WRAPPER
};

/// All known wrappers.
pub const WRAPPER_SPECS: &[WrapperSpec] = &[
    WrapperSpec {
        names: &["sudo", "doas", "please", "sudo-rs"],
        short_value_options: "ugpCDRrtThUacL",
        long_value_options: &[
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
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
        names: &["pkexec", "chpst", "setpriv", "runcon"],
        short_value_options: "u",
        long_value_options: &["--user", "--reuid", "--regid", "--groups", "--bounding-set"],
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
        names: &["gosu", "su-exec", "setuidgid"],
        n_operands: 1,
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
        names: &["sg"],
        script_options: &["-c"],
        n_operands: 1,
        command_form: CommandForm::JoinedScript,
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
        names: &["gdb", "lldb"],
        verbs: &["--args", "--"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["perf"],
        verbs: &["stat", "record", "trace"],
        short_value_options: "eopCr",
        long_value_options: &["--event", "--output", "--repeat"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["su"],
        short_value_options: "sgGwC",
        long_value_options: &[
            "--shell",
            "--group",
            "--supp-group",
            "--whitelist-environment",
        ],
        script_options: &["-c", "--command", "--session-command"],
        command_form: CommandForm::OptionOnly,
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
        names: &["runuser"],
        short_value_options: "ugGsw",
        long_value_options: &["--user", "--group", "--supp-group", "--shell"],
        script_options: &["-c", "--command", "--session-command"],
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
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
        short_value_options: "an",
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["env", "/usr/bin/env"],
        short_value_options: "uCPS",
        long_value_options: &["--unset", "--chdir"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["nice", "ionice", "time", "gtime", "stdbuf", "prlimit"],
        short_value_options: "ncpPuioefS",
        long_value_options: &[
            "--adjustment",
            "--class",
            "--classdata",
            "--format",
            "--output",
            "--input",
            "--error",
        ],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["timeout", "gtimeout"],
        short_value_options: "sk",
        long_value_options: &["--signal", "--kill-after"],
        n_operands: 1,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["chroot"],
        long_value_options: &["--userspec", "--groups"],
        n_operands: 1,
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
        names: &["unshare", "nsenter"],
        short_value_options: "tSGRw",
        long_value_options: &[
            "--target",
            "--setuid",
            "--setgid",
            "--root",
            "--wd",
            "--map-user",
        ],
        ..PRIVILEGE_WRAPPER
    },
    WrapperSpec {
        names: &["flock"],
        short_value_options: "wE",
        long_value_options: &["--timeout", "--wait", "--conflict-exit-code"],
        script_options: &["-c", "--command"],
        n_operands: 1,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &[
            "taskset",
            "chrt",
            "setfacl-run",
            "cgexec",
            "numactl",
            "softlimit",
        ],
        short_value_options: "gmNCic",
        n_operands: 1,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["strace", "dtruss"],
        verbs: &[],
        short_value_options: "eoOpsSuaIPbEX",
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["script"],
        short_value_options: "ETIBOmo",
        script_options: &["-c", "--command"],
        n_operands: 1,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["watch"],
        short_value_options: "nq",
        long_value_options: &["--interval", "--equexit"],
        command_form: CommandForm::JoinedScript,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["hyperfine", "concurrently"],
        short_value_options: "wrmMpcSPLn",
        long_value_options: &[
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
        script_options: &["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"],
        command_form: CommandForm::ScriptPerWord,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["entr", "nodemon", "watchexec"],
        short_value_options: "wefx",
        script_options: &["-s", "--exec", "-x", "-c"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["cmake"],
        verbs: &["-E"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["cargo"],
        verbs: &["watch"],
        short_value_options: "xwid",
        long_value_options: &["--exec", "--watch", "--ignore", "--delay", "--workdir"],
        script_options: &["-s", "--shell"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["nix-shell", "nix"],
        short_value_options: "pAI",
        script_options: &["--run", "--command"],
        command_form: CommandForm::OptionOnly,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["npx", "pnpx"],
        short_value_options: "p",
        long_value_options: &["--package"],
        script_options: &["-c", "--call"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["npm", "pnpm", "yarn", "bun"],
        verbs: &["exec", "x", "dlx"],
        script_options: &["-c", "--call"],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &[
            "poetry", "pipenv", "pdm", "hatch", "rye", "uv", "pipx", "conda", "mamba", "op",
            "doppler",
        ],
        verbs: &["run"],
        short_value_options: "npC",
        long_value_options: &[
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
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
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
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["direnv"],
        verbs: &["exec"],
        n_operands: 1,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &[
            "systemd-run",
            "systemd-inhibit",
            "xvfb-run",
            "firejail",
            "bwrap",
            "proot",
            "rlwrap",
        ],
        short_value_options: "pMHEuns",
        long_value_options: &[
            "--property",
            "--unit",
            "--setenv",
            "--uid",
            "--gid",
            "--server-args",
            "--what",
            "--why",
        ],
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
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
        short_value_options: "sncteFxyS",
        command_form: CommandForm::JoinedScript,
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["ssh", "mosh", "autossh", "rsh", "slogin", "sshpass-ssh"],
        short_value_options: "bcDEeFIiJLlmOopQRSWwB",
        n_operands: 1,
        command_form: CommandForm::JoinedScript,
        ..REMOTE_WRAPPER
    },
    WrapperSpec {
        names: &["sshpass"],
        short_value_options: "fdpP",
        ..PLAIN_WRAPPER
    },
    WrapperSpec {
        names: &["vagrant"],
        verbs: &["ssh"],
        script_options: &["-c", "--command"],
        command_form: CommandForm::OptionOnly,
        ..REMOTE_WRAPPER
    },
    WrapperSpec {
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
        short_value_options: "evpulwhmcnHf",
        long_value_options: &[
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
        ..REMOTE_WRAPPER
    },
    WrapperSpec {
        names: &["kubectl", "oc", "k", "microk8s"],
        verbs: &["exec", "run", "debug"],
        short_value_options: "ncfs",
        long_value_options: &[
            "--namespace",
            "--container",
            "--context",
            "--image",
            "--filename",
            "--kubeconfig",
        ],
        n_operands: 1,
        ..REMOTE_WRAPPER
    },
];
