# key: sysctl/vm.swappiness/between
# says: takes two numbers
---
sysctl:
  vm.swappiness: {between: [0, 5, 10], set: 1, impact: hygiene}
