# key: services/nvidia-dcgm/enable
# nearest: nvidia-dcgm/enabled
# says: a unit is installed, enabled, running
---
services:
  nvidia-dcgm/enable: {exact: enabled, impact: correctness}
