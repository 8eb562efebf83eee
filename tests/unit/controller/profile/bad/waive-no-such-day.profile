# key: sysctl/vm.swappiness/waive/until
# says: is a day like 2027-01-31, not '2027-02-30'
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, waive: {reason: testing, until: 2027-02-30}}
