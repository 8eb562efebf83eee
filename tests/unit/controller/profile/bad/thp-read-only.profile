# key: transparent_hugepage/hpage_pmd_size
# says: only reports it
---
transparent_hugepage:
  hpage_pmd_size: {exact: 2MiB, impact: hygiene}
