# key: sysctl/vm.swappiness/when
# says: takes a mapping of conditions
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, when: {}}
