# key: sysctl/vm.swappiness/when/cpus
# says: is a number
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, when: {cpus: many}}
