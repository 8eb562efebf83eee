# key: sysctl/vm.swappiness
# says: there is no rule here
---
sysctl:
  vm.swappiness: {impact: hygiene}
