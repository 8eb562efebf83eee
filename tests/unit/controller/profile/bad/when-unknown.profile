# key: sysctl/vm.swappiness/when/numa_node
# nearest: numa_nodes
# says: is no condition
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, when: {numa_node: 2}}
