# key: 
# says: line 4: an anchor that contains itself
---
sysctl: &all
  vm.swappiness: *all
