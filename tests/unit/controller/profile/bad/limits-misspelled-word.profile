# key: limits/users/memlock
# nearest: unlimited
# says: takes a number or unlimited, not 'unlimted'
---
limits:
  users/memlock: {exact: unlimted, impact: correctness}
