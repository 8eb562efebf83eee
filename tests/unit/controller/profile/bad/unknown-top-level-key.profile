# key: sysctls
# nearest: sysctl
# says: is no subsystem
---
sysctls:
  vm.swappiness: 1
