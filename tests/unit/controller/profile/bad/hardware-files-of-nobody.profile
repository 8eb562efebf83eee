# key: hardware/device_nodes/metax
# says: the device files of metax are not known
---
hardware:
  device_nodes/metax: {exact: present, impact: correctness}
