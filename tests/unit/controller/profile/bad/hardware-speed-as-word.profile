# key: hardware/link_speed/nics
# says: a speed in GT/s, such as 16, not 'gen5'
---
hardware:
  link_speed/nics: {exact: gen5, impact: performance}
