# key: sysctl/fs.file-max/atleast
# nearest: at_least
# says: stands beside no rule
---
sysctl:
  fs.file-max: {atleast: 5, impact: hygiene}
