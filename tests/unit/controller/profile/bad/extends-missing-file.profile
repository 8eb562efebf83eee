# key: extends
# says: there is no file extends-itself.profil
---
extends: ./extends-itself.profil
