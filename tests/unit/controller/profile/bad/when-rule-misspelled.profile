# key: sysctl/vm.swappiness/when/cpus/at_last
# nearest: at_least
# says: is no kind of rule
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, when: {cpus: {at_last: 2}}}
