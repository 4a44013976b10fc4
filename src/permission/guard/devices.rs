//! Devices and disks: what writes them raw, formats, divides or wipes them.
//!
//! It refuses to know files that are none.

use crate::permission::shell::{RedirectKind, Simple};

use super::builtin::Builtin;
use super::command::Command;
use super::files::outputs;
use super::judge::Scene;

/// A device is written.
pub static WRITE: Builtin = Builtin::dangerous(
    "devices.write",
    "writes straight to a device",
    &["balena local|flash **", "etcher **", "mknod"],
);
static FORMAT: Builtin = Builtin::dangerous(
    "devices.format",
    "formats or divides a disk",
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
static WIPE: Builtin = Builtin::dangerous(
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
static VOLUMES: Builtin = Builtin::dangerous(
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
static MOUNTS: Builtin = Builtin::confirm(
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
static SWAP: Builtin = Builtin::dangerous(
    "devices.swap",
    "takes memory or file systems away from running programs",
    &[
        "swapoff",
        "umount -l|-f|-a",
        "mount ** -o=*remount*",
        "fstrim -a",
    ],
);
static BOOT: Builtin = Builtin::dangerous(
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

/// What is known of devices.
pub const RULES: &[&Builtin] = &[&WRITE, &FORMAT, &WIPE, &VOLUMES, &MOUNTS, &SWAP, &BOOT];

/// What `mkfs.` makes.
const FILE_SYSTEMS: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "msdos", "exfat", "ntfs", "f2fs",
    "minix", "jfs", "reiserfs", "bfs", "cramfs", "udf", "nilfs2", "erofs", "hfsplus", "hfs",
    "bcachefs", "ocfs2", "gfs2",
];

/// Devices that hold nothing.
const HARMLESS: &[&str] = &[
    "null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "fd",
];

/// Judges programs that a device is named to as what they write.
pub fn judge(command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    let file_system = command.program.strip_prefix("mkfs.");
    if file_system.is_some_and(|name| FILE_SYSTEMS.contains(&name))
        || (command.program == "wipefs" && wipes(command))
    {
        scene.note(&FORMAT, span);
    }
    let written = outputs(command);
    if written.iter().any(|path| is_device(&scene.path(path))) {
        scene.note(&WRITE, span);
    }
}

/// Judges redirects to devices.
pub fn judge_redirects(simple: &Simple, scene: &Scene<'_>) {
    let writes = |kind| {
        matches!(
            kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        )
    };
    let devices = simple
        .redirects
        .iter()
        .filter(|redirect| writes(redirect.kind) && is_device(&scene.path(&redirect.target.text)));
    for _ in devices {
        scene.note(&WRITE, &simple.span);
    }
}

/// Tells whether a path by name is a device that can be harmed.
pub fn is_device(path: &str) -> bool {
    let path = climbed(path);
    path.strip_prefix("/dev/")
        .is_some_and(|name| !name.is_empty())
        && !is_harmless_device(path)
}

/// A path that climbs over several folders into `dev` is one from the root, wherever it begins.
fn climbed(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("../../") else {
        return path;
    };
    let rest = rest.trim_start_matches("../");
    match rest.starts_with("dev/") {
        true => path.get(path.len() - rest.len() - 1..).unwrap_or(path),
        false => path,
    }
}

/// Tells whether a path by name is a device that holds nothing.
pub fn is_harmless_device(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    let number = name.strip_prefix("fd/").unwrap_or_default();
    HARMLESS.contains(&name) || (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// `wipefs` with a device and nothing else only lists.
fn wipes(command: &Command<'_>) -> bool {
    command.arguments.has(&["-a", "--all"]) && !command.arguments.has(&["-n", "--no-act"])
}
