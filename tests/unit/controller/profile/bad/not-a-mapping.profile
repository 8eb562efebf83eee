# key: 
# says: takes a mapping of subsystems
---
- vm.swappiness
