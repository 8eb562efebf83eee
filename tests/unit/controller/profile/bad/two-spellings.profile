# key: sysctl/vm/swappiness
# nearest: vm.swappiness
# says: is the same setting as vm.swappiness in the same layer
---
extends: base
sysctl:
  vm.swappiness: 1
  vm/swappiness: 2
