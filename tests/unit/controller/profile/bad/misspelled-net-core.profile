# key: sysctl/net.core.rmem_mx
# nearest: net.core.rmem_max
# says: is no known key
---
sysctl:
  net.core.rmem_mx: {at_least: 1MiB, impact: hygiene}
