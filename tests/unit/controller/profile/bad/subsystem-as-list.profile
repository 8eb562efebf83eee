# key: sysctl
# says: takes a mapping of settings
---
sysctl: [vm.swappiness]
