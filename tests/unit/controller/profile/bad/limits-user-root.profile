# key: limits/user/root/nofile
# nearest: root/nofile
# says: is no name of a user here
---
limits:
  user/root/nofile: {at_least: 1024, impact: correctness}
