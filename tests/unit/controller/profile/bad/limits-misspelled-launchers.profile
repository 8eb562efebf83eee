# key: limits/launchers/LimitMEMLOK
# nearest: launchers/LimitMEMLOCK
# says: is no limit
---
limits:
  launchers/LimitMEMLOK: {exact: infinity, impact: correctness}
