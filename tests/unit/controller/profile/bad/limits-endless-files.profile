# key: limits/users/nofile
# nearest: 1048576
# says: open files have an end
---
limits:
  users/nofile: {exact: unlimited, impact: correctness}
