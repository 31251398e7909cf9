// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The C library for applications: the public structs, filled with what the commands know. */
#include "xdplimit.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "answer.h"
#include "lock.h"
#include "netns.h"
#include "prefix.h"
#include "summary.h"
#include "target.h"
#include "units.h"
#include "verdict.h"

struct xdplimit {
	struct target target;
	unsigned long long netns; /* netns_inode() */
	bool found;		  /* whether target.running is open */
	struct complaint why;
};

/* ---- what goes wrong ---- */

static const struct {
	int err;
	const char *text;
} errors[] = {
	{0, "done"},
	{-EAFNOSUPPORT, "the address is neither IPv4 nor IPv6"},
	{-EBUSY, "another command is changing this limiter; try again"},
	{-EINVAL, "an argument is not understood"},
	{-ENODEV, "there is no such interface"},
	{-ENOENT, "no limiter of xdp-limit runs on this interface"},
	{-ENOMEM, "no memory"},
	{-ENOSPC, "the list is full"},
	{-ENXIO, "it was not banned"},
	{-EPERM, "root is needed: the limiter's pins belong to it"},
	{-EPROTO, "the limiter is of another version than this library"},
	{-EXDEV, "the handle was opened in another network namespace"},
};

const char *xdplimit_strerror(int err)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].err == err)
			return errors[i].text;
	return "a system call failed";
}

const char *xdplimit_message(const struct xdplimit *limiter)
{
	return limiter->why.text;
}

/* What the leaf did not put into words. */
static int say(struct xdplimit *limiter, int err, const char *what)
{
	return complain(&limiter->why, err, "%s %s: %s", what, limiter->target.netdev.name,
			xdplimit_strerror(err));
}

/* ---- finding what runs ---- */

static void let_go(struct xdplimit *limiter)
{
	if (limiter->found)
		running_close(&limiter->target.running);
	limiter->found = false;
}

static int look(struct xdplimit *limiter)
{
	struct running *running = &limiter->target.running;
	bool settled;
	int err;

	let_go(limiter);
	err = running_open(limiter->target.netdev.ifindex, running)
		      ?: target_settle(&limiter->target, trial_settle_quietly, &settled);
	if (!err) {
		limiter->found = true;
		return 0;
	}
	running_close(running);
	return err == -ENODEV ? -ENOENT : err;
}

/*
 * Before each call: who asks a limiter that was replaced or has ended would be answered by what it was. One that
 * is attached over netlink is looked for anew.
 */
static int make_current(struct xdplimit *limiter)
{
	const struct target *target = &limiter->target;
	unsigned long long netns = 0;
	int err = netns_inode(&netns), current = 0;

	if (!err && netns != limiter->netns)
		err = -EXDEV;
	if (!err && limiter->found)
		current = attachment_is_current(&target->running.attachment);
	if (!err && current > 0 && trial_state(&target->running) != TRIAL_OVER)
		return 0;
	err = err ?: current < 0 ? current : look(limiter);
	return err ? say(limiter, err, "cannot look at") : 0;
}

static int open_on(const char *interface, struct xdplimit *limiter)
{
	int err = netns_inode(&limiter->netns)
			  ?: netdev_find(interface, &limiter->target.netdev, &limiter->why);

	if (err)
		return err;
	err = look(limiter);
	return err ? say(limiter, err, "cannot look at") : 0;
}

int xdplimit_open(const char *interface, struct xdplimit **limiter, char *message,
		  size_t message_size)
{
	struct xdplimit *opened = calloc(1, sizeof(*opened));
	int err = opened ? open_on(interface, opened) : -ENOMEM;

	*limiter = opened;
	if (!err)
		return 0;
	if (message)
		snprintf(message, message_size, "%s",
			 opened && *opened->why.text ? opened->why.text : xdplimit_strerror(err));
	xdplimit_close(opened);
	*limiter = NULL;
	return err;
}

void xdplimit_close(struct xdplimit *limiter)
{
	if (limiter)
		let_go(limiter);
	free(limiter);
}

/* ---- structs that grow ---- */

