# key: limits/launchers/LimitNOFILE
# nearest: 1048576
# says: open files have an end
---
limits:
  launchers/LimitNOFILE: {exact: infinity, impact: correctness}
