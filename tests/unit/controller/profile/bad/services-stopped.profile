# key: services/irqbalance/running
# nearest: active
# says: can only be wanted active
---
services:
  irqbalance/running: {exact: inactive, impact: performance}
