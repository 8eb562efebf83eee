# key: hardware/link_speed/accelerators
# says: an accelerator lowers the speed of its link
---
hardware:
  link_speed/accelerators: {exact: max, impact: performance}
