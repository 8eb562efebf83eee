# key: limits/dev_shm
# says: takes percent of the memory
---
limits:
  dev_shm: {at_least: 16GiB, impact: correctness, mend: never}
