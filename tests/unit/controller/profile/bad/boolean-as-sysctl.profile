# key: sysctl/vm.overcommit_memory/exact
# says: YAML reads this as true; write 0 or 1
---
sysctl:
  vm.overcommit_memory: {exact: yes, impact: hygiene}
