# key: sysctl/vm.swappiness/why
# says: is text
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, why: ""}
