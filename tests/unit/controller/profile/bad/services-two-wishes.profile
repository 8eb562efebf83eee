# key: services/irqbalance/enabled
# nearest: enabled
# says: can only be wanted enabled
---
services:
  irqbalance/enabled: {one_of: [enabled, disabled], set: enabled, impact: performance}
