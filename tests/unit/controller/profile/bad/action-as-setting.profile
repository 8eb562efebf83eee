# key: sysctl/vm.drop_caches
# says: does something once
---
sysctl:
  vm.drop_caches: {exact: 3, impact: performance}
