# key: sysctl/vm.swappiness/exact
# says: YAML reads this as false; write 0 or 1
---
extends: base
sysctl:
  vm.swappiness: off
