// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which interfaces share one table, and so get one policy together. */
#include "shared_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lock.h"
#include "policy_file.h"
#include "target.h"

int check_shared_name(const char *name, struct complaint *why)
{
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) || name[length] == '-' || name[length] == '_')
		length++;
	if (length && length < SHARED_NAME_SIZE && !name[length])
		return 0;
	return complain(why, -EINVAL,
			"--share-table '%s': a name is 1 to %d letters, digits, - and _", name,
			SHARED_NAME_SIZE - 1);
}

/* ---- who has the table ---- */

struct search {
	const char *name;
	struct members *members;
};

static int add_member(struct members *members, const struct netdev *netdev,
		      const struct running *running)
{
	if (members->count == TARGETS_MAX)
		return -E2BIG;
	members->list[members->count] = (struct attach_target){
		.netdev = *netdev,
		.generic = running->attachment.mode == MODE_GENERIC,
	};
	members->generation[members->count] = running->config.generation;
	members->made_ns[members->count] = running->table.made_ns;
	members->count++;
	return 0;
}

static int note_member(const struct netdev *netdev, int err, void *context)
{
	struct search *search = context;
	struct running running;

	/* What has no pins of ours, and can't be opened without: whoever's it is, no change reaches it. */
	if (err == -EPERM && !pins_exist(netdev->ifindex))
		return 0;
	if (err)
		return err;
	err = running_open(netdev->ifindex, &running);
	if (!err && !strcmp(running.table.shared_name, search->name))
		err = add_member(search->members, netdev, &running);
	running_close(&running);
	/* Gone meanwhile, or of another ABI: no member. */
	return err == -ENOENT || err == -ENODEV || err == -EPROTO ? 0 : err;
}

int members_find(const char *name, struct members *members)
{
	struct search search = {name, members};

	members->count = 0;
	return attached_visit(note_member, &search);
}

static bool is_among(const struct netdev *netdev, const struct attach_target *targets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (targets[i].netdev.ifindex == netdev->ifindex)
			return true;
	return false;
}

/* ---- which table is meant ---- */

/* The name of the table that @netdev shares; empty for its own; false when no limiter of ours is there. */
static bool shares_already(const struct netdev *netdev, char name[SHARED_NAME_SIZE])
{
	struct running running;
	bool ours = !running_open(netdev->ifindex, &running);

	name[0] = '\0';
	if (ours)
		snprintf(name, SHARED_NAME_SIZE, "%s", running.table.shared_name);
	running_close(&running);
	return ours;
}

/* Without --share-table what is shared stays shared, if that is the same for all. */
static int find_name(const struct attach_request *request, char name[SHARED_NAME_SIZE],
		     struct complaint *why)
{
	char other[SHARED_NAME_SIZE];

	shares_already(&request->targets[0].netdev, name);
	for (size_t i = 1; i < request->count; i++) {
		shares_already(&request->targets[i].netdev, other);
		if (strcmp(name, other))
			return complain(
				why, -EINVAL,
				"%s and %s don't share one table: name it with --share-table, or "
				"attach them one after the other",
				request->targets[0].netdev.name, request->targets[i].netdev.name);
	}
	return 0;
}

static int refuse_others(const struct attach_request *request, struct complaint *why)
{
	char name[SHARED_NAME_SIZE];

	for (size_t i = 0; i < request->count; i++) {
		const char *device = request->targets[i].netdev.name;

		if (!shares_already(&request->targets[i].netdev, name) ||
		    !strcmp(name, request->shared_name))
			continue;
		return complain(why, -EBUSY,
				"%s has %s%s; to let it share the table %s: xdp-limit detach %s, "
				"then attach it again",
				device, name[0] ? "the shared table " : "a table of its own", name,
				request->shared_name, device);
	}
	return 0;
}

/* ---- one policy for all ---- */

static int runs_policy(const struct netdev *netdev, const char *text, bool *same)
{
	struct running running;
	char *there = NULL;
	int err = running_open(netdev->ifindex, &running);

	err = err ?: read_policy_text(&running, &there);
	if (!err) {
		*same = !strcmp(text, there);
		free(there);
	}
	running_close(&running);
	return err;
}

/* Who joins brings no policy of its own. */
static int compare_policies(const struct attach_request *request, const struct members *members,
			    struct complaint *why)
{
	char *text;
	size_t size;
	bool same = true;
	int err = policy_to_text(request->policy, &text, &size);

	for (size_t i = 0; i < members->count && !err && same; i++)
		err = runs_policy(&members->list[i].netdev, text, &same);
	free(text);
	if (err)
		return complain(why, err, "cannot read the policy of the shared table %s: %s%s",
				request->shared_name, strerror(-err), permission_hint(err));
	if (same)
		return 0;
	return complain(
		why, -EEXIST,
		"the shared table %s has another policy (xdp-limit show %s): attach %s with that "
		"one, or change it for all first: xdp-limit apply %s FILE",
		request->shared_name, members->list[0].netdev.name, request->targets[0].netdev.name,
		members->list[0].netdev.name);
}

static int add_members(struct attach_request *request, const struct members *members,
		       struct complaint *why)
{
	for (size_t i = 0; i < members->count; i++) {
		if (is_among(&members->list[i].netdev, request->targets, request->count))
			continue;
		if (request->count == TARGETS_MAX)
			return complain(why, -E2BIG, "more than %d interfaces on the table %s",
					TARGETS_MAX, request->shared_name);
		request->targets[request->count++] = members->list[i];
	}
	return 0;
}

static bool any_member(const struct attach_request *request, const struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		if (is_among(&members->list[i].netdev, request->targets, request->count))
			return true;
	return false;
}

static int gather(struct attach_request *request, struct complaint *why)
{
	struct members members;
	int err = members_find(request->shared_name, &members);

	if (err)
		return complain(why, err, "cannot find who shares the table %s: %s%s",
				request->shared_name, strerror(-err), permission_hint(err));
	if (any_member(request, &members) || request->recreate)
		return add_members(request, &members, why);
	if (!members.count)
		return 0;
	if (members.count + request->count > TARGETS_MAX)
		return complain(
			why, -E2BIG,
			"%zu interfaces share the table %s, and with %zu more they would be "
			"more than %d, which is as many as can be changed at once",
			members.count, request->shared_name, request->count, TARGETS_MAX);
	request->joins = true;
	request->donor = members.list[0].netdev.ifindex;
	return compare_policies(request, &members, why);
}

int share_table(struct attach_request *request, uint64_t wait_ns, struct complaint *why)
{
	static char name[SHARED_NAME_SIZE];
	int err;

	if (!request->shared_name) {
		err = find_name(request, name, why);
		if (err || !name[0])
			return err;
		request->shared_name = name;
	}
	if (request->confirm_ns)
		return complain(
			why, -ENOTSUP,
			"--confirm can't put a shared table on trial: its interfaces could go "
			"back one by one only");
	err = lock_table(request->shared_name, wait_ns, why);
	err = err ?: refuse_others(request, why);
	return err ?: gather(request, why);
}
