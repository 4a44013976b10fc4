//! Judges commands that administer the machine: power, processes, services, scheduled jobs,
//! firewall, users, kernel, packages.
//!
//! Files and disks have their own files.

use crate::permission::shell::{
    CommandInput, CommandWrapper, SimpleCommand, UNKNOWN_PLACEHOLDER, WrapperKind,
};

use super::builtin_rules::BuiltinRule;
use super::classifier::{CommandClassifier, is_run_for_each_argument};
use super::command_invocation::CommandInvocation;

/// The rule for a function that starts itself again and again.
pub static FORK_BOMB: BuiltinRule = BuiltinRule::dangerous(
    "system.fork-bomb",
    "starts itself until the machine hangs",
    &[],
);
static PRIVILEGE: BuiltinRule = BuiltinRule::dangerous(
    "system.privilege",
    "runs with another user's rights",
    &[
        "doas|pkexec|su|runuser|run0|gksudo|gksu|kdesudo|kdesu|sudoedit|sudo-rs|su-exec|gosu|dzdo|pbrun|sux|really",
    ],
);
static POWER: BuiltinRule = BuiltinRule::dangerous(
    "system.power",
    "stops or restarts the machine",
    &[
        "shutdown !-c|--show",
        "reboot|halt|poweroff|telinit|kexec",
        "init 0|1|6|s|S|q",
        "systemctl reboot|poweroff|halt|kexec|emergency|rescue|isolate|suspend|hibernate|hybrid-sleep|soft-reboot|exit|default|suspend-then-hibernate",
        "loginctl poweroff|reboot|halt|suspend|hibernate|terminate-user|terminate-session|kill-user|kill-session|terminate-seat",
        "rtcwake|pm-suspend|pm-hibernate",
        "wsl --shutdown|--unregister|--terminate",
        "pmset sleepnow",
        "ipmitool ** off|cycle|reset",
        "xfce4-session-logout|gnome-session-quit",
    ],
);
static MASS_KILL: BuiltinRule = BuiltinRule::dangerous(
    "system.mass-kill",
    "ends every process, or every one of a user",
    &[
        "killall5",
        "fuser -k -m",
        "killall -u|--user",
        "slay",
        "skill -KILL|-9",
    ],
);
static SERVICES: BuiltinRule = BuiltinRule::confirm(
    "system.services",
    "stops or switches off services",
    &[
        "systemctl stop|disable|mask|kill|restart|try-restart|reload-or-restart|daemon-reexec|set-default|revert|unmask",
        "service ** stop|restart",
        "rc-service ** stop|restart",
        "rc-update del|delete",
        "launchctl unload|remove|bootout|kill|stop|disable",
        "initctl stop|restart",
        "sv down|stop|exit",
        "supervisorctl stop|shutdown|remove|restart",
        "brew services stop|kill",
        "pm2 delete|kill|stop",
        "update-rc.d ** remove|disable",
        "chkconfig ** off",
        "tmux kill-server",
        "screen -X",
        "sc|net stop|delete",
    ],
);
static CRITICAL_SERVICES: BuiltinRule = BuiltinRule::dangerous(
    "system.critical-services",
    "stops a service that the machine or its access rests on",
    &[
        "systemctl stop|disable|mask|kill sshd*|ssh|ssh.service|network*|networking*|systemd-*|dbus*|firewalld*|ufw*|docker*|containerd*|kubelet*|cron*|nftables*|iptables*|auditd*|fail2ban*|apparmor*|display-manager*|gdm*",
        "service sshd|ssh|network|networking|docker|iptables|ufw|cron stop",
    ],
);
static SCHEDULE: BuiltinRule = BuiltinRule::dangerous(
    "system.schedule",
    "removes or replaces scheduled work",
    &["crontab -r|-ri|-ir", "atrm|at -d", "at -r", "batch -d"],
);
static SCHEDULED: BuiltinRule = BuiltinRule::confirm(
    "system.scheduled",
    "schedules work for later",
    &[
        "crontab -e",
        "crontab *",
        "crontab -",
        "at|batch !-l|-c|-V",
        "systemd-run --on-calendar|--on-active|--on-boot",
        "schtasks /delete|/create",
    ],
);
static FIREWALL: BuiltinRule = BuiltinRule::dangerous(
    "system.firewall",
    "opens or changes the firewall",
    &[
        "iptables|ip6tables|iptables-legacy|iptables-nft|ebtables|arptables -F|--flush|-X|--delete-chain|-P|--policy|-D|--delete|-Z|--zero",
        "iptables-restore|ip6tables-restore",
        "nft flush|delete|destroy|reset",
        "nft -f|--file",
        "nft ** flush|delete",
        "ufw disable|reset|delete",
        "ufw --force ** disable|reset|delete",
        "ufw default allow",
        "firewall-cmd --panic-on|--remove-service|--remove-port|--remove-rich-rule|--set-default-zone|--complete-reload|--delete-zone",
        "pfctl -d|-F",
        "ipfw ** flush|delete",
        "ipset flush|destroy|x|f",
        "conntrack -F|--flush",
        "netsh advfirewall ** off|reset|delete",
        "setenforce 0|permissive",
        "aa-teardown|aa-disable|aa-complain",
        "auditctl -D|-e=0",
        "spctl --master-disable|--global-disable",
        "csrutil disable",
    ],
);
static FIREWALL_ADDED: BuiltinRule = BuiltinRule::confirm(
    "system.firewall-added",
    "adds to the firewall",
    &[
        "iptables|ip6tables -A|--append|-I|--insert|-R|-N",
        "ufw allow|deny|enable|reject|limit",
        "firewall-cmd --add-port|--add-service|--reload",
        "nft add|insert",
    ],
);
static NETWORK: BuiltinRule = BuiltinRule::dangerous(
    "system.network",
    "takes the machine off the network",
    &[
        "ip link|l set ** down",
        "ip route|r flush|del|delete",
        "ip addr|address|a flush|del|delete",
        "ip link|l delete|del",
        "ip netns delete|del",
        "ifconfig * down",
        "ifdown",
        "route del|delete|flush",
        "nmcli networking|radio|n|r ** off",
        "nmcli connection|con|c|device|dev|d delete|down|disconnect",
        "rfkill block",
        "networksetup -setnetworkserviceenabled",
        "tc qdisc del",
    ],
);
static USERS: BuiltinRule = BuiltinRule::dangerous(
    "system.users",
    "removes or changes users, groups or passwords",
    &[
        "userdel|groupdel|deluser|delgroup|chpasswd|usermod|groupmod|gpasswd|vipw|vigr|newusers",
        "passwd",
        "useradd|adduser|groupadd|addgroup",
        "dscl ** -delete|delete",
        "sysadminctl -deleteUser",
        "chage|visudo",
        "faillock --reset",
    ],
);
static KERNEL: BuiltinRule = BuiltinRule::dangerous(
    "system.kernel",
    "changes the running kernel",
    &[
        "sysctl -w|--write|-p|--load|--system",
        "sysctl *=*",
        "rmmod|insmod",
        "modprobe !-n|--dry-run|-D|--show-depends|-c|--showconfig",
        "kmod load|unload",
        "kpatch|livepatch **",
        "nvram",
    ],
);
static PACKAGES: BuiltinRule = BuiltinRule::confirm(
    "system.packages",
    "removes programs of the system",
    &[
        "apt|apt-get|aptitude|nala remove|purge|autoremove|autopurge|dist-upgrade|full-upgrade !-s|--dry-run|--simulate",
        "dnf|yum|microdnf|zypper remove|erase|autoremove|rm|history",
        "pacman|yay|paru -R|-Rs|-Rns|-Rdd|-Rsc|-Rn|-Rc|--remove",
        "dpkg -r|-P|--remove|--purge|--force-all",
        "rpm -e|--erase",
        "apk del",
        "brew uninstall|remove|rm|untap|autoremove",
        "snap remove",
        "flatpak uninstall|remove",
        "emerge -C|--unmerge|--depclean",
        "pkg delete|remove|autoremove",
        "port uninstall",
        "nix-collect-garbage",
        "nix-store --gc|--delete",
        "rustup self uninstall",
        "rustup toolchain|target uninstall|remove",
        "choco|winget|scoop uninstall",
        "conda|mamba|micromamba env remove",
        "conda|mamba remove --all",
        "pyenv|rbenv|nodenv|asdf uninstall",
    ],
);
static LOGS: BuiltinRule = BuiltinRule::confirm(
    "system.logs",
    "removes records of what happened",
    &[
        "journalctl --vacuum-size|--vacuum-time|--vacuum-files|--rotate|--flush",
        "dmesg -C|-c|--clear|--read-clear",
        "history -c|-w",
        "logrotate -f|--force",
        "wevtutil cl|clear-log",
        "utmpdump -r",
    ],
);
static CLOCK: BuiltinRule = BuiltinRule::confirm(
    "system.clock",
    "changes the machine's clock, name or locale",
    &[
        "date -s|--set",
        "hwclock -w|-s|--systohc|--hctosys|--set",
        "timedatectl set-time|set-timezone|set-ntp|set-local-rtc",
        "hostnamectl set-hostname|hostname",
        "ntpdate|chronyc **",
        "hostname *",
        "localectl set-locale|set-keymap",
        "update-alternatives --set|--remove|--config|--install",
        "chsh",
    ],
);
static SECURITY: BuiltinRule = BuiltinRule::dangerous(
    "system.security",
    "removes keys or protection",
    &[
        "gpg --delete-key|--delete-keys|--delete-secret-key|--delete-secret-keys|--delete-secret-and-public-key|--delete-secret-and-public-keys",
        "security delete-keychain|delete-certificate|delete-generic-password|delete-internet-password",
        "defaults delete",
        "reg delete|import",
        "vssadmin delete",
        "wbadmin delete",
        "cipher /w*",
        "certutil -delstore",
        "bitsadmin **",
        "keytool -delete",
    ],
);

