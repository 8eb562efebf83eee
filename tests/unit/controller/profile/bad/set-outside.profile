# key: sysctl/vm.swappiness/set
# says: 60 is itself outside between [0, 10]
---
sysctl:
  vm.swappiness: {between: [0, 10], set: 60, impact: hygiene}
