# key: sysctl/vm.swappiness/exact
# says: does not read 010 as the number
---
sysctl:
  vm.swappiness: {exact: 010, impact: hygiene}
