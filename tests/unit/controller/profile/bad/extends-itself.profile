# key: extends
# says: goes in a circle
---
extends: ./extends-itself.profile
