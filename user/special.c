// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From lists and limits to the sentences about default gateways and own addresses. */
#include "special.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compile_lists.h"
#include "prefix.h"

#define LOSS "ICMP errors and, where it is also the resolver or an SSH jump host, its traffic"

int specials_add(struct specials *specials, const struct special *special)
{
	for (size_t i = 0; i < specials->count; i++)
		if (!memcmp(&specials->list[i], special, sizeof(*special)))
			return 0;
	if (specials->count == specials->capacity) {
		size_t capacity = specials->capacity ? specials->capacity * 2 : 8;
		void *list = reallocarray(specials->list, capacity, sizeof(*specials->list));

		if (!list)
			return -ENOMEM;
		specials->list = list;
		specials->capacity = capacity;
	}
	specials->list[specials->count++] = *special;
	return 0;
}

void specials_free(struct specials *specials)
{
	free(specials->list);
	*specials = (struct specials){0};
}

/* ---- what a policy does to a source ---- */

enum fate_kind {
	FATE_FREE,
	FATE_ALLOWED,
	FATE_DENIED,
	FATE_BLOCKED,
	FATE_LIMITED,
};

struct fate {
	enum fate_kind kind;
	const struct policy_prefix *entry; /* FATE_DENIED: of the deny list */
	const struct policy_tier *tier;	   /* NULL: none */
	const struct policy_limit *limit;  /* FATE_BLOCKED: the one that blocks */
};

static unsigned int bits_of(const struct policy_prefix *prefix)
{
	return full_length(&prefix->address, prefix->length);
}

static const struct policy_prefix *longest(const struct policy_prefixes *prefixes,
					   const struct address *address)
{
	const struct policy_prefix whole = {*address, address_is_ipv4(address) ? 32 : 128};
	const struct prefix_key source = prefix_key_of(&whole);
	const struct policy_prefix *found = NULL;

	for (size_t i = 0; i < prefixes->count; i++) {
		const struct prefix_key key = prefix_key_of(&prefixes->prefixes[i]);

		if (prefix_covers(&key, &source) &&
		    (!found || bits_of(&prefixes->prefixes[i]) > bits_of(found)))
			found = &prefixes->prefixes[i];
	}
	return found;
}

static struct fate fate_by_lists(const struct policy *policy, const struct address *address)
{
	const struct policy_prefix *allow = longest(&policy->allow, address);
	const struct policy_prefix *deny = longest(&policy->deny, address);

	if (deny && (!allow || bits_of(deny) >= bits_of(allow)))
		return (struct fate){.kind = FATE_DENIED, .entry = deny};
	return (struct fate){.kind = allow ? FATE_ALLOWED : FATE_FREE};
}

static const struct policy_tier *tier_of(const struct policy *policy, const struct address *address)
{
	const struct policy_tier *found = NULL;
	unsigned int bits = 0;

	for (unsigned int i = 0; i < policy->tier_count; i++) {
		const struct policy_prefix *prefix = longest(&policy->tiers[i].sources, address);

		if (prefix && (!found || bits_of(prefix) > bits)) {
			found = &policy->tiers[i];
			bits = bits_of(prefix);
		}
	}
	return found;
}

static bool has_family(const struct policy_match *match, bool ipv4)
{
	const struct prefix_list *list = &match->destinations;

	if (match->family && (match->family == 4) != ipv4)
		return false;
	for (unsigned int i = 0; i < list->count; i++)
		if (address_is_ipv4(&list->prefixes[i].address) == ipv4)
			return true;
	return !list->count;
}

static bool has_protocol(const struct range_list *protocols, unsigned int protocol)
{
	for (unsigned int i = 0; i < protocols->count; i++)
		if (protocol >= protocols->ranges[i].first && protocol <= protocols->ranges[i].last)
			return true;
	return !protocols->count;
}

