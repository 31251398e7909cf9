// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the n-th call of one function fail, so that tests can break each step of a command. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Linked into a second binary with -Wl,--wrap= for each function named below:
 *
 *	FAULT=bpf_obj_pin:3:ENOSPC	the third call of bpf_obj_pin fails with ENOSPC
 *	FAULT=rename:1:SIGKILL		the process is killed in place of the first rename
 *	FAULT=flock:1:SIGSTOP		the process is stopped before the first flock
 *	FAULT_FIRED=FILE		FILE is made when it comes to that
 */

static const struct {
	const char *name;
	int number;
} errors[] = {
	{"EPERM", EPERM},   {"ENOENT", ENOENT}, {"EBUSY", EBUSY}, {"EINVAL", EINVAL},
	{"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"E2BIG", E2BIG}, {"EOPNOTSUPP", EOPNOTSUPP},
};

static int error_number(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(name, errors[i].name))
			return errors[i].number;
	fprintf(stderr, "FAULT: unknown error '%s'\n", name);
	exit(99);
}

static void tell(void)
{
	const char *path = getenv("FAULT_FIRED");
	FILE *file = path ? fopen(path, "we") : NULL;

	if (file)
		fclose(file);
}

/* The error that this call of @name has to fail with, or 0. */
static int fault(const char *name)
{
	const char *wish = getenv("FAULT");
	static unsigned int calls;
	unsigned int which;
	char function[64], error[32];

	if (!wish || !*wish)
		return 0;
	if (sscanf(wish, "%63[^:]:%u:%31s", function, &which, error) != 3) {
		fprintf(stderr, "FAULT: not FUNCTION:N:ERROR: '%s'\n", wish);
		exit(99);
	}
	if (strcmp(function, name) || ++calls != which)
		return 0;
	tell();
	if (!strcmp(error, "SIGKILL"))
		raise(SIGKILL);
	if (!strcmp(error, "SIGSTOP"))
		return raise(SIGSTOP);
	errno = error_number(error);
	return errno;
}

#define WRAP(type, failed, name, parameters, arguments)            \
	type __real_##name parameters;                             \
	type __wrap_##name parameters;                             \
	type __wrap_##name parameters                              \
	{                                                          \
		int error = fault(#name);                          \
                                                                   \
		return error ? (failed) : __real_##name arguments; \
	}

/* libbpf returns what it also leaves in errno; the C library leaves it there only. */
#define LIBBPF_CALL(name, parameters, arguments) WRAP(int, -error, name, parameters, arguments)
#define OBJECT_CALL(name, parameters, arguments) \
	WRAP(struct bpf_object *, NULL, name, parameters, arguments)
#define SYSTEM_CALL(name, parameters, arguments) WRAP(int, -1, name, parameters, arguments)

/* The Makefile reads the names from the next lines: one call, one line. */
// clang-format off
LIBBPF_CALL(bpf_link_create, (int program, int target, enum bpf_attach_type type, const struct bpf_link_create_opts *options), (program, target, type, options))
LIBBPF_CALL(bpf_link_detach, (int link), (link))
LIBBPF_CALL(bpf_link_get_fd_by_id, (__u32 id), (id))
LIBBPF_CALL(bpf_link_update, (int link, int program, const struct bpf_link_update_opts *options), (link, program, options))
LIBBPF_CALL(bpf_map__reuse_fd, (struct bpf_map *map, int fd), (map, fd))
LIBBPF_CALL(bpf_map_create, (enum bpf_map_type type, const char *name, __u32 key, __u32 value, __u32 entries, const struct bpf_map_create_opts *options), (type, name, key, value, entries, options))
LIBBPF_CALL(bpf_map_lookup_elem, (int fd, const void *key, void *value), (fd, key, value))
LIBBPF_CALL(bpf_map_update_elem, (int fd, const void *key, const void *value, __u64 flags), (fd, key, value, flags))
LIBBPF_CALL(bpf_obj_get, (const char *path), (path))
LIBBPF_CALL(bpf_obj_get_info_by_fd, (int fd, void *info, __u32 *size), (fd, info, size))
LIBBPF_CALL(bpf_obj_pin, (int fd, const char *path), (fd, path))
LIBBPF_CALL(bpf_object__load, (struct bpf_object *object), (object))
OBJECT_CALL(bpf_object__open_mem, (const void *elf, size_t size, const struct bpf_object_open_opts *options), (elf, size, options))
LIBBPF_CALL(bpf_prog_bind_map, (int program, int map, const struct bpf_prog_bind_opts *options), (program, map, options))
LIBBPF_CALL(bpf_prog_get_fd_by_id, (__u32 id), (id))
LIBBPF_CALL(bpf_prog_load, (enum bpf_prog_type type, const char *name, const char *license, const struct bpf_insn *code, size_t count, const struct bpf_prog_load_opts *options), (type, name, license, code, count, options))
LIBBPF_CALL(bpf_xdp_attach, (int ifindex, int program, __u32 flags, const struct bpf_xdp_attach_opts *options), (ifindex, program, flags, options))
LIBBPF_CALL(bpf_xdp_detach, (int ifindex, __u32 flags, const struct bpf_xdp_attach_opts *options), (ifindex, flags, options))
LIBBPF_CALL(bpf_xdp_query, (int ifindex, int flags, struct bpf_xdp_query_opts *options), (ifindex, flags, options))
SYSTEM_CALL(flock, (int fd, int operation), (fd, operation))
SYSTEM_CALL(mkdir, (const char *path, mode_t mode), (path, mode))
SYSTEM_CALL(rename, (const char *from, const char *to), (from, to))
SYSTEM_CALL(rmdir, (const char *path), (path))
SYSTEM_CALL(unlinkat, (int directory, const char *path, int flags), (directory, path, flags))
