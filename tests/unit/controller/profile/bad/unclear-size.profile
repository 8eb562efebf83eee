# key: sysctl/net.core.rmem_max/at_least
# nearest: 256MiB
# says: is no size that can be read in one way only
---
sysctl:
  net.core.rmem_max: {at_least: 256M, impact: hygiene}
