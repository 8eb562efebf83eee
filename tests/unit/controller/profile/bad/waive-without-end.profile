# key: sysctl/vm.swappiness/waive
# says: until is missing
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, waive: {reason: testing}}
