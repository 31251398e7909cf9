// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What all requests share: which interfaces are served, and what is remembered of them. */
#include "service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"

static struct known_interface *find_known(const struct service *service, const char *name)
{
	for (size_t i = 0; i < service->known_count; i++)
		if (!strcmp(service->known[i].name, name))
			return &service->known[i];
	return NULL;
}

static struct known_interface *add_known(struct service *service, const char *name)
{
	struct known_interface *known = find_known(service, name);

	if (known)
		return known;
	known = realloc(service->known, (service->known_count + 1) * sizeof(*known));
	if (!known)
		return NULL;
	service->known = known;
	known += service->known_count++;
	*known = (struct known_interface){0};
	strncpy(known->name, name, sizeof(known->name) - 1);
	return known;
}

int service_name(struct service *service, const char *name)
{
	struct known_interface *known = add_known(service, name);

	if (!known)
		return -ENOMEM;
	known->named = true;
	return 0;
}

/*
 * With an @err: without CAP_SYS_ADMIN nobody may look whose a foreign program is. Where a limiter was seen
 * or is expected, opening it says why it can't be read.
 */
static int note_attached(const struct netdev *netdev, int err, void *context)
{
	struct service *service = context;
	struct known_interface *known = find_known(service, netdev->name);

	if (!known && service->all && !err) {
		known = add_known(service, netdev->name);
		if (!known)
			return -ENOMEM;
	}
	if (known)
		known->attached = true;
	else if (service->all && err == -EPERM)
		service->unreadable = *netdev;
	return 0;
}

/* One that nobody named is forgotten with its device: it was deleted, or renamed. */
static void forget_gone(struct service *service)
{
	size_t left = 0;

	for (size_t i = 0; i < service->known_count; i++) {
		const struct known_interface *known = &service->known[i];

		if (known->named || known->attached || if_nametoindex(known->name))
			service->known[left++] = *known;
	}
	service->known_count = left;
}

int service_refresh(struct service *service)
{
	int err;

	service->unreadable.ifindex = 0;
	for (size_t i = 0; i < service->known_count; i++)
		service->known[i].attached = false;
	err = attached_visit(note_attached, service);
	if (!err)
		forget_gone(service);
	return err;
}

void service_free(struct service *service)
{
	feeds_free(&service->feeds);
	free(service->known);
}

/* ---- the interface of a request ---- */

static const char *only_one(const struct service *service, size_t *count)
{
	const char *name = NULL;

	*count = 0;
	for (size_t i = 0; i < service->known_count; i++)
		if (service->known[i].attached || !service->all) {
			name = service->known[i].name;
			++*count;
		}
	return name;
}

static void refuse_several(const struct service *service, struct http_answer *answer)
{
	struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < service->known_count; i++)
		if (service->known[i].attached || !service->all)
			json_object_array_add(list, json_object_new_string(service->known[i].name));
	json_put_text(object, "error",
		      "several interfaces are served; name one of them: interface=NAME");
	json_object_object_add(object, "interfaces", list);
	http_give_json(answer, 400, object);
}

/* The name to look at, or NULL and a refusal. */
static const char *choose(struct service *service, const char *interface,
			  struct http_answer *answer)
{
	int err = interface && service->all ? 0 : service_refresh(service);
	const char *name;
	size_t count;

	if (err) {
		http_refuse(answer, 503, "cannot read what is attached: %s%s", strerror(-err),
			    permission_hint(err));
		return NULL;
	}
	if (interface) {
		if (service->all || find_known(service, interface))
			return interface;
		http_refuse(answer, 404, "'%s' is not among the interfaces that are served",
			    interface);
		return NULL;
	}
	name = only_one(service, &count);
	if (count == 1)
		return name;
	if (count)
		refuse_several(service, answer);
	else
		http_refuse(answer, 404, "no limiter on any interface of this network namespace");
	return NULL;
}

static unsigned int code_of(enum exit_status status)
{
	switch (status) {
	case EXIT_USAGE:
		return 400;
	case EXIT_NOT_ATTACHED:
		return 404;
	default:
		return 503;
	}
}

bool service_open(struct service *service, const char *interface, bool locked,
		  struct target *target, struct http_answer *answer)
{
	const char *name = choose(service, interface, answer);
	enum exit_status status;
	struct complaint why;

	if (!name)
		return false;
	status = locked ? target_look_locked(name, 0, target, &why)
			: target_look(name, target, &why);
	if (status == EXIT_DONE)
		return true;
	http_refuse(answer, code_of(status), "%s", why.text);
	if (status == EXIT_BUSY)
		http_add_header(answer, "Retry-After", "1");
	return false;
}
