# key: 
# says: not valid YAML in line 6
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene}
---
sysctl: {}
