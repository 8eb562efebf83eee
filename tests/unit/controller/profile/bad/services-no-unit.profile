# key: services/my unit/running
# says: is no name of a unit
---
services:
  my unit/running: {exact: active, impact: correctness}
