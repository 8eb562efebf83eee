# key: sysctl/vm.swappiness/owner
# nearest: gpufleet
# says: gpufleet or leave
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, owner: gpu-fleet}
