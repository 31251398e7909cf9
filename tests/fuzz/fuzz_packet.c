// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The packet parser: compiled natively it never reads outside of the frame, and the kernel's answer is
 * the same in every field; the whole program drops exactly what is malformed. Without root only the
 * first is tried.
 */
#include <string.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "kernel_parser.h"
#include "native_parser.h"
#include "yaml_policy.h"
#include "prog.h"

#define FRAME_MIN 14 /* the kernel takes no less */
#define FRAME_MAX 2048
#define LONG	  66000 /* more than 16 bits can claim, and mostly in fragments */

/* The context has 32 bits for an address. */
#define LOW 0x40000000UL

static struct kernel_parser native_mode, generic_mode;
static struct limiter limiter;

/* The frame ends where its page does, and the next page can't be read. */
static uint8_t *place_frame(const uint8_t *data, size_t size)
{
	static uint8_t *end;

	if (!end) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		uint8_t *room = mmap((void *)LOW, 2 * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		must(room == (void *)LOW, "mmap");
		end = room + page;
		must(!mprotect(end, page, PROT_NONE), "mprotect");
	}
	must(size <= (size_t)sysconf(_SC_PAGESIZE), "%zu bytes", size);
	return memcpy(end - size, data, size);
}

/* Everything passes but what is malformed. */
static void open_kernel(void)
{
	static struct policy policy;

	yaml_policy(&policy, "limits: [{name: none, rate: unlimited}]\n");
	limiter_open(&limiter, &policy, NULL);
	policy_free(&policy);
	kernel_parser_open(&native_mode, false, parsed_size);
	kernel_parser_open(&generic_mode, true, parsed_size);
}

static bool has_kernel(void)
{
	static int has = -1;

	if (has >= 0)
		return has;
	has = geteuid() == 0;
	if (has)
		open_kernel();
	else
		fprintf(stderr, "# not root: the kernel is not asked\n");
	return has;
}

static void compare(const uint8_t *data, uint32_t size, const struct kernel_parser *kernel,
		    bool generic)
{
	struct native_frame frame = {.length = size};

	must(kernel_run(kernel->program, data, size) == XDP_PASS, "the parser did not run");
	frame.linear = linear_bytes(kernel->parsed);
	frame.data = place_frame(data, frame.linear);
	must_agree(parse_natively(&frame, generic), kernel->parsed, generic ? "generic" : "native");
}

/* The same bytes at the start of a frame that only generic mode can have. */
static void compare_long(const uint8_t *data, uint32_t size)
{
	static uint8_t bytes[LONG];

	memset(bytes, 0, FRAME_MAX);
	memcpy(bytes, data, size);
	compare(bytes, sizeof(bytes), &generic_mode, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t length = size < FRAME_MAX ? (uint32_t)size : FRAME_MAX;
	struct native_frame frame = {.length = length, .linear = length};
	bool malformed;

	frame.data = place_frame(data, length);
	malformed = is_malformed(parse_natively(&frame, false));
	if (length < FRAME_MIN || !has_kernel())
		return 0;
	must(kernel_run(limiter.running.program, data, length) == (malformed ? XDP_DROP : XDP_PASS),
	     "the whole program judges otherwise");
	compare(data, length, &native_mode, false);
	compare(data, length, &generic_mode, true);
	compare_long(data, length);
	return 0;
}
