# key: sysctl/vm.swappiness
# says: here is both exact and at_least
---
sysctl:
  vm.swappiness: {exact: 1, at_least: 1, impact: hygiene}
