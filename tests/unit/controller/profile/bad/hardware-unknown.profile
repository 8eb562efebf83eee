# key: hardware/accelerator
# nearest: accelerators
# says: is nothing that can be declared
---
hardware:
  accelerator: {exact: 8, impact: correctness}
