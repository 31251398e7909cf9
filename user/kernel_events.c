// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Listens to what the program tells: a place among the readers, a ring, and a lease that is renewed. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "kernel.h"
#include "units.h"

/* A reader that is gone is listened for no longer than that. */
#define LEASE_NS (5 * NS_PER_SECOND)
#define RENEW_NS NS_PER_SECOND

#define RING_SIZE	 (256U * 1024)
#define RING_SIZE_SAMPLE (1024U * 1024)
#define PAGE		 4096UL

struct events {
	struct listening *listening; /* shared with the program and other readers */
	int rings;		     /* the map of all readers' */
	int ring;
	struct ring_buffer *buffer;
	uint32_t place;
	uint64_t until_ns; /* as this reader wrote it last */
	struct event_request request;
	struct events_lost before; /* when it began */
	uint32_t map_id;	   /* of `listening` */
	event_visit *visit;	   /* of the round under way */
	void *context;
	int result;
};

static uint64_t load(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static bool swap(__u64 *word, uint64_t from, uint64_t to)
{
	__u64 seen = from;

	return __atomic_compare_exchange_n(word, &seen, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* ---- what all readers want together ---- */

/* Made of the readers alone, so it does no harm when two make it at once. */
static void sum_up(struct listening *listening, uint64_t now)
{
	uint32_t kinds = 0, sample_every = 0;
	uint64_t until = 0;

	for (int i = 0; i < EVENT_READERS; i++) {
		const struct event_reader *reader = &listening->readers[i];
		uint64_t ends = load(&reader->until_ns);

		if (ends <= now)
			continue;
		until = ends > until ? ends : until;
		kinds |= reader->kinds;
		sample_every = reader->sample_every ?: sample_every;
	}
	__atomic_store_n(&listening->kinds, kinds, __ATOMIC_RELAXED);
	__atomic_store_n(&listening->sample_every, sample_every, __ATOMIC_RELAXED);
	__atomic_store_n(&listening->until_ns, until, __ATOMIC_RELEASE);
}

static bool samples_otherwise(const struct events *events, uint64_t now)
{
	for (int i = 0; i < EVENT_READERS; i++) {
		const struct event_reader *reader = &events->listening->readers[i];

		if (load(&reader->until_ns) > now && reader->sample_every &&
		    reader->sample_every != events->request.sample_every)
			return true;
	}
	return false;
}

/* ---- a place ---- */

static int claim_place(struct events *events, uint64_t now)
{
	for (uint32_t i = 0; i < EVENT_READERS; i++) {
		struct event_reader *reader = &events->listening->readers[i];
		uint64_t ends = load(&reader->until_ns);

		if (ends > now || !swap(&reader->until_ns, ends, now + LEASE_NS))
			continue;
		/* A dead reader's wishes end here; its ring is replaced. */
		__atomic_store_n(&reader->kinds, 0, __ATOMIC_RELEASE);
		events->place = i;
		events->until_ns = now + LEASE_NS;
		return 0;
	}
	return -EBUSY;
}

/*
 * The ring that was there stays open until no packet is in it: the kernel waits for that in the update or the
 * deletion, but before 6.8 (876673364161) it would free the ring first.
 */
static int open_present(const struct events *events)
{
	uint32_t id;

	if (bpf_map_lookup_elem(events->rings, &events->place, &id))
		return -1;
	return bpf_map_get_fd_by_id(id);
}

static int put_ring(const struct events *events)
{
	int present = open_present(events);
	int err = bpf_map_update_elem(events->rings, &events->place, &events->ring, BPF_ANY)
			  ? -errno
			  : 0;

	if (present >= 0)
		close(present);
	return err;
}

static int take_event(void *context, void *data, size_t size)
{
	struct events *events = context;
	const struct event *event = data;

	if (size < sizeof(*event) || size < sizeof(*event) + event->captured)
		return 0;
	events->result = events->visit(event, (const uint8_t *)(event + 1), events->context);
	return events->result;
}

static int make_ring(struct events *events)
{
	uint32_t size = events->request.sample_every ? RING_SIZE_SAMPLE : RING_SIZE;

	events->ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, size, NULL);
	if (events->ring < 0)
		return -errno;
	events->buffer = ring_buffer__new(events->ring, take_event, events, NULL);
	return events->buffer ? 0 : -errno;
}

/* What it wants comes last: then all is ready for it. */
static int take_place(struct events *events)
{
	uint64_t now = boot_clock_ns();
	struct event_reader *reader;
	int err = claim_place(events, now);

	if (err)
		return err;
	reader = &events->listening->readers[events->place];
	err = put_ring(events);
	if (err) {
		swap(&reader->until_ns, events->until_ns, 0);
		return err;
	}
	__atomic_store_n(&reader->sample_every, events->request.sample_every, __ATOMIC_RELAXED);
	__atomic_store_n(&reader->kinds, events->request.kinds, __ATOMIC_RELEASE);
	sum_up(events->listening, now);
	return 0;
}

static void leave_place(struct events *events)
{
	struct event_reader *reader = &events->listening->readers[events->place];
	uint64_t now = boot_clock_ns(), until = now + LEASE_NS;

	/* Renewed once more, or it may be another's by now. */
	if (!events->until_ns || !swap(&reader->until_ns, events->until_ns, until))
		return;
	__atomic_store_n(&reader->kinds, 0, __ATOMIC_RELEASE);
	bpf_map_delete_elem(events->rings, &events->place);
	__atomic_store_n(&reader->sample_every, 0, __ATOMIC_RELAXED);
	swap(&reader->until_ns, until, 0);
	sum_up(events->listening, now);
}

/* A reader that was stopped for long may find its place taken: then it takes another. */
static int renew(struct events *events)
{
	uint64_t now = boot_clock_ns();
	struct event_reader *reader = &events->listening->readers[events->place];

	if (now + LEASE_NS < events->until_ns + RENEW_NS)
		return 0;
	if (!swap(&reader->until_ns, events->until_ns, now + LEASE_NS))
		return take_place(events);
	events->until_ns = now + LEASE_NS;
	sum_up(events->listening, now);
	return 0;
}

/* ---- the door ---- */

static int read_lost(const struct events *events, const struct running *running,
		     struct events_lost *lost)
{
	struct counters counters;
	int err = read_raw_counters(running, &counters);

	for (int i = 0; i < EVENT_KERNEL_KINDS; i++)
		lost->capped[i] = events->request.kinds >> i & 1 ? counters.telling.capped[i] : 0;
	lost->overflowed = counters.telling.overflowed[events->place];
	return err;
}

int events_lost(const struct events *events, const struct running *running,
		struct events_lost *lost)
{
	int err = read_lost(events, running, lost);

	for (int i = 0; i < EVENT_KERNEL_KINDS; i++)
		lost->capped[i] -= events->before.capped[i];
	lost->overflowed -= events->before.overflowed;
	return err;
}

/* 0 when the kernel doesn't say. */
static uint32_t map_id(const struct running *running)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(running->maps[MAP_LISTENING], &info, &size) ? 0 : info.id;
}

bool events_are_of(const struct events *events, const struct running *running)
{
	return map_id(running) == events->map_id;
}

/* Its own descriptors: @running may be opened anew while it reads. */
static int prepare(const struct running *running, struct events *events)
{
	events->listening = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				 running->maps[MAP_LISTENING], 0);
	if (events->listening == MAP_FAILED) {
		events->listening = NULL;
		return -errno;
	}
	events->rings = fcntl(running->maps[MAP_RINGS], F_DUPFD_CLOEXEC, 0);
	if (events->rings < 0)
		return -errno;
	if (!events->request.sample_every)
		return 0;
	if (!running->config.load_bytes)
		return -ENOTSUP;
	return samples_otherwise(events, boot_clock_ns()) ? -EALREADY : 0;
}

