# key: hardware/link_width/nvme
# says: a number of lanes from 1 to 32, not 64
---
hardware:
  link_width/nvme: {exact: 64, impact: performance}
