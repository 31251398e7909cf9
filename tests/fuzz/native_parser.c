// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel side's parser, compiled for user space. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* What only a kernel or its loader has. */
#undef SEC
#define SEC(name)
#define bpf_xdp_get_buff_len(ctx) whole_length

static __u32 whole_length;

#include "frame_no_facts.h"
#include "parsed.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "native_parser.h"

const size_t parsed_size = sizeof(struct parsed);

/*
 * The policy is read-only data; a loader writes it before it is. The compiler may leave out what is written
 * to a constant, so it must not see whose address this is.
 */
static struct config *writable_config(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)&config, end = (uintptr_t)(&config + 1);
	uintptr_t first = start & -page;

	asm volatile("" : "+r"(start));
	must(!mprotect((void *)first, end - first, PROT_READ | PROT_WRITE), "mprotect");
	return (struct config *)start;
}

const struct parsed *parse_natively(const struct native_frame *frame, bool generic)
{
	static struct config *written;
	static struct parsed parsed;
	struct xdp_md ctx = {
		.data = (__u32)(uintptr_t)frame->data,
		.data_end = (__u32)(uintptr_t)frame->data + frame->linear,
	};

	if (!written)
		written = writable_config();
	written->generic = written->may_have_frags = generic;
	whole_length = frame->length;
	memset(&parsed, 0, sizeof(parsed));
	parsed.reason = parse(&ctx, &parsed.packet);
	parsed.linear = frame->linear;
	return &parsed;
}

uint32_t linear_bytes(const struct parsed *parsed)
{
	return parsed->linear;
}

bool is_malformed(const struct parsed *parsed)
{
	return parsed->reason == REASON_MALFORMED;
}

/* X(name, what to print of a struct parsed called p) */
#define FIELDS(X)                                               \
	X("linear bytes", p->linear)                            \
	X("reason", p->reason)                                  \
	X("source, first half", p->packet.source[0])            \
	X("source, second half", p->packet.source[1])           \
	X("destination, first half", p->packet.destination[0])  \
	X("destination, second half", p->packet.destination[1]) \
	X("length", p->packet.length)                           \
	X("segments", p->packet.segments)                       \
	X("headers", p->packet.headers)                         \
	X("source port", p->packet.source_port)                 \
	X("destination port", p->packet.destination_port)       \
	X("VLAN", p->packet.vlan)                               \
	X("family", p->packet.family)                           \
	X("protocol", p->packet.protocol)                       \
	X("hop limit", p->packet.hop_limit)                     \
	X("TCP flags", p->packet.tcp_flags)                     \
	X("ICMP type", p->packet.icmp_type)                     \
	X("ICMP code", p->packet.icmp_code)                     \
	X("flags", p->packet.flags)

struct field {
	const char *name;
	uint64_t value;
};

#define FIELD(name, value) {name, value},

static size_t list_fields(const struct parsed *p, struct field fields[32])
{
	const struct field list[] = {FIELDS(FIELD)};

	memcpy(fields, list, sizeof(list));
	return sizeof(list) / sizeof(list[0]);
}

void must_agree(const struct parsed *native, const struct parsed *kernel, const char *mode)
{
	struct field mine[32], theirs[32];
	size_t count = list_fields(native, mine);

	list_fields(kernel, theirs);
	for (size_t i = 0; i < count; i++)
		must(mine[i].value == theirs[i].value,
		     "%s, %s mode: %#" PRIx64 " natively, %#" PRIx64 " in the kernel", mine[i].name,
		     mode, mine[i].value, theirs[i].value);
}