/* Blocking one service is common and no harm to a gateway; blocking what routers send is. */
static bool meets_icmp(const struct policy_match *match, bool ipv4)
{
	return !match->source_ports.count && !match->destination_ports.count &&
	       !match->flags_mask &&
	       has_protocol(&match->protocols, ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

static enum fate_kind fate_by_limit(const struct policy_limit *limit, bool ipv4, int tier)
{
	bool own = tier >= 0 && limit->tiers[tier].given;
	enum limit_kind kind = own ? limit->tiers[tier].rate.kind : limit->rate.kind;

	if (limit->observe || kind == LIMIT_UNLIMITED || !has_family(&limit->match, ipv4))
		return FATE_FREE;
	if (kind == LIMIT_BLOCK && (own || meets_icmp(&limit->match, ipv4)))
		return FATE_BLOCKED;
	return FATE_LIMITED;
}

static struct fate fate_of(const struct policy *policy, const struct address *address)
{
	struct fate fate = fate_by_lists(policy, address);
	int tier;

	if (fate.kind != FATE_FREE)
		return fate;
	fate.tier = tier_of(policy, address);
	tier = fate.tier ? (int)(fate.tier - policy->tiers) : -1;
	for (unsigned int i = 0; i < policy->limit_count && fate.kind != FATE_BLOCKED; i++) {
		enum fate_kind kind = fate_by_limit(&policy->limits[i], address_is_ipv4(address),
						    tier);

		if (kind == FATE_FREE)
			continue;
		fate.kind = kind;
		fate.limit = &policy->limits[i];
	}
	return fate;
}

/* ---- sentences ---- */

/* " (PREFIX)" when the entry is more than the address: which line of a long list it is. */
static void format_entry(const struct policy_prefix *entry, char text[ADDRESS_TEXT_SIZE + 3])
{
	char prefix[ADDRESS_TEXT_SIZE];

	text[0] = '\0';
	if (is_whole(entry))
		return;
	format_prefix(entry, prefix);
	snprintf(text, ADDRESS_TEXT_SIZE + 3, " (%s)", prefix);
}

static void warn_denied(const struct policy *policy, const char *gateway, const struct fate *fate,
			special_say *warn)
{
	const char *will = policy->dry_run ? "would" : "will";
	char entry[ADDRESS_TEXT_SIZE + 3];

	format_entry(fate->entry, entry);
	/* Against an entry of the same length an allow loses. */
	if (is_whole(fate->entry))
		warn("the default gateway %s is on the deny list: " LOSS
		     " %s be dropped; take it off the list",
		     gateway, will);
	else
		warn("the default gateway %s is on the deny list%s: " LOSS
		     " %s be dropped; allow it: `allow: [%s]`",
		     gateway, entry, will, gateway);
}

static void warn_blocked(const struct policy *policy, const char *gateway, const struct fate *fate,
			 special_say *warn)
{
	const char *will = policy->dry_run ? "would" : "will";

	if (fate->tier)
		warn("the default gateway %s is in the tier '%s', which the limit '%s' blocks: " LOSS
		     " %s be dropped; allow it: `allow: [%s]`",
		     gateway, fate->tier->name, fate->limit->name, will, gateway);
	else
		warn("the default gateway %s is blocked by the limit '%s' like any other source: " LOSS
		     " %s be dropped; allow it: `allow: [%s]`",
		     gateway, fate->limit->name, will, gateway);
}

static void warn_gateway(const struct policy *policy, const struct address *address,
			 special_say *warn)
{
	struct fate fate = fate_of(policy, address);
	char text[ADDRESS_TEXT_SIZE];

	format_address(address, text);
	if (fate.kind == FATE_DENIED)
		warn_denied(policy, text, &fate, warn);
	else if (fate.kind == FATE_BLOCKED)
		warn_blocked(policy, text, &fate, warn);
}

/* Own addresses that have something in common: one sentence, however many an interface has. */
struct own_addresses {
	const struct address *first;
	size_t count;
};

static void count_own(struct own_addresses *own, const struct special *special)
{
	if (!own->count++)
		own->first = &special->address;
}

static void say_own(const struct own_addresses *own, const char *list, const char *meaning,
		    special_say *say)
{
	char text[ADDRESS_TEXT_SIZE], more[32] = "";

	if (!own->count)
		return;
	format_address(own->first, text);
	if (own->count > 1)
		snprintf(more, sizeof(more), " and %zu more", own->count - 1);
	say("%s%s %s and on the %s list: %s", text, more,
	    own->count > 1 ? "are this host's own addresses" : "is this host's own address", list,
	    meaning);
}

static const char *allowed_meaning(const struct own_addresses *own)
{
	return own->count > 1 ? "whoever forges one passes every limit"
			      : "whoever forges it passes every limit";
}

void warn_specials(const struct policy *policy, const struct specials *specials, special_say *warn)
{
	struct own_addresses allowed = {0};

	for (size_t i = 0; i < specials->count; i++) {
		const struct special *special = &specials->list[i];

		if (special->kind == SPECIAL_GATEWAY)
			warn_gateway(policy, &special->address, warn);
		else if (fate_by_lists(policy, &special->address).kind == FATE_ALLOWED)
			count_own(&allowed, special);
	}
	say_own(&allowed, "allow", allowed_meaning(&allowed), warn);
}

static void note_gateway(const struct policy *policy, const struct address *address,
			 const char *interface, special_say *note)
{
	struct fate fate = fate_of(policy, address);
	char text[ADDRESS_TEXT_SIZE], tier[NAME_SIZE + 20] = "";

	if (fate.kind != FATE_LIMITED)
		return;
	format_address(address, text);
	if (fate.tier)
		snprintf(tier, sizeof(tier), " of the tier '%s'", fate.tier->name);
	note("the default gateway %s is limited like any other source%s; `allow: [%s]` or "
	     "`xdp-limit allow %s add %s` exempts it",
	     text, tier, text, interface, text);
}

void note_specials(const struct policy *policy, const struct specials *specials,
		   const char *interface, special_say *note)
{
	for (size_t i = 0; i < specials->count; i++)
		if (specials->list[i].kind == SPECIAL_GATEWAY)
			note_gateway(policy, &specials->list[i].address, interface, note);
}

/* ---- live lists ---- */

static void warn_live_gateway(const struct live_change *change, const struct address *address,
			      const struct policy_prefix *prefix, special_say *warn)
{
	/* Nothing stands against a ban, and against an entry of the same length an allow loses. */
	bool undo = change->list == LIVE_BAN || is_whole(prefix);
	char text[ADDRESS_TEXT_SIZE], listed[ADDRESS_TEXT_SIZE], entry[ADDRESS_TEXT_SIZE + 3];

	format_address(address, text);
	format_prefix(prefix, listed);
	format_entry(prefix, entry);
	warn("the default gateway %s is on the %s list%s: " LOSS
	     " %s be dropped; %s: `xdp-limit %s %s %s %s`",
	     text, change->verb, entry, change->dry_run ? "would" : "will",
	     undo ? "take it off" : "allow it", undo ? change->verb : "allow", change->interface,
	     undo ? "del" : "add", undo ? listed : text);
}

void remark_specials(const struct live_change *change, const struct specials *specials,
		     special_say *warn, special_say *note)
{
	bool allows = change->list == LIVE_ALLOW;
	struct own_addresses own = {0};

	for (size_t i = 0; i < specials->count; i++) {
		const struct special *special = &specials->list[i];
		const struct policy_prefix *prefix = longest(change->prefixes, &special->address);

		if (!prefix)
			continue;
		if (special->kind == SPECIAL_OWN)
			count_own(&own, special);
		else if (!allows)
			warn_live_gateway(change, &special->address, prefix, warn);
	}
	if (allows)
		say_own(&own, change->verb, allowed_meaning(&own), warn);
	else
		say_own(&own, change->verb,
			"harmless, as only forged or looped packets come from there, but probably a "
			"mistake",
			note);
}
