# key: sysctl/kernel.printk
# says: takes 4 values, 3 has 1
---
sysctl:
  kernel.printk: {exact: 3, impact: hygiene}
