# key: transparent_hugepage/enabled/exact
# says: YAML reads this as false
---
transparent_hugepage:
  enabled: {exact: no, impact: hygiene}
