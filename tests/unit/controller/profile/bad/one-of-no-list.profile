# key: transparent_hugepage/enabled/one_of
# says: takes a list
---
transparent_hugepage:
  enabled: {one_of: madvise, set: madvise, impact: hygiene}
