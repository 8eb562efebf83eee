# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of the names below /proc/sys: data for sysctl.py.

The names are those that a 6.18 kernel lists below /proc/sys, with a few of other architectures, configurations and loadable modules. Kernels differ, so a name
that is not here is no fault; one that is nearly here is a slip of the pen.
"""

from __future__ import annotations

# Leaves by parent; * stands for an interface.
_KNOWN = {
    "abi": "vsyscall32",
    "crypto": "fips_enabled fips_name fips_version",
    "debug": "exception-trace kprobes-optimization",
    "dev.cdrom": "autoclose autoeject check_media debug info lock",
    "dev.hpet": "max-user-freq",
    "dev.raid": "speed_limit_max speed_limit_min",
    "dev.scsi": "logging_level",
    "dev.tty": "ldisc_autoload legacy_tiocsti",
    "fs": """
        aio-max-nr aio-nr binfmt_misc.status dentry-negative dentry-state dir-notify-enable file-max file-nr inode-nr inode-state
        lease-break-time leases-enable mount-max nr_open overflowgid overflowuid pipe-max-size pipe-user-pages-hard pipe-user-pages-soft
        protected_fifos protected_hardlinks protected_regular protected_symlinks suid_dumpable super-max super-nr
    """,
    "fs.epoll": "max_user_watches",
    "fs.fanotify": "max_queued_events max_user_groups max_user_marks watchdog_timeout",
    "fs.fuse": "default_request_timeout max_pages_limit max_request_timeout",
    "fs.inotify": "max_queued_events max_user_instances max_user_watches",
    "fs.mqueue": "msg_default msg_max msgsize_default msgsize_max queues_max",
    "fs.nfs": """
        idmap_cache_timeout nfs_callback_tcpport nfs_congestion_kb nfs_mountpoint_timeout nlm_grace_period nlm_tcpport nlm_timeout nlm_udpport
        nsm_local_state nsm_use_hostnames
    """,
    "fs.quota": "allocated_dquots cache_hits drops free_dquots lookups reads syncs writes",
    "fs.verity": "require_signatures",
    "fs.xfs": """
        error_level filestream_centisecs inherit_noatime inherit_nodefrag inherit_nodump inherit_nosymlinks inherit_sync panic_mask rotorstep
        speculative_prealloc_lifetime stats_clear xfssyncd_centisecs
    """,
    "kernel": """
        acct acpi_video_flags apparmor_restrict_unprivileged_unconfined apparmor_restrict_unprivileged_userns arch auto_msgmni bootloader_type
        bootloader_version bpf_stats_enabled cad_pid cap_last_cap compat-log core_file_note_size_limit core_modes core_pattern core_pipe_limit
        core_sort_vma core_uses_pid ctrl-alt-del dmesg_restrict domainname ftrace_dump_on_oops ftrace_enabled hardlockup_all_cpu_backtrace
        hardlockup_panic hostname hotplug hung_task_all_cpu_backtrace hung_task_check_count hung_task_check_interval_secs hung_task_detect_count
        hung_task_panic hung_task_timeout_secs hung_task_warnings hyperv_record_panic_msg ignore-unaligned-usertrap init_private
        init_private_helper init_private_vsock_local_port init_private_vsock_port io_delay_type io_uring_disabled io_uring_group
        kexec_load_disabled kexec_load_limit_panic kexec_load_limit_reboot kptr_restrict kstack_depth_to_print latencytop max_lock_depth
        max_rcu_stall_to_panic modprobe modules_disabled msg_next_id msgmax msgmnb msgmni ngroups_max nmi_watchdog ns_last_pid numa_balancing
        numa_balancing_promote_rate_limit_MBps oops_all_cpu_backtrace oops_limit osrelease ostype overflowgid overflowuid panic panic_on_io_nmi
        panic_on_oops panic_on_rcu_stall panic_on_unrecovered_nmi panic_on_warn panic_print panic_sys_info perf_cpu_time_max_percent
        perf_event_max_contexts_per_stack perf_event_max_sample_rate perf_event_max_stack perf_event_mlock_kb perf_event_paranoid
        perf_user_access pid_max poweroff_cmd print-fatal-signals printk printk_delay printk_devkmsg printk_ratelimit printk_ratelimit_burst
        randomize_va_space real-root-dev sched_autogroup_enabled sched_cfs_bandwidth_slice_us sched_child_runs_first
        sched_deadline_period_max_us sched_deadline_period_min_us sched_energy_aware sched_itmt_enabled sched_rr_timeslice_ms sched_rt_period_us
        sched_rt_runtime_us sched_schedstats sched_util_clamp_max sched_util_clamp_min sched_util_clamp_min_rt_default sem sem_next_id
        sg-big-buff shm_next_id shm_rmid_forced shmall shmmax shmmni soft_watchdog softlockup_all_cpu_backtrace softlockup_panic spin_retry
        split_lock_mitigate stack_tracer_enabled stop-a sysctl_writes_strict sysrq tainted task_delayacct threads-max timer_migration
        traceoff_on_warning tracepoint_printk unaligned-trap unknown_nmi_panic unprivileged_bpf_disabled unprivileged_userns_apparmor_policy
        unprivileged_userns_clone version warn_limit watchdog watchdog_cpumask watchdog_thresh
    """,
    "kernel.firmware_config": "force_sysfs_fallback ignore_sysfs_fallback",
    "kernel.keys": "gc_delay maxbytes maxkeys persistent_keyring_expiry root_maxbytes root_maxkeys",
    "kernel.pty": "max nr reserve",
    "kernel.random": """
        boot_id entropy_avail poolsize urandom_min_reseed_secs uuid write_wakeup_threshold
    """,
    "kernel.seccomp": "actions_avail actions_logged",
    "kernel.usermodehelper": "bset inheritable",
    "kernel.yama": "ptrace_scope",
    "net": "nf_conntrack_max",
    "net.bridge": """
        bridge-nf-call-arptables bridge-nf-call-ip6tables bridge-nf-call-iptables bridge-nf-filter-pppoe-tagged bridge-nf-filter-vlan-tagged
        bridge-nf-pass-vlan-input-dev
    """,
    "net.core": """
        bpf_jit_enable bpf_jit_harden bpf_jit_kallsyms bpf_jit_limit busy_poll busy_read default_qdisc dev_weight dev_weight_rx_bias
        dev_weight_tx_bias devconf_inherit_init_net fb_tunnels_only_for_init_net flow_limit_cpu_bitmap flow_limit_table_len gro_normal_batch
        high_order_alloc_disable max_skb_frags mem_pcpu_rsv message_burst message_cost netdev_budget netdev_budget_usecs netdev_max_backlog
        netdev_rss_key netdev_tstamp_prequeue netdev_unregister_timeout_secs optmem_max rmem_default rmem_max rps_default_mask
        rps_sock_flow_entries skb_defer_max somaxconn tstamp_allow_data txrehash warnings wmem_default wmem_max xfrm_acq_expires
        xfrm_aevent_etime xfrm_aevent_rseqth xfrm_larval_drop
    """,
    "net.ipv4": """
        cipso_cache_bucket_size cipso_cache_enable cipso_rbm_optfmt cipso_rbm_strictvalid fib_multipath_hash_fields fib_multipath_hash_policy
        fib_multipath_hash_seed fib_multipath_use_neigh fib_notify_on_flag_change fib_sync_mem fwmark_reflect icmp_echo_enable_probe
        icmp_echo_ignore_all icmp_echo_ignore_broadcasts icmp_errors_use_inbound_ifaddr icmp_ignore_bogus_error_responses icmp_msgs_burst
        icmp_msgs_per_sec icmp_ratelimit icmp_ratemask igmp_link_local_mcast_reports igmp_max_memberships igmp_max_msf igmp_qrv inet_peer_maxttl
        inet_peer_minttl inet_peer_threshold ip_autobind_reuse ip_default_ttl ip_dynaddr ip_early_demux ip_forward ip_forward_update_priority
        ip_forward_use_pmtu ip_local_port_range ip_local_reserved_ports ip_no_pmtu_disc ip_nonlocal_bind ip_unprivileged_port_start
        ipfrag_high_thresh ipfrag_low_thresh ipfrag_max_dist ipfrag_secret_interval ipfrag_time nexthop_compat_mode ping_group_range
        raw_l3mdev_accept tcp_abort_on_overflow tcp_adv_win_scale tcp_allowed_congestion_control tcp_app_win tcp_autocorking
        tcp_available_congestion_control tcp_available_ulp tcp_backlog_ack_defer tcp_base_mss tcp_challenge_ack_limit tcp_child_ehash_entries
        tcp_comp_sack_delay_ns tcp_comp_sack_nr tcp_comp_sack_slack_ns tcp_congestion_control tcp_dsack tcp_early_demux tcp_early_retrans
        tcp_ecn tcp_ecn_fallback tcp_ecn_option tcp_ecn_option_beacon tcp_ehash_entries tcp_fack tcp_fastopen tcp_fastopen_blackhole_timeout_sec
        tcp_fastopen_key tcp_fin_timeout tcp_frto tcp_fwmark_accept tcp_invalid_ratelimit tcp_keepalive_intvl tcp_keepalive_probes
        tcp_keepalive_time tcp_l3mdev_accept tcp_limit_output_bytes tcp_low_latency tcp_max_orphans tcp_max_reordering tcp_max_syn_backlog
        tcp_max_tw_buckets tcp_mem tcp_migrate_req tcp_min_rtt_wlen tcp_min_snd_mss tcp_min_tso_segs tcp_moderate_rcvbuf tcp_mtu_probe_floor
        tcp_mtu_probing tcp_no_metrics_save tcp_no_ssthresh_metrics_save tcp_notsent_lowat tcp_orphan_retries tcp_pacing_ca_ratio
        tcp_pacing_ss_ratio tcp_pingpong_thresh tcp_plb_cong_thresh tcp_plb_enabled tcp_plb_idle_rehash_rounds tcp_plb_rehash_rounds
        tcp_plb_suspend_rto_sec tcp_probe_interval tcp_probe_threshold tcp_recovery tcp_reflect_tos tcp_reordering tcp_retrans_collapse
        tcp_retries1 tcp_retries2 tcp_rfc1337 tcp_rmem tcp_rto_max_ms tcp_rto_min_us tcp_sack tcp_shrink_window tcp_slow_start_after_idle
        tcp_stdurg tcp_syn_linear_timeouts tcp_syn_retries tcp_synack_retries tcp_syncookies tcp_thin_linear_timeouts tcp_timestamps
        tcp_tso_rtt_log tcp_tso_win_divisor tcp_tw_reuse tcp_tw_reuse_delay tcp_window_scaling tcp_wmem tcp_workaround_signed_windows
        udp_child_hash_entries udp_early_demux udp_hash_entries udp_l3mdev_accept udp_mem udp_rmem_min udp_wmem_min xfrm4_gc_thresh
    """,
    "net.ipv4.conf.*": """
        accept_local accept_redirects accept_source_route arp_accept arp_announce arp_evict_nocarrier arp_filter arp_ignore arp_notify
        bc_forwarding bootp_relay disable_policy disable_xfrm drop_gratuitous_arp drop_unicast_in_l2_multicast force_igmp_version forwarding
        igmpv2_unsolicited_report_interval igmpv3_unsolicited_report_interval ignore_routes_with_linkdown log_martians mc_forwarding medium_id
        promote_secondaries proxy_arp proxy_arp_pvlan route_localnet rp_filter secure_redirects send_redirects shared_media src_valid_mark tag
    """,
    "net.ipv4.neigh.*": """
        anycast_delay app_solicit base_reachable_time base_reachable_time_ms delay_first_probe_time gc_stale_time interval_probe_time_ms
        locktime mcast_resolicit mcast_solicit proxy_delay proxy_qlen retrans_time retrans_time_ms ucast_solicit unres_qlen unres_qlen_bytes
    """,
    "net.ipv4.route": """
        error_burst error_cost flush gc_elasticity gc_interval gc_min_interval gc_min_interval_ms gc_thresh gc_timeout max_size min_adv_mss
        min_pmtu mtu_expires redirect_load redirect_number redirect_silence
    """,
    "net.ipv6": """
        anycast_src_echo_reply auto_flowlabels bindv6only calipso_cache_bucket_size calipso_cache_enable fib_multipath_hash_fields
        fib_multipath_hash_policy fib_notify_on_flag_change flowlabel_consistency flowlabel_reflect flowlabel_state_ranges fwmark_reflect
        idgen_delay idgen_retries ioam6_id ioam6_id_wide ip6frag_high_thresh ip6frag_low_thresh ip6frag_secret_interval ip6frag_time
        ip_nonlocal_bind max_dst_opts_length max_dst_opts_number max_hbh_length max_hbh_opts_number mld_max_msf mld_qrv seg6_flowlabel
        xfrm6_gc_thresh
    """,
    "net.ipv6.conf.*": """
        accept_dad accept_ra accept_ra_defrtr accept_ra_from_local accept_ra_min_hop_limit accept_ra_min_lft accept_ra_mtu accept_ra_pinfo
        accept_ra_rt_info_max_plen accept_ra_rt_info_min_plen accept_ra_rtr_pref accept_redirects accept_source_route accept_untracked_na
        addr_gen_mode autoconf dad_transmits disable_ipv6 disable_policy drop_unicast_in_l2_multicast drop_unsolicited_na enhanced_dad
        force_forwarding force_mld_version force_tllao forwarding hop_limit ignore_routes_with_linkdown ioam6_enabled ioam6_id ioam6_id_wide
        keep_addr_on_down max_addresses max_desync_factor mc_forwarding mldv1_unsolicited_report_interval mldv2_unsolicited_report_interval mtu
        ndisc_evict_nocarrier ndisc_notify ndisc_tclass optimistic_dad proxy_ndp ra_defrtr_metric ra_honor_pio_life ra_honor_pio_pflag
        regen_max_retry regen_min_advance router_probe_interval router_solicitation_delay router_solicitation_interval
        router_solicitation_max_interval router_solicitations rpl_seg_enabled seg6_enabled seg6_require_hmac stable_secret suppress_frag_ndisc
        temp_prefered_lft temp_valid_lft use_oif_addrs_only use_optimistic use_tempaddr
    """,
    "net.ipv6.icmp": """
        echo_ignore_all echo_ignore_anycast echo_ignore_multicast error_anycast_as_unicast ratelimit ratemask
    """,
    "net.ipv6.neigh.*": """
        anycast_delay app_solicit base_reachable_time base_reachable_time_ms delay_first_probe_time gc_stale_time interval_probe_time_ms
        locktime mcast_resolicit mcast_solicit proxy_delay proxy_qlen retrans_time retrans_time_ms ucast_solicit unres_qlen unres_qlen_bytes
    """,
    "net.ipv6.route": """
        flush gc_elasticity gc_interval gc_min_interval gc_min_interval_ms gc_thresh gc_timeout max_size min_adv_mss mtu_expires
        skip_notify_on_dev_down
    """,
    "net.netfilter": """
        nf_conntrack_acct nf_conntrack_buckets nf_conntrack_count nf_conntrack_helper nf_conntrack_max nf_conntrack_tcp_be_liberal
        nf_conntrack_tcp_timeout_established
    """,
    "net.unix": "max_dgram_qlen",
    "sunrpc": """
        max_resvport min_resvport nfs_debug nfsd_debug nlm_debug rpc_debug tcp_fin_timeout tcp_max_slot_table_entries tcp_slot_table_entries
        transports udp_slot_table_entries
    """,
    "user": """
        max_cgroup_namespaces max_fanotify_groups max_fanotify_marks max_inotify_instances max_inotify_watches max_ipc_namespaces
        max_mnt_namespaces max_net_namespaces max_pid_namespaces max_time_namespaces max_user_namespaces max_uts_namespaces
    """,
    "vm": """
        admin_reserve_kbytes block_dump compact_memory compact_unevictable_allowed compaction_proactiveness defrag_mode dirty_background_bytes
        dirty_background_ratio dirty_bytes dirty_expire_centisecs dirty_ratio dirty_writeback_centisecs dirtytime_expire_seconds drop_caches
        enable_soft_offline extfrag_threshold hugetlb_optimize_vmemmap hugetlb_shm_group laptop_mode legacy_va_layout lowmem_reserve_ratio
        max_map_count memfd_noexec memory_failure_early_kill memory_failure_recovery min_free_kbytes min_slab_ratio min_unmapped_ratio
        mmap_min_addr mmap_rnd_bits mmap_rnd_compat_bits nr_hugepages nr_hugepages_mempolicy nr_overcommit_hugepages nr_pdflush_threads
        nr_trim_pages numa_stat numa_zonelist_order oom_dump_tasks oom_kill_allocating_task overcommit_kbytes overcommit_memory overcommit_ratio
        page-cluster page_lock_unfairness panic_on_oom percpu_pagelist_fraction percpu_pagelist_high_fraction shrink_inodes_with_pagecache
        stat_interval stat_refresh swap_token_timeout swappiness unprivileged_userfaultfd user_reserve_kbytes vfs_cache_pressure
        vfs_cache_pressure_denom watermark_boost_factor watermark_scale_factor zone_reclaim_mode
    """,
}
KNOWN = {parent: tuple(leaves.split()) for parent, leaves in _KNOWN.items()}

PARENTS = ("abi", "crypto", "debug", "dev", "fs", "kernel", "net", "sunrpc", "user", "vm", "xen")

_INT_MAX = 2**31 - 1
_LONG_MAX = 2**63 - 1

# Lowest and highest value that the kernel takes.
RANGES: dict[str, tuple[int, int]] = {
    "fs.aio-max-nr": (0, _LONG_MAX),
    "fs.file-max": (1, _LONG_MAX),
    "fs.inotify.max_user_instances": (0, _INT_MAX),
    "fs.inotify.max_user_watches": (0, _INT_MAX),
    "fs.nr_open": (64, 2147483584),
    "fs.protected_hardlinks": (0, 1),
    "fs.protected_symlinks": (0, 1),
    "fs.suid_dumpable": (0, 2),
    "kernel.dmesg_restrict": (0, 1),
    "kernel.hung_task_timeout_secs": (0, _LONG_MAX // 1000),
    "kernel.io_uring_disabled": (0, 2),
    "kernel.kptr_restrict": (0, 2),
    "kernel.nmi_watchdog": (0, 1),
    "kernel.numa_balancing": (0, 3),
    "kernel.panic_on_oops": (0, 1),
    "kernel.panic_on_warn": (0, 1),
    "kernel.pid_max": (301, 4194304),
    "kernel.randomize_va_space": (0, 2),
    "kernel.sched_autogroup_enabled": (0, 1),
    "kernel.shmall": (0, 2**64 - 1),
    "kernel.shmmax": (0, 2**64 - 1),
    "kernel.shmmni": (0, 2**24),
    "kernel.soft_watchdog": (0, 1),
    "kernel.softlockup_panic": (0, 1),
    "kernel.threads-max": (20, 0x3FFFFFFF),
    "kernel.timer_migration": (0, 1),
    "kernel.watchdog": (0, 1),
    "kernel.watchdog_thresh": (0, 60),
    "kernel.yama.ptrace_scope": (0, 3),
    "net.core.bpf_jit_enable": (0, 2),
    "net.core.busy_poll": (0, _INT_MAX),
    "net.core.busy_read": (0, _INT_MAX),
    "net.core.netdev_budget": (0, _INT_MAX),
    "net.core.netdev_max_backlog": (0, _INT_MAX),
    "net.core.rmem_default": (1, _INT_MAX),
    "net.core.rmem_max": (1, _INT_MAX),
    "net.core.somaxconn": (0, _INT_MAX),
    "net.core.wmem_default": (1, _INT_MAX),
    "net.core.wmem_max": (1, _INT_MAX),
    "net.ipv4.tcp_mtu_probing": (0, 2),
    "net.ipv4.tcp_sack": (0, 1),
    "net.ipv4.tcp_slow_start_after_idle": (0, 1),
    "net.ipv4.tcp_timestamps": (0, 2),
    "vm.compaction_proactiveness": (0, 100),
    "vm.dirty_background_bytes": (0, _LONG_MAX),
    "vm.dirty_background_ratio": (0, 100),
    "vm.dirty_bytes": (0, _LONG_MAX),
    "vm.dirty_expire_centisecs": (0, _INT_MAX),
    "vm.dirty_ratio": (0, 100),
    "vm.dirty_writeback_centisecs": (0, _INT_MAX),
    "vm.extfrag_threshold": (0, 1000),
    "vm.max_map_count": (0, _INT_MAX),
    "vm.min_free_kbytes": (0, _INT_MAX),
    "vm.min_slab_ratio": (0, 100),
    "vm.min_unmapped_ratio": (0, 100),
    "vm.numa_stat": (0, 1),
    "vm.oom_kill_allocating_task": (0, 1),
    "vm.overcommit_memory": (0, 2),
    "vm.overcommit_ratio": (0, _INT_MAX),
    "vm.page-cluster": (0, 31),
    "vm.panic_on_oom": (0, 2),
    "vm.stat_interval": (0, _INT_MAX),
    "vm.swappiness": (0, 200),
    "vm.vfs_cache_pressure": (0, _INT_MAX),
    "vm.watermark_scale_factor": (1, 3000),
    "vm.zone_reclaim_mode": (0, 7),
}

# Keys with several numbers, and how many.
FIELDS: dict[str, int] = {
    "kernel.printk": 4,
    "kernel.sem": 4,
    "net.ipv4.ip_local_port_range": 2,
    "net.ipv4.ping_group_range": 2,
    "net.ipv4.tcp_mem": 3,
    "net.ipv4.tcp_rmem": 3,
    "net.ipv4.tcp_wmem": 3,
    "net.ipv4.udp_mem": 3,
}

_HUGE = (
    "the pool of huge pages has one owner and is planned per NUMA node; this key spreads it by the writer's memory policy and may "
    "fall short without an error"
)
_ACTION = "writing it does something once, it is no setting that could be kept"
_READ_ONLY = "the kernel only reports it, it cannot be written"
_CFS = "left /proc/sys with Linux 5.13 (now /sys/kernel/debug/sched/) and means nothing to the scheduler since 6.6"

# Keys that no profile may have, with the reason.
REFUSED: dict[str, str] = {
    "vm.nr_hugepages": _HUGE,
    "vm.nr_hugepages_mempolicy": _HUGE,
    "vm.nr_overcommit_hugepages": _HUGE,
    "vm.compact_memory": _ACTION,
    "vm.drop_caches": _ACTION,
    "vm.stat_refresh": _ACTION,
    "net.ipv4.route.flush": _ACTION,
    "net.ipv6.route.flush": _ACTION,
    "fs.xfs.stats_clear": _ACTION,
    "fs.aio-nr": _READ_ONLY,
    "fs.dentry-state": _READ_ONLY,
    "fs.file-nr": _READ_ONLY,
    "fs.inode-nr": _READ_ONLY,
    "fs.inode-state": _READ_ONLY,
    "kernel.cap_last_cap": _READ_ONLY,
    "kernel.ngroups_max": _READ_ONLY,
    "kernel.osrelease": _READ_ONLY,
    "kernel.ostype": _READ_ONLY,
    "kernel.pty.nr": _READ_ONLY,
    "kernel.random.boot_id": _READ_ONLY,
    "kernel.random.entropy_avail": _READ_ONLY,
    "kernel.random.poolsize": _READ_ONLY,
    "kernel.random.uuid": _READ_ONLY,
    "kernel.seccomp.actions_avail": _READ_ONLY,
    "kernel.version": _READ_ONLY,
    "net.ipv4.tcp_available_congestion_control": _READ_ONLY,
    "kernel.sched_latency_ns": _CFS,
    "kernel.sched_migration_cost_ns": _CFS,
    "kernel.sched_min_granularity_ns": _CFS,
    "kernel.sched_nr_migrate": _CFS,
    "kernel.sched_tunable_scaling": _CFS,
    "kernel.sched_wakeup_granularity_ns": _CFS,
}
