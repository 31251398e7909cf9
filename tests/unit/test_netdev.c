// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What can be known about interfaces without root: the loopback, unknown names, waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hardware_change.h"
#include "netdev.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void loopback_is_found(void **state)
{
	struct netdev netdev;
	struct complaint why;

	(void)state;
	memset(&netdev, 0xff, sizeof(netdev));
	assert_int_equal(netdev_find("lo", &netdev, &why), 0);
	assert_int_equal(netdev.ifindex, if_nametoindex("lo"));
	assert_string_equal(netdev.name, "lo");
	assert_int_equal(netdev.type, ARPHRD_LOOPBACK);
	assert_string_equal(netdev.kind, "");
	assert_string_equal(netdev.master_kind, "");
	assert_string_equal(netdev.master, "");
	assert_in_range(netdev.mtu, 68, 65536);
	assert_in_range(netdev.rx_queues, 1, 4096);
	assert_in_range(netdev.tx_queues, 1, 4096);
}

static void list_is_what_if_nameindex_lists(void **state)
{
	struct if_nameindex *names = if_nameindex();
	struct netdev *list = NULL;
	int count = netdev_list(&list);
	int i;

	(void)state;
	assert_non_null(names);
	assert_true(count > 0);
	for (i = 0; i < count; i++) {
		assert_int_equal(list[i].ifindex, names[i].if_index);
		assert_string_equal(list[i].name, names[i].if_name);
	}
	assert_int_equal(names[count].if_index, 0);
	free(list);
	if_freenameindex(names);
}

struct unknown_row {
	const char *test;
	const char *name;
	const char *says;
};

static struct unknown_row unknown[] = {
	{"unknown interface: its name is quoted", "no-such-device", "'no-such-device'"},
	{"unknown interface: one letter too many names the nearest", "loo",
	 "cannot find interface 'loo'; did you mean 'lo'?"},
	{"unknown interface: a name with nothing in common suggests nothing", "zzzzzzzz",
	 "cannot find interface 'zzzzzzzz'; "},
	{"unknown interface: empty", "", "cannot find interface ''"},
	{"unknown interface: as long as an alternative name", "an-alternative-name-of-a-device",
	 "'an-alternative-name-of-a-device'"},
	{"unknown interface: longer than any name",
	 "a-name-that-is-longer-than-any-that-the-kernel-takes-even-for-alternative-names-"
	 "which-may-have-up-to-one-hundred-and-twenty-seven-letters",
	 "cannot find interface 'a-name-that"},
};

static void unknown_name_is_quoted(void **state)
{
	const struct unknown_row *row = *state;
	struct netdev netdev;
	struct complaint why;

	assert_int_equal(netdev_find(row->name, &netdev, &why), -ENODEV);
	if (!strstr(why.text, row->says))
		fail_msg("\"%s\" does not say \"%s\"", why.text, row->says);
}

struct nearest_row {
	const char *test;
	const char *name;
	const char *meant; /* of lo, eth0, eth1, wlp0s20f3 */
};

static struct nearest_row nearest[] = {
	{"nearest interface: two letters swapped", "eht0", "eth0"},
	{"nearest interface: swapped at the end", "et1h", "eth1"},
	{"nearest interface: a letter is missing", "eth", "eth0"},
	{"nearest interface: a letter too many", "eth11", "eth1"},
	{"nearest interface: two letters wrong in a long name", "wlp0s20e2", "wlp0s20f3"},
	{"nearest interface: three letters wrong", "wlp1s20e2", NULL},
	{"nearest interface: half of a short name wrong", "ab", NULL},
	{"nearest interface: one of two letters wrong", "l0", NULL},
	{"nearest interface: nothing in common", "zzzzzzzz", NULL},
	{"nearest interface: longer than any name", "eth0eth0eth0eth0eth0eth0", NULL},
};

static void nearest_name_is_meant(void **state)
{
	static const struct netdev list[] = {
		{.name = "lo"}, {.name = "eth0"}, {.name = "eth1"}, {.name = "wlp0s20f3"}};
	const struct nearest_row *row = *state;
	const struct netdev *meant = netdev_nearest(row->name, list, COUNT(list));

	assert_string_equal(meant ? meant->name : "none", row->meant ? row->meant : "none");
	assert_null(netdev_nearest(row->name, NULL, 0));
}

/* What a device is to a limiter: refused, or what it does not see; NULL for nothing to say. */
struct fit_row {
	const char *test;
	struct netdev netdev;
	const char *refusal, *remark;
};

