# key: sysctl/fs.nr_open
# says: locks users out
---
sysctl:
  fs.nr_open: {exact: 65536, impact: performance}
