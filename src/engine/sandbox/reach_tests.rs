//! Tests what tests, commits and claude's commands can reach besides files, with a real bubblewrap.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::command_sandbox::test_sandbox_spec_for;
use super::*;
use crate::process::{
    CommandLimits, ProcessMark, SandboxNetwork, ScratchFolder, SpawnSpec, StdinSource, run_to_end,
};

/// A home directory and a repository beside it, both below `place`.
struct SandboxReachFixture {
    _folder: TempDir,
    kernel: SandboxSupport,
    home: PathBuf,
    root: PathBuf,
    variables: Vec<(String, PathBuf)>,
    sockets: Vec<PathBuf>,
}

async fn world(place: &Path) -> SandboxReachFixture {
    let folder = tempfile::Builder::new()
        .prefix("w")
        .tempdir_in(place)
        .unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (home, root) = (top.join("h"), top.join("r"));
    for path in [
        home.join("bin"),
        root.join(".git"),
        root.join(".agent-collab"),
    ] {
        fs::create_dir_all(path).unwrap();
    }
    let kernel =
        detect_sandbox_support(&ChildSpawner::default(), &find_on_path("bwrap"), &root).await;
    assert!(matches!(kernel, SandboxSupport::Available(_)), "{kernel:?}");
    SandboxReachFixture {
        _folder: folder,
        kernel,
        variables: vec![("HOME".to_owned(), home.clone())],
        home,
        root,
        sockets: Vec::new(),
    }
}

impl SandboxReachFixture {
    fn user(&self) -> UserEnvironment {
        let path = std::env::var_os("PATH").unwrap();
        let set = self.variables.iter();
        let set = set.map(|(name, path)| (name.into(), path.into()));
        UserEnvironment::new(set.chain([("PATH".into(), path)]))
    }

    fn containment(&self, network: SandboxNetwork) -> SandboxSpec {
        let reach = CommandReach {
            run: "run_reach".to_owned(),
            network,
            sockets: self.sockets.clone(),
            mentioned_paths: Vec::new(),
        };
        let workdir = self.root.join(".agent-collab");
        let places = (&*self.root, &*workdir);
        test_sandbox_spec_for(&self.user(), &self.kernel, places.0, places.1, None, &reach).unwrap()
    }

    async fn test(&self, network: SandboxNetwork, script: &str, words: &[&str]) -> String {
        said(self.containment(network), &self.root, script, words).await
    }
}

/// Runs a script in a sandbox and returns its whole output.
async fn said(held: SandboxSpec, root: &Path, script: &str, words: &[&str]) -> String {
    let mut spec = SpawnSpec::new("sh", root, ProcessMark::new("test", "reach"));
    spec = spec.args(["-c", script, "sh"]).args(words.iter().copied());
    spec.sandbox = Some(held);
    let limits = CommandLimits {
        timeout: Duration::from_secs(60),
        output_cap: 64 * 1024,
        stdin: StdinSource::Null,
    };
    let ran = run_to_end(&spec, &limits, &CancellationToken::new())
        .await
        .unwrap();
    format!("{}{}", ran.stdout.to_text(), ran.stderr.to_text())
}

fn listen(path: &Path) -> UnixListener {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    UnixListener::bind(path).unwrap()
}

/// Prints each path that is a socket inside the sandbox.
const FIND_SOCKETS_SCRIPT: &str =
    "for path in \"$@\"; do test -S \"$path\" && echo \"$path\"; done; echo looked";