#define ETHERNET .name = "dev0", .type = ARPHRD_ETHER

static struct fit_row fits[] = {
	{"fit: a card", {ETHERNET}, NULL, NULL},
	{"fit: the loopback", {.name = "lo", .type = ARPHRD_LOOPBACK}, NULL, NULL},
	{"fit: a veth", {ETHERNET, .kind = "veth"}, NULL, NULL},
	{"fit: a bond", {ETHERNET, .kind = "bond"}, NULL, NULL},
	{"fit: a tap", {ETHERNET, .kind = "tun"}, NULL, NULL},
	{"fit: a port of a bridge",
	 {ETHERNET, .master_kind = "bridge", .master = "br0"},
	 NULL,
	 NULL},
	{"fit: a member of a VRF", {ETHERNET, .master_kind = "vrf", .master = "red"}, NULL, NULL},
	{"fit: a member of a bond is refused (O-060)",
	 {ETHERNET, .master_kind = "bond", .master = "bond0"},
	 "attach to bond0",
	 NULL},
	{"fit: a tun is refused",
	 {.name = "dev0", .type = ARPHRD_NONE, .kind = "tun"},
	 "dev0 has no Ethernet header (link type 65534); make it a tap device",
	 NULL},
	{"fit: a WireGuard device is refused (O-063)",
	 {.name = "dev0", .type = ARPHRD_NONE, .kind = "wireguard"},
	 "the sources there are its peers",
	 NULL},
	{"fit: a GRE tunnel is refused (O-063)",
	 {.name = "dev0", .type = ARPHRD_IPGRE, .kind = "gre"},
	 "the ends of tunnels",
	 NULL},
	{"fit: PPP is refused",
	 {.name = "dev0", .type = ARPHRD_PPP, .kind = "ppp"},
	 "what is in PPPoE sessions is seen there",
	 NULL},
	{"fit: no Ethernet, of no known kind",
	 {.name = "dev0", .type = ARPHRD_INFINIBAND},
	 "link type 32); attach to the Ethernet device that carries its traffic",
	 NULL},
	{"fit: a bridge",
	 {ETHERNET, .kind = "bridge"},
	 NULL,
	 "dev0 sees only what is meant for this host"},
	{"fit: a VLAN",
	 {ETHERNET, .kind = "vlan", .lower = "eth0"},
	 NULL,
	 "dev0 sees its own VLAN only, without the tag; all of it comes by eth0"},
	{"fit: a macvlan", {ETHERNET, .kind = "macvlan", .lower = "eth0"}, NULL, "comes by eth0"},
	{"fit: a macvlan whose lower device is in another namespace",
	 {ETHERNET, .kind = "macvlan"},
	 NULL,
	 "dev0 sees only what is addressed to it"},
	{"fit: a VXLAN", {ETHERNET, .kind = "vxlan"}, NULL, "sources are the inner ones"},
	{"fit: an ifb", {ETHERNET, .kind = "ifb"}, "the interface that they came in by", NULL},
	{"fit: a port of a team",
	 {ETHERNET, .master_kind = "team", .master = "team0"},
	 NULL,
	 "attach to all ports with --share-table NAME"},
};

static void expect_text(bool said, const struct complaint *text, const char *wanted)
{
	if (said != !!wanted || (wanted && !strstr(text->text, wanted)))
		fail_msg("\"%s\", wanted \"%s\"", said ? text->text : "nothing",
			 wanted ? wanted : "nothing");
}

