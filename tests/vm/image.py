# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk that machines start from: built once from the recipe in image/, kept by the recipe's hash."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

import qemu

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "vm"
RECIPE = HERE / "image"
DISTROS = ("bookworm", "trixie")
DISK_MIB = 3072
FIRST_START_LIMIT_S = 1200
# Nothing may write to the disk by itself, and no start may wait for a network.
UNWANTED = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "systemd-networkd-wait-online.service",
    "getty@tty1.service",
)


class Image(NamedTuple):
    distro: str
    folder: Path

    @property
    def disk(self) -> Path:
        return self.folder / "disk.img"

    @property
    def key(self) -> Path:
        return self.folder / "id_ed25519"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"


def get(distro: str) -> Image:
    """The finished image of this distribution; builds it where the cache has none."""
    image = Image(distro, CACHE / f"image-{distro}-{recipe_hash(distro)}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "building.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not image.folder.is_dir():
            build(image)
    return image


def forget_others(image: Image) -> None:
    """Images of older recipes; only for a caller who knows that no machine stands on one."""
    for folder in CACHE.glob(f"image-{image.distro}-*"):
        if folder != image.folder:
            shutil.rmtree(folder, ignore_errors=True)


def recipe_hash(distro: str) -> str:
    content = hashlib.sha256(distro.encode())
    for path in sorted([*RECIPE.rglob("*"), Path(__file__)]):
        if path.is_file():
            content.update(f"{path.name}\0{path.stat().st_mode & 0o111}\0".encode() + path.read_bytes())
    return content.hexdigest()[:12]


def build(image: Image) -> None:
    """Packages into a partition, then one start that installs the boot loader. The folder appears only when all of it worked."""
    unfinished = Image(image.distro, Path(tempfile.mkdtemp(prefix=f"building-{image.distro}-", dir=CACHE)))
    try:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "tests", "-f", unfinished.key], check=True)
        install_packages(unfinished)
        first_start(unfinished)
        unfinished.folder.rename(image.folder)
    finally:
        shutil.rmtree(unfinished.folder, ignore_errors=True)


def install_packages(image: Image) -> None:
    extra = image.folder / "extra.tar"
    extra.write_bytes(extra_files(image))
    subprocess.run(["truncate", "-s", f"{DISK_MIB}M", image.disk], check=True)
    subprocess.run(["parted", "-s", image.disk, "mklabel", "msdos", "mkpart", "primary", "ext4", "1MiB", "100%"], check=True)
    packages = [line for line in (RECIPE / "packages").read_text().split("\n") if line and not line.startswith("#")]
    # The hooks see the tree while it is a directory, so that no disk has to be mounted to fill it. At that time /proc and others are
    # mounted in it; a plain bind mount, in a namespace of its own, shows the tree without them.
    fill_disk = f'mount --bind "$1" /mnt && mke2fs -q -t ext4 -L root -E offset=1048576 -d /mnt {image.disk} {DISK_MIB - 1}M'
    hooks = [
        f"tar-in {extra} /",
        'chroot "$1" systemctl enable systemd-networkd.service image-first-start.service',
        f'chroot "$1" systemctl mask {" ".join(UNWANTED)}',
        f'cp "$1"/boot/vmlinuz-* {image.kernel}',
        f'cp "$1"/boot/initrd.img-* {image.folder}/initrd.img',
        'rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin "$1"/var/log/*.log "$1"/var/log/apt',
        f"unshare --mount sh -c '{fill_disk}' sh \"$1\"",
    ]
    subprocess.run(
        [
            "mmdebstrap",
            "--quiet",
            "--variant=minbase",
            "--format=null",
            "--include=" + ",".join(packages),
            "--dpkgopt=path-exclude=/usr/share/doc/*",
            "--dpkgopt=path-exclude=/usr/share/man/*",
            "--dpkgopt=path-exclude=/usr/share/locale/*",
            *(f"--customize-hook={hook}" for hook in hooks),
            image.distro,
            "-",
            *mirrors(image.distro),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    extra.unlink()


def extra_files(image: Image) -> bytes:
    """image/files as a tar that belongs to root, with the key that lets the tests in."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:

        def add(name: str, content: bytes, mode: int) -> None:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))

        for path in sorted((RECIPE / "files").rglob("*")):
            if path.is_file():
                add(str(path.relative_to(RECIPE / "files")), path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
        add("root/.ssh/authorized_keys", image.key.with_suffix(".pub").read_bytes(), 0o600)
        add("etc/hostname", b"machine\n", 0o644)
        add("etc/fstab", b"LABEL=root / ext4 defaults 0 1\n", 0o644)
    return buffer.getvalue()


def mirrors(distro: str) -> list[str]:
    """Where this host's own apt takes Debian from; nothing (mmdebstrap's own choice) where it is no Debian."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(SUITE) $(SITE)", "Created-By: Packages"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    sites = {
        site
        for origin, codename, suite, site in (line.split() for line in targets.splitlines() if line.count(" ") == 3)
        if origin == "Debian" and "-" not in codename and "-" not in suite
    }
    return [f"deb {site} {distro} main" for site in sorted(sites)[:1]]


def first_start(image: Image) -> None:
    console = CACHE / f"build-{image.distro}.console"
    command = [
        *qemu.base(qemu.accelerator(image.kernel)),
        "-smp", "2", "-m", "1G", "-no-reboot",
        "-kernel", str(image.kernel), "-initrd", str(image.folder / "initrd.img"),
        "-append", "root=LABEL=root rw console=ttyS0 net.ifnames=0",
        "-drive", f"file={image.disk},format=raw,if=virtio,cache=unsafe",
        "-serial", f"file:{console}",
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=FIRST_START_LIMIT_S)
    if "image: complete" not in console.read_text(errors="replace"):
        raise qemu.StartFailed("the image's first start did not finish", console)
    (image.folder / "initrd.img").unlink()
