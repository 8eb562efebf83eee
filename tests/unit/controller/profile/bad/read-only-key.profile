# key: sysctl/fs.file-nr
# says: only reports it
---
sysctl:
  fs.file-nr: {exact: 3, impact: performance}
