# key: sysctl/vm.swappiness/waive
# says: reason is missing
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, waive: {until: 2027-01-31}}
