# key: limits/dev_shm
# says: is only checked
---
limits:
  dev_shm: {at_least: 50, impact: correctness}
