# key: extends
# nearest: training
# says: there is no profile 'trainning'
---
extends: trainning
