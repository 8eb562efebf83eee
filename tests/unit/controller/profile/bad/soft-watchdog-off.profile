# key: sysctl/kernel.soft_watchdog
# says: reports hung CPUs
---
sysctl:
  kernel.soft_watchdog: {exact: 0, impact: performance}
