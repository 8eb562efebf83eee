# key: sysctl/vm.swappiness/when/virtualized
# nearest: virtualised
# says: is no condition
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, when: {virtualized: true}}
