# key: sysctl/vm.swappiness/when/architecture
# nearest: aarch64
# says: is no architecture
---
sysctl:
  vm.swappiness: {exact: 1, impact: hygiene, when: {architecture: arm64}}
