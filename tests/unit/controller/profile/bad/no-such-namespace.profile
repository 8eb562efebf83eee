# key: sysctl/mv.swappiness
# nearest: vm.swappiness
# says: is no name below /proc/sys
---
sysctl:
  mv.swappiness: {exact: 1, impact: hygiene}
