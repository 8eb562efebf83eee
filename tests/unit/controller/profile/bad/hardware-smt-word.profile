# key: hardware/smt
# nearest: off
# says: it is on or off, not 'of'
---
hardware:
  smt: {exact: of, impact: correctness}
