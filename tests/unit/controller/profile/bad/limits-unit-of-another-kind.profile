# key: limits/unit/user.slice/LimitNOFILE
# says: is no name of a service
---
limits:
  unit/user.slice/LimitNOFILE: {at_least: 1024, impact: correctness}
