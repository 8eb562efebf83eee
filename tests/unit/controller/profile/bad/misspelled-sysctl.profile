# key: sysctl/vm.swapiness
# nearest: vm.swappiness
# says: is no known key
---
sysctl:
  vm.swapiness: {exact: 1, impact: hygiene}
