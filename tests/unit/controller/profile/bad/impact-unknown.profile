# key: sysctl/vm.swappiness/impact
# nearest: performance
# says: correctness, performance or hygiene, not 'perfomance'
---
sysctl:
  vm.swappiness: {exact: 1, impact: perfomance}
