# key: sysctl/vm.swappiness
# says: 201 is outside what the kernel takes, 0 to 200
---
sysctl:
  vm.swappiness: {exact: 201, impact: hygiene}
