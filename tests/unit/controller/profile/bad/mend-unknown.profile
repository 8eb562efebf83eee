# key: sysctl/vm.swappiness/mend
# nearest: never
# says: always or never
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, mend: nver}
