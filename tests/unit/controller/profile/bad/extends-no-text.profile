# key: extends
# says: is text, not 3
---
extends: 3