/* As much of @ours as the caller knows; what it knows beyond that is zero. */
static int hand_over(struct xdplimit *limiter, void *theirs, const void *ours, size_t ours_size)
{
	size_t size;

	memcpy(&size, theirs, sizeof(size));
	if (size <= sizeof(size))
		return complain(&limiter->why, -EINVAL,
				"the struct's size is not set: begin with XDPLIMIT_ANSWER or "
				"XDPLIMIT_STATUS");
	memset((char *)theirs + sizeof(size), 0, size - sizeof(size));
	if (ours_size > size)
		ours_size = size;
	memcpy((char *)theirs + sizeof(size), (const char *)ours + sizeof(size),
	       ours_size - sizeof(size));
	return 0;
}

/* ---- get ---- */

/* answer.c counts a ban's rest; a time of the wall clock outlives the call. */
static double banned_until(const struct answer *found)
{
	if (found->ban_seconds < 0)
		return INFINITY;
	return found->ban_seconds > 0 ? (double)time(NULL) + found->ban_seconds : 0;
}

static void fill_limit(const struct answer *found, int index, struct xdplimit_answer *answer)
{
	const struct limit_label *label = answer_label(found, index);

	snprintf(answer->limit_name, sizeof(answer->limit_name), "%s", label->name);
	answer->unit = found->config->limits[index].unit == UNIT_BYTES ? XDPLIMIT_BYTES
								       : XDPLIMIT_PACKETS;
	answer->limit = label->burst;
	answer->remaining = found->states[index].remaining;
	answer->reset_seconds = found->states[index].reset_seconds;
}

static void fill_answer(const struct answer *found, struct xdplimit_answer *answer)
{
	struct verdict verdict;

	verdict_of(found, -1, &verdict);
	*answer = (struct xdplimit_answer){
		.allowed = !verdict.refused,
		.remaining = verdict.refused ? 0 : UINT64_MAX,
		.retry_after_seconds = verdict.retry_after_seconds,
		.banned_until = banned_until(found),
	};
	snprintf(answer->source, sizeof(answer->source), "%s", found->source);
	if (verdict.limit >= 0)
		fill_limit(found, verdict.limit, answer);
}

static int get(struct xdplimit *limiter, const struct address *address,
	       struct xdplimit_answer *answer)
{
	struct xdplimit_answer filled;
	struct answer found;
	int err = make_current(limiter);

	if (err)
		return err;
	err = answer_read(&limiter->target.running, address, &found);
	if (err)
		return say(limiter, err, "cannot read the buckets of");
	fill_answer(&found, &filled);
	return hand_over(limiter, answer, &filled, sizeof(filled));
}

int xdplimit_get(struct xdplimit *limiter, const char *address, struct xdplimit_answer *answer)
{
	struct address parsed;

	return parse_address(address, &parsed, &limiter->why) ?: get(limiter, &parsed, answer);
}

int xdplimit_get_sockaddr(struct xdplimit *limiter, const struct sockaddr *address,
			  struct xdplimit_answer *answer)
{
	struct address taken = {.bytes = {[10] = 0xff, [11] = 0xff}};
	struct sockaddr_in6 ipv6;
	struct sockaddr_in ipv4;

