# key: services/dcgm/enabled
# nearest: nvidia-dcgm/enabled
# says: is the same setting as nvidia-dcgm/enabled
---
services:
  nvidia-dcgm/enabled: {exact: enabled, impact: performance}
  dcgm/enabled: {exact: enabled, impact: performance}