pub const RULES: &[&BuiltinRule] = &[
    &FORK_BOMB,
    &PRIVILEGE,
    &POWER,
    &MASS_KILL,
    &SERVICES,
    &CRITICAL_SERVICES,
    &SCHEDULE,
    &SCHEDULED,
    &FIREWALL,
    &FIREWALL_ADDED,
    &NETWORK,
    &USERS,
    &KERNEL,
    &PACKAGES,
    &LOGS,
    &CLOCK,
    &SECURITY,
];

/// Judges wrappers that change the rights of their command.
pub fn check_wrapper(
    wrapper: &CommandWrapper,
    command: &CommandInvocation<'_>,
    scene: &CommandClassifier<'_>,
) {
    if wrapper.kind == WrapperKind::Privilege && command.program != "sudo" {
        scene.record_rule(&PRIVILEGE, &command.simple.span);
    }
}

/// Judges programs that end processes.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    // `nft 'flush ruleset'`: several words in one.
    if let (true, [only]) = (command.program == "nft", command.argument_words())
        && only.text.contains(' ')
    {
        let words = only.text.split_whitespace().map(str::to_owned);
        let argv: Vec<String> = std::iter::once("nft".to_owned()).chain(words).collect();
        scene.classify_nested_argv(&argv, &command.simple.span);
    }
    match command.program.as_str() {
        "kill" => check_kill(command, scene),
        "pkill" | "killall" | "skill" => check_kill_by_name(command, scene),
        "crontab" => check_crontab(command, scene),
        _ => {}
    }
}

