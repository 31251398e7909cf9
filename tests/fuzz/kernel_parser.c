// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parser in the kernel, frame by frame. */
#include "kernel_parser.h"

#include <errno.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include "abi.h"
#include "fuzz.h"
#include "xdp_limit_parse.skel.h"

void kernel_parser_open(struct kernel_parser *parser, bool generic, size_t parsed_size)
{
	struct xdp_limit_parse *skeleton = xdp_limit_parse__open();
	void *parsed;

	must(skeleton, "cannot open: %s", strerror(errno));
	skeleton->rodata_config->config.generic = generic;
	skeleton->rodata_config->config.may_have_frags = generic;
	must(!xdp_limit_parse__load(skeleton), "cannot load: %s", strerror(errno));
	parsed = mmap(NULL, parsed_size, PROT_READ, MAP_SHARED, bpf_map__fd(skeleton->maps.parsed),
		      0);
	must(parsed != MAP_FAILED, "mmap: %s", strerror(errno));
	parser->skeleton = skeleton;
	parser->program = bpf_program__fd(skeleton->progs.xdp_limit_parse);
	parser->parsed = parsed;
}

int kernel_run(int program, const uint8_t *data, uint32_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = data, .data_size_in = size, .repeat = 1);

	must(!bpf_prog_test_run_opts(program, &run), "BPF_PROG_TEST_RUN: %s", strerror(errno));
	return (int)run.retval;
}
