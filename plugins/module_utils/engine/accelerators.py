# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which PCI functions are accelerators, and which device files their drivers make: a table.

An accelerator is a function whose vendor is in the table and whose class is one that this vendor gives to accelerators; that
leaves out the graphics of management controllers (ASPEED 1a03, Matrox 102b) and the audio, USB and network functions that some vendors put
beside the accelerator. A function of the class of processing accelerators counts whoever made it. For what the table does not know a
profile names the function by its ids.

Ids: pci.ids; the drivers' own tables. Classes: include/linux/pci_ids.h and the PCI Code and ID Assignment Specification (12: processing
accelerator, 03 00: VGA, 03 02: 3D, 03 80: other display).
"""

from typing import Dict, NamedTuple, Tuple

PROCESSING = "1200"
OTHER = "other"


class Vendor(NamedTuple):
    """`classes`: the first four digits of the PCI class. `once`: device files that a node has once; `each`: one for each
    accelerator, with its number.
    """

    name: str
    classes: Tuple[str, ...]
    once: Tuple[str, ...] = ()
    each: str = ""
    first: int = 0


#: PCI vendor id -> what is known of its accelerators.
VENDORS: Dict[str, Vendor] = {
    "10de": Vendor("nvidia", ("0300", "0302"), ("/dev/nvidiactl", "/dev/nvidia-uvm"), "/dev/nvidia{}"),
    # 0300 is left out: that is also the graphics inside a processor
    "1002": Vendor("amd", ("0380", "1200"), ("/dev/kfd",), "/dev/dri/renderD{}", 128),
    # this vendor also makes network, storage and management functions
    "19e5": Vendor("ascend", ("1200",), ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"), "/dev/davinci{}"),
    "cabc": Vendor("cambricon", ("1200",), ("/dev/cambricon_ctl",), "/dev/cambricon_dev{}"),
    "1ed5": Vendor("mthreads", ("0300", "0302"), (), "/dev/mtgpu.{}"),
    "1d94": Vendor("hygon", ("0380", "1200"), ("/dev/kfd",), "/dev/dri/renderD{}", 128),
    "1e3e": Vendor("iluvatar", ("0302", "0380", "1200")),
    "1e36": Vendor("enflame", ("0302", "0380", "1200")),
    "1d22": Vendor("kunlunxin", ("0302", "0380", "1200")),
    "9999": Vendor("metax", ("0302", "0380", "1200")),
    "1da3": Vendor("habana", ("1200",)),
}
BY_NAME: Dict[str, Vendor] = {vendor.name: vendor for vendor in VENDORS.values()}


def maker(kind: str, vendor: str) -> str:
    """The name of the vendor of an accelerator; `other` for one that is not in the table; nothing for what is no accelerator."""
    known = VENDORS.get(vendor)
    if known is not None:
        return known.name if kind[:4] in known.classes else ""
    return OTHER if kind[:4] == PROCESSING else ""
