# key: limits/unit/slurmd.service/LimitNOFILES
# nearest: unit/slurmd.service/LimitNOFILE
# says: is no limit of a unit
---
limits:
  unit/slurmd.service/LimitNOFILES: {at_least: 1, impact: correctness}
