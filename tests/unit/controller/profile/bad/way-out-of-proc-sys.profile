# key: sysctl/vm//..//..//etc/passwd
# says: is no name below /proc/sys
---
sysctl:
  vm//..//..//etc/passwd: {exact: 1, impact: hygiene}
