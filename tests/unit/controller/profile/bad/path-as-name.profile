# key: sysctl//proc/sys/vm/swappiness
# nearest: vm.swappiness
# says: is a path
---
sysctl:
  /proc/sys/vm/swappiness: {exact: 1, impact: hygiene}
