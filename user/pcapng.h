/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A capture file that has a comment for each packet, which libpcap cannot write. */
#ifndef XDP_LIMIT_PCAPNG_H
#define XDP_LIMIT_PCAPNG_H

#include <stdint.h>
#include <stdio.h>

struct pcapng_packet {
	uint64_t time_ns; /* since 1970 */
	const uint8_t *bytes;
	uint32_t captured;
	uint32_t length;     /* of the frame, on the wire */
	const char *comment; /* UTF-8; NULL for none */
};

/** pcapng_start - a section with one Ethernet interface, times in ns: 0 or -errno. */
int pcapng_start(FILE *out, const char *interface, uint32_t snap_length);
/** pcapng_add - one packet: 0 or -errno. */
int pcapng_add(FILE *out, const struct pcapng_packet *packet);

#endif
