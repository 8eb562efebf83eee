# key: limits/users/memlok
# nearest: users/memlock
# says: is no limit
---
limits:
  users/memlok: {exact: unlimited, impact: correctness}
