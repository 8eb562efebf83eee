# key: sysctl/vm/nr_hugepages
# says: has one owner
---
sysctl:
  vm/nr_hugepages: {exact: 8192, impact: performance}
