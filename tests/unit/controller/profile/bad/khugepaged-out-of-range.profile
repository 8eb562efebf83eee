# key: transparent_hugepage/khugepaged/pages_to_scan
# says: takes a number from 1
---
transparent_hugepage:
  khugepaged/pages_to_scan: {exact: 0, impact: hygiene}
