# key: sysctl/vm.swappiness/waive/tickets
# nearest: ticket
# says: is no part of a waiver
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, waive: {reason: x, until: 2027-01-31, tickets: A-1}}
