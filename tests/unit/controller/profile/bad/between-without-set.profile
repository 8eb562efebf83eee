# key: sysctl/vm.swappiness
# says: between needs `set`
---
sysctl:
  vm.swappiness: {between: [0, 10], impact: hygiene}
