# key: transparent_hugepage
# says: the key on is not text for YAML
---
transparent_hugepage:
  on: {exact: 1, impact: hygiene}
