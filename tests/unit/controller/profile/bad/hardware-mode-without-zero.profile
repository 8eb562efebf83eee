# key: hardware/device_nodes/nvidia
# says: a mode in quotes
---
hardware:
  device_nodes/nvidia: {exact: 666, impact: correctness}
