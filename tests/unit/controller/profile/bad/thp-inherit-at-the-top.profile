# key: transparent_hugepage/enabled
# says: not 'inherit'
---
transparent_hugepage:
  enabled: {exact: inherit, impact: hygiene}
