# key: sysctl/kernel.sched_min_granularity_ns
# says: Linux 5.13
---
sysctl:
  kernel.sched_min_granularity_ns: {exact: 10000000, impact: performance}