int events_open(const struct running *running, const struct event_request *request,
		struct events **opened)
{
	struct events *events = calloc(1, sizeof(*events));
	int err;

	*opened = NULL;
	if (!events)
		return -ENOMEM;
	events->rings = events->ring = -1;
	events->request = *request;
	events->map_id = map_id(running);
	err = prepare(running, events) ?: make_ring(events) ?: take_place(events);
	err = err ?: read_lost(events, running, &events->before);
	if (err)
		events_close(events);
	else
		*opened = events;
	return err;
}

int events_poll(struct events *events, int timeout_ms, event_visit *visit, void *context)
{
	int count, err = renew(events);

	if (err)
		return err;
	events->visit = visit;
	events->context = context;
	events->result = 0;
	count = ring_buffer__poll(events->buffer, timeout_ms);
	return events->result < 0 ? events->result : count;
}

int events_fd(const struct events *events)
{
	return ring_buffer__epoll_fd(events->buffer);
}

void events_close(struct events *events)
{
	if (!events)
		return;
	if (events->listening) {
		leave_place(events);
		munmap(events->listening, PAGE);
	}
	ring_buffer__free(events->buffer);
	if (events->ring >= 0)
		close(events->ring);
	if (events->rings >= 0)
		close(events->rings);
	free(events);
}
