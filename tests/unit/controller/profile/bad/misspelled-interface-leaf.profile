# key: sysctl/net.ipv4.conf.eth0.rp_filtr
# nearest: net.ipv4.conf.eth0.rp_filter
# says: is no known key
---
sysctl:
  net.ipv4.conf.eth0.rp_filtr: {exact: 0, impact: hygiene}
