# key: sysctl/vm.dirty_background_bytes
# says: is not below vm.dirty_bytes
---
sysctl:
  vm.dirty_bytes: {exact: 2GiB, impact: hygiene}
  vm.dirty_background_bytes: {exact: 2GiB, impact: hygiene}
