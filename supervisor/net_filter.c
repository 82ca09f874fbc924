/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be made: IPv4 and IPv6 stream sockets of TCP and datagram sockets of UDP and UDP-Lite, unix sockets, and netlink route
 * (getifaddrs and getaddrinfo ask it). Everything else speaks to somebody whose address usher does not
 * decide on, or reaches parts of the kernel that programs do without: raw, packet, ping, vsock, MPTCP, SCTP, SMC,
 * ALG, Bluetooth, other netlink. The errno is the one of a kernel that was built without it, so that programs fall back.
 *
 * Without UDP its sockets get EAFNOSUPPORT: resolvers make one to order what they found by its own address, and that errno alone
 * all of them take for "not from here" instead of for a failure.
 *
 * Written out because libseccomp cannot say "is none of": refusing by blocks of values takes it 200 rules and 2 ms at start.
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
#define NO_FAMILY 27 /* jumps lead forward */
#define DATAGRAM 10

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

static const struct line lines[NET_FILTER_LEN] = {
	[0] = IS(__NR_socket, 1, 22),
	[1] = LOAD(LOW(0)),
	[2] = IS(AF_UNIX, END, 3),
	[3] = IS(AF_INET, 7, 4),
	[4] = IS(AF_INET6, 7, 5),
	[5] = IS(AF_NETLINK, 19, 6),
	[6] = REFUSE(EAFNOSUPPORT),
	/* internet: the type, then the protocol */
	[7] = LOAD(LOW(1)),
	[8] = AND(TYPE_MASK),
	[9] = IS(SOCK_STREAM, 12, 10),
	[DATAGRAM] = IS(SOCK_DGRAM, 15, 11),
	[11] = REFUSE(ESOCKTNOSUPPORT),
	[12] = LOAD(LOW(2)),
	[13] = IS(0, END, 14),
	[14] = IS(IPPROTO_TCP, END, 21),
	[15] = LOAD(LOW(2)),
	[16] = IS(0, END, 17),
	[17] = IS(IPPROTO_UDP, END, 18),
	[18] = IS(IPPROTO_UDPLITE, END, 21),
	/* netlink: NETLINK_ROUTE is 0 */
	[19] = LOAD(LOW(2)),
	[20] = IS(0, END, 21),
	[21] = REFUSE(EPROTONOSUPPORT),
	/* pairs: of the internet families the kernel itself makes none */
	[22] = IS(__NR_socketpair, 23, END),
	[23] = LOAD(LOW(0)),
	[24] = IS(AF_UNIX, END, 25),
	[25] = IS(AF_INET, END, 26),
	[26] = IS(AF_INET6, END, 27),
	[NO_FAMILY] = REFUSE(EAFNOSUPPORT),
	[END] = LOAD(offsetof(struct seccomp_data, nr)),
};

void net_filter(bool udp, struct sock_filter out[NET_FILTER_LEN])
{
	for (unsigned i = 0; i < NET_FILTER_LEN; i++) {
		const struct line *l = &lines[i];

		out[i] = (struct sock_filter)BPF_STMT(l->code, l->k);
		if (BPF_CLASS(l->code) != BPF_JMP)
			continue;
		out[i].jt = (uint8_t)(l->yes - (i + 1));
		out[i].jf = (uint8_t)(l->no - (i + 1));
	}
	if (!udp)
		out[DATAGRAM].jt = (uint8_t)(NO_FAMILY - (DATAGRAM + 1));
}
