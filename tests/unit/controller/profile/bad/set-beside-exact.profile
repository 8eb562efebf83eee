# key: sysctl/vm.swappiness/set
# says: `set` goes with between and one_of only
---
sysctl:
  vm.swappiness: {exact: 1, set: 1, impact: hygiene}
