# key: sysctl/vm.dirty_background_ratio
# says: 10 is not below vm.dirty_ratio with 5
---
extends: base
sysctl:
  vm.dirty_ratio: 5
