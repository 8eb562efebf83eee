# key: 
# says: not valid YAML in line 5
---
sysctl:
	vm.swappiness: 1
