# key: services/nvidia-dcgm
# nearest: nvidia-dcgm/running
# says: says nothing of a unit
---
services:
  nvidia-dcgm: {exact: active, impact: correctness}
