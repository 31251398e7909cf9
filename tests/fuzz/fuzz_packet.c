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

#define FRAME_MIN 14   /* the kernel takes no less */
#define FRAME_MAX 2048 /* and makes fragments of what is longer than its page */

static struct kernel_parser native_mode, generic_mode;
static struct limiter limiter;

/* The frame ends where its page does, and the next page can't be read. */
static uint8_t *place_frame(const uint8_t *data, size_t size)
{
	static uint8_t *end;

	if (!end) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		uint8_t *room = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

		must(room != MAP_FAILED, "mmap");
		end = room + page;
		must(!mprotect(end, page, PROT_NONE), "mprotect");
	}
	memset(end - FRAME_MAX, 0x5a, FRAME_MAX);
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

static void compare(const uint8_t *frame, uint32_t size, const struct parsed *native,
		    const struct kernel_parser *kernel, const char *mode)
{
	must(kernel_run(kernel->program, frame, size) == XDP_PASS, "the parser did not run");
	must_agree(native, kernel->parsed, mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct parsed *native;
	uint32_t length = size < FRAME_MAX ? (uint32_t)size : FRAME_MAX;
	uint8_t *frame = place_frame(data, length);
	bool kernel = length >= FRAME_MIN && has_kernel();

	native = parse_natively(frame, length, true);
	if (kernel)
		compare(frame, length, native, &generic_mode, "generic");
	native = parse_natively(frame, length, false);
	if (!kernel)
		return 0;
	compare(frame, length, native, &native_mode, "native");
	must(kernel_run(limiter.running.program, frame, length) ==
		     (is_malformed(native) ? XDP_DROP : XDP_PASS),
	     "the whole program judges otherwise");
	return 0;
}
