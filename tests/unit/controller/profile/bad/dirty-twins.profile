# key: sysctl/vm.dirty_ratio
# says: and vm.dirty_bytes are one setting in two units
---
sysctl:
  vm.dirty_ratio: {exact: 20, impact: hygiene}
  vm.dirty_bytes: {exact: 8GiB, impact: hygiene}
