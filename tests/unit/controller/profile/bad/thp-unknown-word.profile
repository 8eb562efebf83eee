# key: transparent_hugepage/enabled
# nearest: madvise
# says: takes always, madvise or never, not 'madvice'
---
transparent_hugepage:
  enabled: {exact: madvice, impact: hygiene}
