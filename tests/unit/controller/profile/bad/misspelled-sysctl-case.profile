# key: sysctl/vm.Swappiness
# nearest: vm.swappiness
# says: is no known key
---
sysctl:
  vm.Swappiness: {exact: 1, impact: hygiene}
