# key: sysctl/vm.swappiness
# says: is given a second time, first in line 6
---
extends: base
sysctl:
  vm.swappiness: 1
  vm.swappiness: 2
