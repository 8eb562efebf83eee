# key: transparent_hugepage/shmem
# nearest: shmem_enabled
# says: is no file below
---
transparent_hugepage:
  shmem: {exact: never, impact: hygiene}
