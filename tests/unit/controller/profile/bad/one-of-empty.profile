# key: transparent_hugepage/enabled/one_of
# says: is empty
---
transparent_hugepage:
  enabled: {one_of: [], set: madvise, impact: hygiene}
