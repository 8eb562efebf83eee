# key: limits/users/memlock
# says: is counted in KiB
---
limits:
  users/memlock: {exact: 64GiB, impact: correctness}
