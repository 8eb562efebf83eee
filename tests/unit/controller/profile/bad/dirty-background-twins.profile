# key: sysctl/vm.dirty_background_ratio
# says: and vm.dirty_background_bytes are one setting
---
sysctl:
  vm.dirty_background_ratio: {exact: 5, impact: hygiene}
  vm.dirty_background_bytes: {exact: 2GiB, impact: hygiene}
