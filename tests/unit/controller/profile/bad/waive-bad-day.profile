# key: sysctl/vm.swappiness/waive/until
# says: is a day like 2027-01-31, not '31.1.2027'
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, waive: {reason: testing, until: 31.1.2027}}