/// Connects to an abstract socket.
const CONNECT_ABSTRACT_SCRIPT: &str =
    "exec perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die;
    print(connect($s, pack_sockaddr_un(\"\\0$ARGV[0]\")) ? \"reached\" : \"refused\")' \"$1\"";

const HOME_SOCKETS: &[&str] = &[
    ".docker/run/docker.sock",
    ".docker/desktop/docker.sock",
    ".colima/default/docker.sock",
    ".local/share/containers/podman/machine/podman.sock",
    ".gnupg/S.gpg-agent",
    ".ssh/agent/s.1",
    ".1password/agent.sock",
    ".vscode-server/1.sock",
    ".config/Code/1.sock",
    ".emacs.d/server/server",
    "tmux",
];

async fn check_sockets_at_home(place: &Path) {
    let mut world = world(place).await;
    let mut listeners: Vec<_> = HOME_SOCKETS
        .iter()
        .map(|path| listen(&world.home.join(path)))
        .collect();
    let (agent, live) = (
        world.root.with_file_name("agent"),
        world.root.join("editor"),
    );
    listeners.extend([listen(&agent), listen(&live)]);
    let runtime = world.root.with_file_name("run");
    listeners.push(listen(&runtime.join("bus")));
    world.variables.extend([
        ("SSH_AUTH_SOCK".to_owned(), agent.clone()),
        ("XDG_RUNTIME_DIR".to_owned(), runtime.clone()),
    ]);
    let mut all: Vec<String> = HOME_SOCKETS
        .iter()
        .map(|path| world.home.join(path).display().to_string())
        .collect();
    all.extend([agent, live, runtime.join("bus")].map(|path| path.display().to_string()));
    let words: Vec<&str> = all.iter().map(String::as_str).collect();
    for network in [SandboxNetwork::Loopback, SandboxNetwork::Host] {
        assert_eq!(
            world.test(network, FIND_SOCKETS_SCRIPT, &words).await,
            "looked\n"
        );
    }
    // A socket that the user allows is reachable wherever it is.
    world.sockets = vec![world.home.join(HOME_SOCKETS[0])];
    let reached = world
        .test(SandboxNetwork::Loopback, FIND_SOCKETS_SCRIPT, &words)
        .await;
    assert_eq!(reached, format!("{}\nlooked\n", words[0]));
}

#[tokio::test]
async fn a_socket_of_the_users_is_none_to_a_test() {
    check_sockets_at_home(Path::new(env!("CARGO_MANIFEST_DIR"))).await;
}

#[tokio::test]
async fn a_socket_of_a_user_whose_home_lies_among_temporary_files_is_none_to_a_test() {
    check_sockets_at_home(Path::new("/tmp")).await;
}

#[tokio::test]
async fn an_abstract_socket_is_reached_by_no_test_whatever_its_network() {
    let world = world(Path::new("/tmp")).await;
    let name = format!("agent-collab-{}", uuid::Uuid::now_v7());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    for network in [SandboxNetwork::Loopback, SandboxNetwork::Host] {
        if network == SandboxNetwork::Host
            && crate::process::why_abstract_sockets_stay_open().is_some()
        {
            continue;
        }
        let said = world.test(network, CONNECT_ABSTRACT_SCRIPT, &[&name]).await;
        assert_eq!(said, "refused", "{network:?}");
    }
}

#[tokio::test]
async fn a_server_of_the_tests_own_is_reached_and_one_of_the_machines_with_its_network_alone() {
    let world = world(Path::new("/tmp")).await;
    let own = "exec perl -MIO::Socket::INET -e '
        my $server = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", Listen => 1) or die $!;
        my $port = $server->sockport;
        print IO::Socket::INET->new(\"127.0.0.1:$port\") ? \"reached\" : \"refused\"'";
    assert_eq!(
        world.test(SandboxNetwork::Loopback, own, &[]).await,
        "reached"
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let machines = "exec perl -MIO::Socket::INET -e '
        print IO::Socket::INET->new(\"127.0.0.1:$ARGV[0]\") ? \"reached\" : \"refused\"' $1";
    for (network, expected) in [
        (SandboxNetwork::Loopback, "refused"),
        (SandboxNetwork::Host, "reached"),
    ] {
        assert_eq!(world.test(network, machines, &[&port]).await, expected);
    }
}

#[tokio::test]
async fn temporary_files_are_a_tests_own_and_go_with_it_while_a_repository_among_them_is_written() {
    let world = world(Path::new("/tmp")).await;
    let mut others = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    others.write_all(b"other").unwrap();
    let other = others.path().display().to_string();
    let script = "cat $1 2>/dev/null || echo hidden; echo big > /tmp/big; echo x > /var/tmp/x && cat /tmp/big; echo new > src
        touch ../beside ../h/beside; ls /tmp";
    let held = world.containment(SandboxNetwork::Loopback);
    let sources: Vec<PathBuf> = sources(&held);
    assert!(sources.iter().all(|path| path.is_dir()), "{sources:?}");
    let said = said(held, &world.root, script, &[&other]).await;
    assert!(
        said.contains("hidden\nbig\n") && !said.contains(&other),
        "{said}"
    );
    assert_eq!(fs::read_to_string(world.root.join("src")).unwrap(), "new\n");
    assert!(!Path::new("/tmp/big").exists() && !Path::new("/var/tmp/x").exists());
    assert!(!world.home.join("beside").exists());
    assert!(!world.root.with_file_name("beside").exists());
    assert!(sources.iter().all(|path| !path.exists()), "{sources:?}");
}

/// Returns the folders that are mounted over others.
fn sources(held: &SandboxSpec) -> Vec<PathBuf> {
    let replaced = held.mounts().iter().filter_map(|(_, hold)| match hold {
        SandboxMount::BindFrom(source) => Some(source.clone()),
        _ => None,
    });
    replaced.collect()
}

#[tokio::test]
async fn of_caches_a_test_writes_what_was_fetched_and_nothing_that_the_user_runs() {
    let world = world(Path::new(env!("CARGO_MANIFEST_DIR"))).await;
    let written = [
        ".cargo/registry",
        ".npm/_cacache",
        ".cache/pip",
        ".bun/install/cache",
        ".gradle/caches",
    ];
    let read = [
        ".cargo/bin",
        ".rustup/toolchains",
        ".cache/pre-commit",
        ".local/share/pnpm/bin",
        ".local/share/virtualenvs/x",
        ".yarn/bin",
        ".gem/bin",
        ".dotnet/tools",
        ".gradle/init.d",
        ".gradle/wrapper/dists",
        ".composer/vendor/bin",
        ".cabal/bin",
        ".npm/_npx",
        ".bun/install/global",
        "go/bin",
    ];
    for folder in written.iter().chain(&read) {
        fs::create_dir_all(world.home.join(folder)).unwrap();
    }
    fs::create_dir_all(world.home.join(".gradle/daemon/8")).unwrap();
    fs::write(world.home.join(".cargo/.package-cache"), "").unwrap();
    fs::write(world.home.join(".cargo/config.toml"), "").unwrap();
    let script = "cd $HOME_OF_TEST; for folder in \"$@\"; do touch $folder/x 2>/dev/null && echo $folder; done
        ls .gradle/daemon; mkdir -p .cargo/new && echo made; echo x > .cargo/.package-cache; echo x > .cargo/config.toml";
    let words: Vec<&str> = written.iter().chain(&read).copied().collect();
    let script = script.replace("$HOME_OF_TEST", &world.home.display().to_string());
    let said = world.test(SandboxNetwork::Loopback, &script, &words).await;
    assert!(
        said.starts_with(&format!("{}\nmade\n", written.join("\n"))),
        "{said}"
    );
    for folder in read {
        assert!(!world.home.join(folder).join("x").exists(), "{folder}");
    }
    let file = |name: &str| fs::read_to_string(world.home.join(name)).unwrap();
    assert_eq!(file(".cargo/.package-cache"), "x\n");
    assert_eq!(file(".cargo/config.toml"), "");
    assert!(!world.home.join(".cargo/new").exists());
    assert!(world.home.join(".gradle/daemon/8").is_dir());
}

#[tokio::test]
async fn what_a_killed_program_left_of_temporary_files_goes_when_its_run_is_taken_up() {
    let run = format!("run_{}", uuid::Uuid::now_v7().simple());
    let left = crate::engine::runtime_dir::create_run_dir(&run, Path::new(""))
        .unwrap()
        .keep();
    fs::create_dir(left.join("0")).unwrap();
    assert_eq!(crate::engine::runtime_dir::remove_run_dirs(&run), 1);
    assert!(!left.exists());
    let kept = ScratchFolder::new(tempfile::tempdir().unwrap());
    assert_eq!(kept.clone(), kept);
}