	if (address->sa_family == AF_INET) {
		memcpy(&ipv4, address, sizeof(ipv4));
		memcpy(taken.bytes + 12, &ipv4.sin_addr, sizeof(ipv4.sin_addr));
	} else if (address->sa_family == AF_INET6) {
		memcpy(&ipv6, address, sizeof(ipv6));
		memcpy(taken.bytes, &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
	} else {
		return complain(&limiter->why, -EAFNOSUPPORT,
				"an address of family %d is neither IPv4 nor IPv6",
				address->sa_family);
	}
	return get(limiter, &taken, answer);
}

/* ---- ban ---- */

/* When a ban of @seconds ends; -EINVAL for a time that is none. */
static int ban_end(double seconds, uint64_t *until_ns)
{
	if (!(seconds > 0))
		return -EINVAL;
	*until_ns = seconds < 1e10 ? boot_clock_ns() + (uint64_t)(seconds * NS_PER_SECOND)
				   : FOREVER;
	return 0;
}

/* The locks of the interface and of the table that it shares; -1 for none. */
struct locks {
	int interface, table;
};

static void unlock(const struct locks *locks)
{
	if (locks->table >= 0)
		close(locks->table);
	close(locks->interface);
}

static int lock_shared_table(struct xdplimit *limiter, struct locks *locks)
{
	const char *name = limiter->target.running.table.shared_name;

	if (!name[0])
		return 0;
	locks->table = lock_take_table(name, 0, &limiter->why);
	return locks->table < 0 ? locks->table : 0;
}

/* The locks are taken first: what was found before may have been replaced. */
static int lock_current(struct xdplimit *limiter, struct locks *locks)
{
	const struct netdev *netdev = &limiter->target.netdev;
	int err = make_current(limiter);

	if (err)
		return err;
	locks->table = -1;
	locks->interface = lock_take(netdev->ifindex, netdev->name, 0, &limiter->why);
	if (locks->interface < 0)
		return locks->interface;
	err = make_current(limiter) ?: lock_shared_table(limiter, locks) ?: make_current(limiter);
	if (err)
		unlock(locks);
	return err;
}

int xdplimit_ban(struct xdplimit *limiter, const char *prefix, double seconds)
{
	struct policy_prefix parsed;
	struct locks locks;
	uint64_t until_ns;
	int err = parse_prefix(prefix, &parsed, &limiter->why);

	if (err)
		return err;
	if (ban_end(seconds, &until_ns))
		return complain(&limiter->why, -EINVAL,
				"a ban of %g s would end at once; INFINITY is for ever", seconds);
	err = lock_current(limiter, &locks);
	if (err)
		return err;
	err = live_add(&limiter->target.running, LIVE_BAN, &parsed, 1, until_ns, &limiter->why);
	unlock(&locks);
	return err;
}

int xdplimit_unban(struct xdplimit *limiter, const char *prefix)
{
	struct policy_prefix parsed;
	struct locks locks;
	int64_t deleted;
	int err = parse_prefix(prefix, &parsed, &limiter->why);

	err = err ?: lock_current(limiter, &locks);
	if (err)
		return err;
	deleted = live_delete(&limiter->target.running, LIVE_BAN, &parsed, 1);
	unlock(&locks);
	if (deleted < 0)
		return say(limiter, (int)deleted, "cannot change the live lists of");
	return deleted ? 0 : complain(&limiter->why, -ENXIO, "%s was not banned", prefix);
}

/* ---- status ---- */

static void fill_status(const struct target *target, const struct counters *counters,
			struct xdplimit_status *status)
{
	const struct running *running = &target->running;
	struct totals totals;

	counter_totals(counters, &totals);
	*status = (struct xdplimit_status){
		.ifindex = target->netdev.ifindex,
		.program_id = running->attachment.program_id,
		.generic = running->attachment.mode == MODE_GENERIC,
		.dry_run = running->config.dry_run,
		.gate_closed = gate_is_closed(running),
		.limits = (int32_t)running->config.limit_count,
		.attached_at = (double)running->config.attached_ns / NS_PER_SECOND,
		.passed_packets = totals.passed.packets,
		.passed_bytes = totals.passed.bytes,
		.dropped_packets = totals.dropped.packets,
		.dropped_bytes = totals.dropped.bytes,
		.would_drop_packets = totals.would_drop_packets,
	};
	snprintf(status->interface, sizeof(status->interface), "%s", target->netdev.name);
}

int xdplimit_status(struct xdplimit *limiter, struct xdplimit_status *status)
{
	struct xdplimit_status filled;
	struct counters counters;
	int err = make_current(limiter);

	if (err)
		return err;
	err = read_counters(&limiter->target.running, &counters);
	if (err)
		return say(limiter, err, "cannot read the counters of");
	fill_status(&limiter->target, &counters, &filled);
	return hand_over(limiter, status, &filled, sizeof(filled));
}
