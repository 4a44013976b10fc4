//! Judges commands that write devices and disks directly, or format, partition or wipe them.
//!
//! Regular files are in `file_operations`.

use crate::permission::shell::{RedirectKind, SimpleCommand};

use super::builtin_rules::BuiltinRule;
use super::classifier::CommandClassifier;
use super::command_invocation::CommandInvocation;
use super::file_operations::output_paths;

/// The rule for writing to a device.
pub static WRITE: BuiltinRule = BuiltinRule::dangerous(
    "devices.write",
    "writes straight to a device",
    &["balena local|flash **", "etcher **", "mknod"],
);
static FORMAT: BuiltinRule = BuiltinRule::dangerous(
    "devices.format",
    "formats or partitions a disk",
    &[
        "mkfs|mke2fs|mkdosfs|mkntfs|mkswap|newfs|newfs_hfs|newfs_msdos|newfs_apfs|mkudffs",
        "fdisk !-l|--list|-s|--getsz",
        "sfdisk !-l|--list|-d|--dump|-s|--show-size|-J|--json",
        "cfdisk|cgdisk|gdisk !-l",
        "sgdisk !-p|--print|-i|--info|-v|--verify|-b|--backup",
        "parted ** mklabel|mktable|mkpart|rm|resizepart|rescue|set|name|toggle|disk_set",
        "diskutil erasedisk|erasevolume|partitiondisk|secureerase|zerodisk|randomdisk|reformat|resetfusion",
        "diskutil apfs deletevolume|deletecontainer|erasevolume",
        "diskpart",
        "nvme format|sanitize|delete-ns|write-zeroes",
        "sg_format|sg_sanitize",
    ],
);
static WIPE: BuiltinRule = BuiltinRule::dangerous(
    "devices.wipe",
    "wipes a disk or its structure",
    &[
        "wipefs -a|--all|-o|--offset|-f|--force !-n|--no-act",
        "blkdiscard",
        "badblocks -w|-n",
        "hdparm --security-erase|--security-erase-enhanced|--write-sector|--trim-sector-ranges|--dco-restore|--make-bad-sector|--fwdownload",
        "cryptsetup luksformat|erase|lukserase|lukskillslot|luksremovekey|reencrypt|lukskillslot|luksheaderrestore|plainformat|format",
        "tune2fs|resize2fs|xfs_growfs|e2label|tune4fs !-l",
        "debugfs -w",
        "xfs_repair -l|-L",
        "fsck|e2fsck|fsck.ext4|fsck.ext3|fsck.ext2|fsck.xfs|fsck.vfat|btrfsck -y|-f|-p|-a",
        "flashrom -w|-E|--write|--erase",
        "zerofree|nwipe",
    ],
);
static VOLUMES: BuiltinRule = BuiltinRule::dangerous(
    "devices.volumes",
    "removes or changes volumes and pools",
    &[
        "lvremove|vgremove|pvremove|lvreduce|vgreduce|lvresize|pvcreate|lvconvert|vgcfgrestore|pvmove",
        "lvm ** lvremove|vgremove|pvremove|lvreduce",
        "mdadm --zero-superblock|--create|--stop|--remove|--fail|-S|-C",
        "zpool destroy|labelclear|create|remove|offline|detach|export",
        "zfs destroy|rollback !-n",
        "btrfs subvolume|sub|su delete|del",
        "btrfs device|dev delete|remove|rem",
        "btrfs check --repair",
        "dmsetup remove|remove_all|wipe_table",
        "bcache ** wipe|unregister",
        "storcli ** delete|erase",
        "vgchange -an",
        "ceph osd|fs|pool ** rm|purge|destroy|delete|zap",
        "rbd rm|remove",
        "gluster volume delete|stop",
    ],
);
static MOUNTS: BuiltinRule = BuiltinRule::confirm(
    "devices.mounts",
    "attaches or detaches file systems",
    &[
        "mount *",
        "umount|unmount|fusermount *",
        "losetup -d|-D",
        "swapon !--show|-s|--summary",
        "eject",
        "kpartx -d|-a",
    ],
);
static SWAP: BuiltinRule = BuiltinRule::dangerous(
    "devices.swap",
    "takes memory or file systems away from running programs",
    &[
        "swapoff",
        "umount -l|-f|-a",
        "mount ** -o=*remount*",
        "fstrim -a",
    ],
);
static BOOT: BuiltinRule = BuiltinRule::dangerous(
    "devices.boot",
    "changes how the machine starts",
    &[
        "efibootmgr -B|-b|-c|-o|-O",
        "grub-install|grub2-install|update-grub|grub-mkconfig|grub2-mkconfig|lilo|bootctl|dracut|mkinitcpio|update-initramfs",
        "bcdedit",
        "fw_setenv",
        "nvram -c|-d",
    ],
);

pub const RULES: &[&BuiltinRule] = &[&WRITE, &FORMAT, &WIPE, &VOLUMES, &MOUNTS, &SWAP, &BOOT];

/// File systems that `mkfs.` makes.
const FILE_SYSTEMS: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "msdos", "exfat", "ntfs", "f2fs",
    "minix", "jfs", "reiserfs", "bfs", "cramfs", "udf", "nilfs2", "erofs", "hfsplus", "hfs",
    "bcachefs", "ocfs2", "gfs2",
];

/// Devices that store nothing.
const HARMLESS_DEVICES: &[&str] = &[
    "null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "fd",
];

/// Judges programs with a device among their arguments by what they write.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    let span = &command.simple.span;
    let file_system = command.program.strip_prefix("mkfs.");
    if file_system.is_some_and(|name| FILE_SYSTEMS.contains(&name))
        || (command.program == "wipefs" && wipes_signatures(command))
    {
        scene.record_rule(&FORMAT, span);
    }
    let written = output_paths(command);
    if written
        .iter()
        .any(|path| is_harmful_device(&scene.resolve_path(path)))
    {
        scene.record_rule(&WRITE, span);
    }
}

/// Judges redirects to devices.
pub fn check_redirects(simple: &SimpleCommand, scene: &CommandClassifier<'_>) {
    let writes = |kind| {
        matches!(
            kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        )
    };
    let devices = simple.redirects.iter().filter(|redirect| {
        writes(redirect.kind) && is_harmful_device(&scene.resolve_path(&redirect.target.text))
    });
    for _ in devices {
        scene.record_rule(&WRITE, &simple.span);
    }
}

/// Returns whether a path, by name, is a device that can be harmed.
pub fn is_harmful_device(path: &str) -> bool {
    let path = climbing_path_to_root(path);
    path.strip_prefix("/dev/")
        .is_some_and(|name| !name.is_empty())
        && !is_harmless_device(path)
}

/// A path that climbs several folders up into `dev` is treated as one from the root, wherever it starts.
fn climbing_path_to_root(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("../../") else {
        return path;
    };
    let rest = rest.trim_start_matches("../");
    if rest.starts_with("dev/") {
        path.get(path.len() - rest.len() - 1..).unwrap_or(path)
    } else {
        path
    }
}

/// Returns whether a path, by name, is a device that stores nothing.
pub fn is_harmless_device(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    let number = name.strip_prefix("fd/").unwrap_or_default();
    HARMLESS_DEVICES.contains(&name)
        || (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// `wipefs` with only a device lists and does not wipe.
fn wipes_signatures(command: &CommandInvocation<'_>) -> bool {
    command.arguments.has_option(&["-a", "--all"])
        && !command.arguments.has_option(&["-n", "--no-act"])
}
