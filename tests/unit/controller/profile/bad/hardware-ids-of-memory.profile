# key: hardware/dimms/10de:2330
# nearest: accelerators/10de:2330
# says: is nothing that can be declared
---
hardware:
  dimms/10de:2330: {exact: 8, impact: correctness}