/// The most commands before a `kill` that are checked.
const MAX_PROCESS_LISTERS: usize = 64;

/// `kill -9 -1` ends every process; `-1` as the first word is a signal.
fn check_kill(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    let words = command.argument_texts();
    let mut rest = words.as_slice();
    match rest {
        ["-l" | "-L" | "--list" | "--table", ..] => return,
        ["-s" | "-n" | "--signal" | "-q", _, behind @ ..] => rest = behind,
        [first, behind @ ..] if first.starts_with('-') && *first != "--" => rest = behind,
        _ => {}
    }
    let rest = rest.strip_prefix(&["--"]).unwrap_or(rest);
    if rest.iter().any(|word| matches!(*word, "-1" | "1")) || (words == ["-1"]) {
        return scene.record_rule(&MASS_KILL, &command.simple.span);
    }
    let is_all = match rest.iter().any(|word| word.contains(UNKNOWN_PLACEHOLDER)) {
        _ if is_run_for_each_argument(command.simple) => is_fed_every_process(command, scene),
        true => kills_listed_processes(command, scene),
        false => false,
    };
    if is_all {
        scene.record_rule(&MASS_KILL, &command.simple.span);
    }
}

/// Returns whether the commands before this one, or those inside its own words if there are any, list every process.
fn kills_listed_processes(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) -> bool {
    let span = &command.simple.span;
    let others = || {
        let commands = scene.analysis.commands.iter();
        commands
            .take_while(|simple| !std::ptr::eq(*simple, command.simple))
            .take(MAX_PROCESS_LISTERS)
    };
    let is_inside =
        |simple: &&SimpleCommand| simple.span.start >= span.start && simple.span.end <= span.end;
    let is_all = |listers: &[&SimpleCommand]| {
        listers.iter().any(|simple| lists_every_process(simple))
            && !listers.iter().any(|simple| filters_processes(simple))
    };
    let inside: Vec<&SimpleCommand> = others().filter(is_inside).collect();
    // The content of a variable comes from a command on another line; only `pgrep` can be its source.
    let is_pgrep = |simple: &&SimpleCommand| {
        simple
            .words
            .first()
            .is_some_and(|first| first.text == "pgrep")
    };
    if inside.is_empty() {
        is_all(&others().filter(is_pgrep).collect::<Vec<_>>())
    } else {
        is_all(&inside)
    }
}

