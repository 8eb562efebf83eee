# key: sysctl/net.ipv4.tcp_rmem
# says: takes 3 values, '4096 87380' has 2
---
sysctl:
  net.ipv4.tcp_rmem: {at_least: [4096, 87380], impact: hygiene}
