# key: sysctl/vm.swappiness/exact
# says: is a template that nothing has resolved
---
sysctl:
  vm.swappiness: {exact: "{{ x }}", impact: hygiene}
