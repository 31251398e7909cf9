// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The names of protocols and TCP flags in a policy. */
#include "match_words.h"

#include <netinet/in.h>
#include <stddef.h>

const struct match_word protocol_words[] = {
	{"tcp", IPPROTO_TCP},	    {"udp", IPPROTO_UDP},   {"icmp", IPPROTO_ICMP},
	{"icmpv6", IPPROTO_ICMPV6}, {"sctp", IPPROTO_SCTP}, {NULL, 0},
};

/* Bits of the byte in the TCP header. */
const struct match_word flag_words[] = {
	{"fin", 0x01}, {"syn", 0x02}, {"rst", 0x04}, {"psh", 0x08}, {"ack", 0x10},
	{"urg", 0x20}, {"ece", 0x40}, {"cwr", 0x80}, {NULL, 0},
};