static void device_fits(void **state)
{
	const struct fit_row *row = *state;
	struct complaint refusal, remark;
	int err = netdev_refuses(&row->netdev, &refusal);

	expect_text(err, &refusal, row->refusal);
	if (err)
		assert_int_equal(err, -ENOTSUP);
	expect_text(netdev_remark(&row->netdev, &remark), &remark, row->remark);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void waiting_ends_at_the_deadline(void **state)
{
	uint64_t start = now_ns();
	uint64_t took;

	(void)state;
	assert_int_equal(netdev_wait("no-such-device", NS_PER_SECOND / 5), -ETIMEDOUT);
	took = now_ns() - start;
	assert_in_range(took, NS_PER_SECOND / 5, 5 * NS_PER_SECOND);
}

static void waiting_for_what_is_there_returns_at_once(void **state)
{
	uint64_t start = now_ns();

	(void)state;
	assert_int_equal(netdev_wait("lo", UINT64_MAX), 0);
	assert_int_equal(netdev_wait("lo", 0), 0);
	assert_int_equal(netdev_wait("no-such-device", 0), -ETIMEDOUT);
	assert_in_range(now_ns() - start, 0, 5 * NS_PER_SECOND);
}

static void loopback_has_fixed_features_and_no_channels(void **state)
{
	struct netdev_hardware hardware;

	(void)state;
	memset(&hardware, 0xff, sizeof(hardware));
	assert_int_equal(netdev_hardware("lo", &hardware), 0);
	assert_string_equal(hardware.driver, "");
	assert_int_equal(hardware.combined_channels, 0);
	assert_int_equal(hardware.combined_channels_max, 0);
	assert_int_equal(hardware.rx_ring, 0);
	assert_true(hardware.gro);
	assert_false(hardware.gro_fixed);
	assert_false(hardware.lro);
	assert_true(hardware.lro_fixed);
	assert_false(hardware.gro_hw);
	assert_true(hardware.gro_hw_fixed);
	assert_false(hardware.rx_vlan);
	assert_true(hardware.rx_vlan_fixed);
}

/* O-062: a driver that resets the card for XDP forgets rules and channels. */
static void changes_of_hardware_are_told(void **state)
{
	static const struct {
		struct netdev_hardware before, after;
		const char *says[3];
	} cases[] = {
		{{.combined_channels = 4, .lro = true},
		 {.combined_channels = 4, .lro = true},
		 {NULL}},
		{{.rules = 5}, {.rules = 0}, {"0 ntuple rules, were 5 (ethtool -N DEV ...)"}},
		{{.combined_channels = 8, .rx_ring = 512},
		 {.combined_channels = 4, .rx_ring = 256},
		 {"4 combined channels, were 8 (ethtool -L DEV combined N)",
		  "256 frames of the receive ring, were 512 (ethtool -G DEV rx N)"}},
		{{.lro = true, .ntuple = true, .rx_vlan = true},
		 {.rx_vlan = true},
		 {"lro is off, was on (ethtool -K DEV lro on)",
		  "ntuple is off, was on (ethtool -K DEV ntuple on)"}},
		{{.rx_vlan = false},
		 {.rx_vlan = true},
		 {"rxvlan is on, was off (ethtool -K DEV rxvlan off)"}},
		{{.gro = false}, {.gro = true}, {NULL}}, /* a veth does that, on purpose */
		{{.gro = true}, {.gro = false}, {"gro is off, was on (ethtool -K DEV gro on)"}},
	};
	struct complaint changes[HARDWARE_CHANGES_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t count = hardware_changes(&cases[i].before, &cases[i].after, changes);

		for (size_t j = 0; j < count; j++)
			assert_string_equal(changes[j].text, cases[i].says[j] ?: "nothing");
		assert_null(cases[i].says[count]);
	}
}

static void hardware_of_an_unknown_name_is_enodev(void **state)
{
	struct netdev_hardware hardware;

	(void)state;
	assert_int_equal(netdev_hardware("no-such-device", &hardware), -ENODEV);
	assert_int_equal(netdev_hardware("longer-than-a-name-may-be", &hardware), -ENODEV);
}

int main(void)
{
	struct CMUnitTest tests[6 + COUNT(unknown) + COUNT(nearest) + COUNT(fits)] = {
		cmocka_unit_test(loopback_is_found),
		cmocka_unit_test(list_is_what_if_nameindex_lists),
		cmocka_unit_test(waiting_ends_at_the_deadline),
		cmocka_unit_test(waiting_for_what_is_there_returns_at_once),
		cmocka_unit_test(loopback_has_fixed_features_and_no_channels),
		cmocka_unit_test(changes_of_hardware_are_told),
		cmocka_unit_test(hardware_of_an_unknown_name_is_enodev),
	};
	size_t n = 6, i;

	for (i = 0; i < COUNT(unknown); i++)
		tests[n++] = (struct CMUnitTest){.name = unknown[i].test,
						 .test_func = unknown_name_is_quoted,
						 .initial_state = &unknown[i]};
	for (i = 0; i < COUNT(nearest); i++)
		tests[n++] = (struct CMUnitTest){.name = nearest[i].test,
						 .test_func = nearest_name_is_meant,
						 .initial_state = &nearest[i]};
	for (i = 0; i < COUNT(fits); i++)
		tests[n++] = (struct CMUnitTest){
			.name = fits[i].test, .test_func = device_fits, .initial_state = &fits[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
