# key: hardware/nics
# says: is a number, not 'eight'
---
hardware:
  nics: {exact: eight, impact: correctness}
