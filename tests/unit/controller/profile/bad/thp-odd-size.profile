# key: transparent_hugepage/hugepages-65kB/enabled
# nearest: hugepages-64kB/enabled
# says: powers of two
---
transparent_hugepage:
  hugepages-65kB/enabled: {exact: never, impact: hygiene}
