# key: sysctl/vm.swappiness
# says: impact is missing
---
sysctl:
  vm.swappiness: 1
