# key: transparent_hugepages
# nearest: transparent_hugepage
# says: is no subsystem
---
transparent_hugepages:
  enabled: madvise
