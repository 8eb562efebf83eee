# key: sysctl/kernel.shmmax
# says: lowers a limit
---
sysctl:
  kernel.shmmax: {exact: 1TiB, impact: performance}