/// Returns whether a command lists all processes, or all processes of a user.
fn lists_every_process(simple: &SimpleCommand) -> bool {
    let texts: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    match texts.first().copied() {
        Some("ps") => !texts.iter().any(|text| {
            matches!(*text, "-p" | "-C" | "-q" | "--pid" | "--ppid" | "p")
                || text.starts_with("--ppid=")
        }),
        Some("pgrep") => CommandInvocation::from_words(&simple.words, simple)
            .is_some_and(|command| kills_every_process(&command)),
        _ => false,
    }
}

/// Returns whether a command selects some of the listed processes.
fn filters_processes(simple: &SimpleCommand) -> bool {
    let texts: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    match texts.first().copied() {
        Some("grep" | "rg" | "egrep" | "head" | "tail" | "lsof" | "fuser") => true,
        Some("awk" | "sed") => texts.iter().any(|text| text.contains(['/', '~'])),
        Some("pgrep") => !lists_every_process(simple),
        _ => false,
    }
}

/// Returns whether the arguments come from a list of all processes.
fn is_fed_every_process(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) -> bool {
    // The arguments of `xargs` are the output of the command before it.
    let commands = &scene.analysis.commands;
    let own = commands
        .iter()
        .position(|simple| std::ptr::eq(simple, command.simple));
    let before = own
        .and_then(|own| own.checked_sub(1))
        .map(|before| CommandInput::Pipe(vec![before]));
    let first = before.unwrap_or(CommandInput::Nothing);
    let mut next = vec![&first];
    let mut is_all = false;
    for _ in 0..8 {
        let Some(CommandInput::Pipe(from)) = next.pop() else {
            break;
        };
        for source in from
            .iter()
            .filter_map(|at| scene.analysis.commands.get(*at))
        {
            let texts: Vec<&str> = source.words.iter().map(|word| word.text.as_str()).collect();
            match texts.first().copied() {
                Some("pgrep") if lists_every_process(source) => is_all = true,
                Some("grep" | "rg" | "pgrep" | "lsof" | "fuser" | "head" | "egrep") => {
                    return false;
                }
                Some("awk") if texts.iter().any(|text| text.contains('/')) => return false,
                Some("ps") => {
                    is_all = texts
                        .iter()
                        .skip(1)
                        .any(|text| text.contains(['a', 'e', 'A', 'x']))
                }
                _ => {}
            }
            next.push(&source.input);
        }
    }
    is_all
}

fn check_kill_by_name(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    if kills_every_process(command) {
        scene.record_rule(&MASS_KILL, &command.simple.span);
    }
}

/// Returns whether the command names all processes, or all processes of a user.
fn kills_every_process(command: &CommandInvocation<'_>) -> bool {
    let operands: Vec<&str> = command.arguments.operand_texts().collect();
    let is_everything = |text: &&str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| matches!(c, '.' | '*' | '+' | '^' | '$' | '?'))
            || text.is_empty()
    };
    let by_user = command.arguments.options.iter().any(|given| {
        matches!(
            given.name.as_str(),
            "-u" | "-U" | "--euid" | "--uid" | "--user" | "-v" | "--inverse"
        )
    });
    let has_name = operands.iter().enumerate().any(|(at, _)| {
        !(command
            .arguments
            .operands
            .get(at)
            .is_some_and(|operand| operand.may_be_value)
            && by_user
            && at == 0)
    });
    operands.iter().any(is_everything)
        || (by_user && !has_name)
        || command.arguments.has_option(&["--inverse"])
}

fn check_crontab(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    let span = &command.simple.span;
    let words = command.argument_texts();
    if words
        .iter()
        .any(|word| word.starts_with('-') && word.contains('r') && !word.starts_with("--"))
    {
        return scene.record_rule(&SCHEDULE, span);
    }
    let reads = matches!(
        command.simple.input,
        CommandInput::Pipe(_) | CommandInput::KnownText(_) | CommandInput::Unknown
    ) || command
        .simple
        .redirects
        .iter()
        .any(|redirect| redirect.target.text == "/dev/null");
    if words == ["-"] || (words.is_empty() && reads) || words.contains(&"/dev/null") {
        scene.record_rule(&SCHEDULED, span);
    }
    if words.contains(&"/dev/null")
        || (words == ["-"]
            && command
                .simple
                .redirects
                .iter()
                .any(|redirect| redirect.target.text == "/dev/null"))
    {
        scene.record_rule(&SCHEDULE, span);
    }
}
