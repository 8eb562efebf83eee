# key: sysctl/vm.swappiness/between
# says: the lowest, 10, is above the highest, 0
---
sysctl:
  vm.swappiness: {between: [10, 0], set: 1, impact: hygiene}
