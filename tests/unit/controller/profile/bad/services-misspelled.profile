# key: services/nvidia-fabricmanger/running
# nearest: nvidia-fabricmanager/running
# says: is no known unit
---
services:
  nvidia-fabricmanger/running: {exact: active, impact: correctness}
