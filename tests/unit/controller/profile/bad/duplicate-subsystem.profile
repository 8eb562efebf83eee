# key: sysctl
# says: is given a second time, first in line 4
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene}
sysctl:
  fs.file-max: {at_least: 9, impact: hygiene}
