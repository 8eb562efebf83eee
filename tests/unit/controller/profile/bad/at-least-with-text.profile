# key: transparent_hugepage/enabled/at_least
# says: compares numbers
---
transparent_hugepage:
  enabled: {at_least: madvise, impact: hygiene}
