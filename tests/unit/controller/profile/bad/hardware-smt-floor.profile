# key: hardware/smt
# says: has no order
---
hardware:
  smt: {at_least: 1, impact: correctness}
