# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the made machines are made of: tables, no code."""

from typing import Any, Dict

#: (class, vendor, device) of a PCI function, as sysfs has them.
A100 = ("0x030200", "0x10de", "0x20b0")
H100 = ("0x030200", "0x10de", "0x2330")
GH200 = ("0x030200", "0x10de", "0x2342")
ASCEND910 = ("0x120000", "0x19e5", "0xd801")
CONNECTX7 = ("0x020700", "0x15b3", "0x1021")
VIRTIO_NET = ("0x020000", "0x1af4", "0x1041")
NVME = ("0x010802", "0x144d", "0xa80a")

HARDWARE: Dict[str, Dict[str, Any]] = {
    "dgx-a100": {
        "vendor": "NVIDIA",
        "product": "DGXA100 920-23687-2530-000",
        "architecture": "x86_64",
        "model": "AMD EPYC 7742 64-Core Processor",
        "cpus": 256,
        "numa_nodes": 8,
        "memory_gib": 1008,
        "page_size": 4096,
        "pci": [A100] * 8 + [CONNECTX7] * 8 + [NVME] * 4,
    },
    "hgx-h100": {
        "vendor": "Supermicro",
        "product": "SYS-821GE-TNHR",
        "architecture": "x86_64",
        "model": "INTEL(R) XEON(R) PLATINUM 8480+",
        "cpus": 224,
        "numa_nodes": 2,
        "memory_gib": 2015,
        "page_size": 4096,
        "pci": [H100] * 8 + [CONNECTX7] * 8,
    },
    "gh200": {
        "vendor": "Quanta Cloud Technology",
        "product": "QuantaGrid S74G-2U",
        "architecture": "aarch64",
        "model": "0xd4f",
        "cpus": 72,
        "numa_nodes": 9,
        "memory_gib": 480,
        "page_size": 65536,
        "pci": [GH200, CONNECTX7],
    },
    "atlas-800": {
        "vendor": "Huawei",
        "product": "Atlas 800 (Model 9000)",
        "architecture": "aarch64",
        "model": "0xd01",
        "cpus": 192,
        "numa_nodes": 8,
        "memory_gib": 1005,
        "page_size": 4096,
        "pci": [ASCEND910] * 8,
    },
    "vm": {
        "vendor": "QEMU",
        "product": "Standard PC (Q35 + ICH9, 2009)",
        "architecture": "x86_64",
        "model": "QEMU Virtual CPU",
        "cpus": 4,
        "numa_nodes": 2,
        "memory_gib": 4,
        "page_size": 4096,
        "pci": [VIRTIO_NET],
    },
}

#: `files` and `links` of the operating system; `packages` is how it answers whose a file is: dpkg, rpm or none.
SYSTEMS: Dict[str, Dict[str, Any]] = {
    "debian-12": {
        "id": "debian",
        "version": "12",
        "kernel": "6.1.0-32-amd64",
        "packages": "/var/lib/dpkg/status",
        "files": {
            "/usr/lib/systemd/systemd-sysctl": "",
            "/etc/sysctl.conf": "# nothing is set here\n",
            "/usr/lib/sysctl.d/50-default.conf": "kernel.sysrq = 438\n-net.ipv4.conf.all.rp_filter\nnet.ipv4.conf.*.rp_filter = 2\n",
        },
        "links": {"/lib": "usr/lib", "/etc/sysctl.d/99-sysctl.conf": "../sysctl.conf"},
    },
    "debian-13": {
        "id": "debian",
        "version": "13",
        "kernel": "6.12.0-9-amd64",
        "packages": "/var/lib/dpkg/status",
        "files": {"/usr/lib/systemd/systemd-sysctl": ""},
        "links": {"/lib": "usr/lib"},
    },
    "rocky-8": {
        "id": "rocky",
        "version": "8.10",
        "kernel": "4.18.0-553.el8_10.x86_64",
        "packages": "/var/lib/rpm/Packages",
        "files": {
            "/usr/lib/systemd/systemd-sysctl": "",
            "/etc/sysctl.conf": "",
            "/usr/lib/sysctl.d/10-default-yama-scope.conf": "kernel.yama.ptrace_scope = 0\n",
        },
        "links": {"/lib": "usr/lib", "/etc/sysctl.d/99-sysctl.conf": "../sysctl.conf"},
    },
    # procps alone reads the files at boot, /etc/sysctl.conf last of all
    "without-systemd": {
        "id": "devuan",
        "version": "5",
        "kernel": "6.1.0-32-amd64",
        "packages": None,
        "files": {"/etc/sysctl.conf": "", "/lib/sysctl.d/10-lib.conf": ""},
        "links": {},
    },
}

#: /proc/sys after a boot in which no file set anything.
PROC_SYS: Dict[str, str] = {
    "vm/swappiness": "60",
    "vm/dirty_ratio": "20",
    "vm/dirty_bytes": "0",
    "vm/dirty_background_ratio": "10",
    "vm/dirty_background_bytes": "0",
    "vm/overcommit_memory": "0",
    "vm/zone_reclaim_mode": "0",
    "vm/max_map_count": "65530",
    "vm/min_free_kbytes": "67584",
    "fs/aio-max-nr": "65536",
    "fs/file-max": "9223372036854775807",
    "fs/nr_open": "1073741816",
    "kernel/numa_balancing": "1",
    "kernel/shmmax": "18446744073692774399",
    "kernel/shmall": "18446744073692774399",
    "kernel/sysrq": "176",
    "kernel/printk": "4\t4\t1\t7",
    "kernel/core_pattern": "core",
    "net/core/rmem_max": "212992",
    "net/core/wmem_max": "212992",
    "net/core/somaxconn": "4096",
    "net/ipv4/tcp_rmem": "4096\t131072\t6291456",
    "net/ipv4/tcp_wmem": "4096\t16384\t4194304",
    "net/ipv4/ip_local_port_range": "32768\t60999",
    "net/ipv4/tcp_congestion_control": "cubic",
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/conf/eth0/rp_filter": "0",
    "net/ipv4/conf/bond0/rp_filter": "0",
    "net/ipv4/conf/bond0.101/rp_filter": "0",
}
#: Keys that the kernel offers for reading only.
READ_ONLY: Dict[str, str] = {"kernel/ostype": "Linux", "kernel/random/boot_id": "5c7e1f8a-94a1-4a39-8d0b-6a3cf5b5d9b1"}

#: Knobs of transparent huge pages after a boot.
THP: Dict[str, str] = {
    "enabled": "[always] madvise never",
    "defrag": "always defer defer+madvise [madvise] never",
    "shmem_enabled": "always within_size advise [never] deny force",
    "use_zero_page": "1",
    "hpage_pmd_size": "2097152",
    "khugepaged/defrag": "1",
    "khugepaged/pages_to_scan": "4096",
    "khugepaged/max_ptes_none": "511",
}
