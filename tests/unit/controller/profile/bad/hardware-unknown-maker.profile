# key: hardware/accelerators/nvdia
# nearest: accelerators/nvidia
# says: is nothing that can be declared
---
hardware:
  accelerators/nvdia: {exact: 8, impact: correctness}
