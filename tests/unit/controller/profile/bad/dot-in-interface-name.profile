# key: sysctl/net.ipv4.conf.eth0.100.rp_filter
# nearest: net.ipv4.conf.eth0/100.rp_filter
# says: a dot inside an interface name is written as slash
---
sysctl:
  net.ipv4.conf.eth0.100.rp_filter: {exact: 0, impact: hygiene}
