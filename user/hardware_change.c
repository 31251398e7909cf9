// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a driver did to its own settings while a program was attached. Some reset the card for it. */
#include "hardware_change.h"

#include <stdbool.h>

#define OFFSET(field) offsetof(struct netdev_hardware, field)

/* Numbers, with the command that sets them again. */
static const struct {
	const char *what;
	size_t offset;
	const char *command;
} numbers[] = {
	{"receive channels", OFFSET(rx_channels), "ethtool -L DEV rx N"},
	{"transmit channels", OFFSET(tx_channels), "ethtool -L DEV tx N"},
	{"combined channels", OFFSET(combined_channels), "ethtool -L DEV combined N"},
	{"frames of the receive ring", OFFSET(rx_ring), "ethtool -G DEV rx N"},
	{"ntuple rules", OFFSET(rules), "ethtool -N DEV ..."},
};

static const struct {
	const char *name;
	size_t offset;
	bool on_is_no_news; /* XDP on a veth brings GRO along */
} switches[] = {
	{"gro", OFFSET(gro), true},	   {"rx-gro-hw", OFFSET(gro_hw), false},
	{"lro", OFFSET(lro), false},	   {"rxvlan", OFFSET(rx_vlan), false},
	{"ntuple", OFFSET(ntuple), false},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(COUNT(numbers) + COUNT(switches) <= HARDWARE_CHANGES_MAX, "room for all");

static unsigned int number_of(const struct netdev_hardware *hardware, size_t offset)
{
	return *(const unsigned int *)((const char *)hardware + offset);
}

static bool switch_of(const struct netdev_hardware *hardware, size_t offset)
{
	return *((const char *)hardware + offset);
}

size_t hardware_changes(const struct netdev_hardware *before, const struct netdev_hardware *after,
			struct complaint changes[HARDWARE_CHANGES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT(numbers); i++) {
		unsigned int was = number_of(before, numbers[i].offset);
		unsigned int is = number_of(after, numbers[i].offset);

		if (was != is)
			complain(&changes[count++], 0, "%u %s, were %u (%s)", is, numbers[i].what,
				 was, numbers[i].command);
	}
	for (size_t i = 0; i < COUNT(switches); i++) {
		bool was = switch_of(before, switches[i].offset);
		bool is = switch_of(after, switches[i].offset);

		if (was != is && !(is && switches[i].on_is_no_news))
			complain(&changes[count++], 0, "%s is %s, was %s (ethtool -K DEV %s %s)",
				 switches[i].name, is ? "on" : "off", was ? "on" : "off",
				 switches[i].name, was ? "on" : "off");
	}
	return count;
}
