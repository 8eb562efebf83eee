# key: sysctl/kernel.core_pattern/exact
# says: holds a line break
---
sysctl:
  kernel.core_pattern: {exact: "core\nvm.swappiness = 60", impact: hygiene}
