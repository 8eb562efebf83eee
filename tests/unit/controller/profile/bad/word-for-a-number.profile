# key: sysctl/vm.swappiness
# says: takes one number from 0 to 200, not 'low'
---
sysctl:
  vm.swappiness: {exact: low, impact: hygiene}
