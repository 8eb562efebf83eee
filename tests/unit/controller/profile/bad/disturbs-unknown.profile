# key: sysctl/vm.swappiness/disturbs
# nearest: job
# says: nothing, jitter or job
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, disturbs: jobs}
