# key: sysctl/vm.swappiness/exact
# says: 1.5 is a fraction
---
sysctl:
  vm.swappiness: {exact: 1.5, impact: hygiene}
