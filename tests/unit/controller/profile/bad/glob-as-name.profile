# key: sysctl/net.ipv4.conf.*.rp_filter
# says: is a pattern
---
sysctl:
  net.ipv4.conf.*.rp_filter: {exact: 0, impact: hygiene}
