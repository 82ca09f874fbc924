/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be made: IPv4 and IPv6 stream sockets of TCP and datagram sockets of UDP and UDP-Lite, unix sockets, and netlink route
 * (getifaddrs and getaddrinfo ask it). Everything else speaks to somebody whose address usher does not
 * decide on, or reaches parts of the kernel that programs do without: raw, packet, ping, vsock, MPTCP, SCTP, SMC,
 * ALG, Bluetooth, other netlink. Where no rule could give any of them the filter answers, with the errno of a kernel that was built
 * without it, so that programs fall back; else usher decides by the three numbers, which are values in registers.
 *
 * Without UDP its sockets get EAFNOSUPPORT: resolvers make one to order what they found by its own address, and that errno alone
 * all of them take for "not from here" instead of for a failure.
 *
 */
#include "supervisor/net_filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define TYPE_MASK 0xf /* SOCK_TYPE_MASK: above are SOCK_CLOEXEC and SOCK_NONBLOCK */
#define END (NET_FILTER_LEN - 1)
/* Lines by name: jumps lead forward. */
#define UDP_FIRST 16 /* three tests for protocols of UDP */
#define UDP_LAST 18
#define NO_FAMILY 27

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#else
#define LOW(n) (offsetof(struct seccomp_data, args) + 8 * (n) + 4)
#endif

/* Jumps name the line they lead to. */
struct line {
	uint16_t code;
	uint32_t k;
	uint8_t yes;
	uint8_t no;
};

#define LOAD(off) { BPF_LD | BPF_W | BPF_ABS, (uint32_t)(off), 0, 0 }
#define AND(mask) { BPF_ALU | BPF_AND | BPF_K, mask, 0, 0 }
#define IS(value, yes, no) { BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no }
#define REFUSE(e) { BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (e), 0, 0 }
#define UNLISTED(e) { BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (e), 1, 0 } /* usher's to decide, where it may be given */

static const struct line lines[NET_FILTER_LEN] = {
	[0] = IS(__NR_socket, 1, 22),
	[1] = LOAD(LOW(0)),
	[2] = IS(AF_UNIX, END, 3),
	[3] = IS(AF_INET, 7, 4),
	[4] = IS(AF_INET6, 7, 5),
	[5] = IS(AF_NETLINK, 19, 6),
	[6] = UNLISTED(EAFNOSUPPORT),
	/* internet: the type, then the protocol */
	[7] = LOAD(LOW(1)),
	[8] = AND(TYPE_MASK),
	[9] = IS(SOCK_STREAM, 12, 10),
	[10] = IS(SOCK_DGRAM, 15, 11),
	[11] = UNLISTED(ESOCKTNOSUPPORT),
	[12] = LOAD(LOW(2)),
	[13] = IS(0, END, 14),
	[14] = IS(IPPROTO_TCP, END, 21),
	[15] = LOAD(LOW(2)),
	[UDP_FIRST] = IS(0, END, 17),
	[17] = IS(IPPROTO_UDP, END, 18),
	[UDP_LAST] = IS(IPPROTO_UDPLITE, END, 21),
	/* netlink: NETLINK_ROUTE is 0 */
	[19] = LOAD(LOW(2)),
	[20] = IS(0, END, 21),
	[21] = UNLISTED(EPROTONOSUPPORT),
	/* pairs: of the internet families the kernel itself makes none */
	[22] = IS(__NR_socketpair, 23, END),
	[23] = LOAD(LOW(0)),
	[24] = IS(AF_UNIX, END, 25),
	[25] = IS(AF_INET, END, 26),
	[26] = IS(AF_INET6, END, 27),
	[NO_FAMILY] = REFUSE(EAFNOSUPPORT),
	[END] = LOAD(offsetof(struct seccomp_data, nr)),
};

void net_filter(const struct net_sockets *give, struct sock_filter out[NET_FILTER_LEN])
{
	for (unsigned i = 0; i < NET_FILTER_LEN; i++) {
		const struct line *l = &lines[i];

		out[i] = (struct sock_filter)BPF_STMT(l->code, l->k);
		if (BPF_CLASS(l->code) == BPF_JMP) {
			out[i].jt = (uint8_t)(l->yes - (i + 1));
			out[i].jf = (uint8_t)(l->no - (i + 1));
		} else if (l->yes && give->others) {
			out[i].k = SECCOMP_RET_USER_NOTIF;
		}
	}
	for (unsigned i = UDP_FIRST; !give->udp && i <= UDP_LAST; i++)
		out[i].jt = (uint8_t)(NO_FAMILY - (i + 1));
}
