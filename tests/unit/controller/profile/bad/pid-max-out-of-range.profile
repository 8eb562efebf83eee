# key: sysctl/kernel.pid_max
# says: 4194305 is outside
---
sysctl:
  kernel.pid_max: {at_least: 4194305, impact: hygiene}
