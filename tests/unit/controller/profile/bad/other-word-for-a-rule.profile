# key: sysctl/fs.file-max/min
# nearest: at_least
# says: stands beside no rule
---
sysctl:
  fs.file-max: {min: 5, impact: hygiene}
