// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the ethtool ioctl adds about an interface: driver, channels, rings, offloads. */
#include "netdev.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The features that matter to XDP, by the names that drivers share. */
struct feature {
	const char *name;
	size_t active; /* offsets of bools in struct netdev_hardware */
	size_t fixed;
};

#define FEATURE(text, field)                                                       \
	{                                                                          \
		.name = (text), .active = offsetof(struct netdev_hardware, field), \
		.fixed = offsetof(struct netdev_hardware, field##_fixed),          \
	}

static const struct feature features[] = {
	FEATURE("rx-gro", gro),
	FEATURE("rx-gro-hw", gro_hw),
	FEATURE("rx-lro", lro),
	FEATURE("rx-vlan-hw-parse", rx_vlan),
	FEATURE("rx-ntuple-filter", ntuple),
};

static int query(int fd, const char *name, void *command)
{
	struct ifreq request = {.ifr_data = command};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static int read_driver(int fd, const char *name, struct netdev_hardware *hardware)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	int err = query(fd, name, &info);

	if (err)
		return err;
	snprintf(hardware->driver, sizeof(hardware->driver), "%s", info.driver);
	snprintf(hardware->version, sizeof(hardware->version), "%s", info.version);
	return 0;
}

static int read_channels(int fd, const char *name, struct netdev_hardware *hardware)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	int err = query(fd, name, &channels);

	if (err)
		return err;
	hardware->rx_channels = channels.rx_count;
	hardware->tx_channels = channels.tx_count;
	hardware->combined_channels = channels.combined_count;
	hardware->rx_channels_max = channels.max_rx;
	hardware->tx_channels_max = channels.max_tx;
	hardware->combined_channels_max = channels.max_combined;
	return 0;
}

static int read_rings(int fd, const char *name, struct netdev_hardware *hardware)
{
	struct ethtool_ringparam rings = {.cmd = ETHTOOL_GRINGPARAM};
	int err = query(fd, name, &rings);

	if (err)
		return err;
	hardware->rx_ring = rings.rx_pending;
	hardware->rx_ring_max = rings.rx_max_pending;
	return 0;
}

static int count_rules(int fd, const char *name, struct netdev_hardware *hardware)
{
	struct ethtool_rxnfc rules = {.cmd = ETHTOOL_GRXCLSRLCNT};
	int err = query(fd, name, &rules);

	if (!err)
		hardware->rules = rules.rule_cnt;
	return err;
}

static int count_features(int fd, const char *name, uint32_t *count)
{
	union {
		struct ethtool_sset_info info;
		uint32_t room[sizeof(struct ethtool_sset_info) / 4 + 1]; /* for one answer */
	} sets = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};
	int err = query(fd, name, &sets);

	if (err)
		return err;
	/* The kernel takes the bit out of the mask when it doesn't know the set. */
	*count = sets.info.sset_mask ? sets.info.data[0] : 0;
	return 0;
}

static void set_feature(struct netdev_hardware *hardware, const char *name,
			const struct ethtool_get_features_block *block, uint32_t bit)
{
	bool active = block->active & bit;
	bool fixed = !(block->available & bit) || (block->never_changed & bit);
	size_t i;

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (strncmp(name, features[i].name, ETH_GSTRING_LEN))
			continue;
		*(bool *)((char *)hardware + features[i].active) = active;
		*(bool *)((char *)hardware + features[i].fixed) = fixed;
	}
}

static int read_features(int fd, const char *name, struct netdev_hardware *hardware)
{
	struct ethtool_gstrings *names = NULL;
	struct ethtool_gfeatures *states = NULL;
	uint32_t count, blocks, i;
	int err;

	err = count_features(fd, name, &count);
	if (err)
		return err;
	blocks = (count + 31) / 32;
	names = calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	states = calloc(1, sizeof(*states) + blocks * sizeof(states->features[0]));
	if (!names || !states) {
		err = -ENOMEM;
		goto free_answers;
	}
	*names = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count};
	*states = (struct ethtool_gfeatures){.cmd = ETHTOOL_GFEATURES, .size = blocks};
	err = query(fd, name, names);
	if (!err)
		err = query(fd, name, states);
	for (i = 0; !err && i < count; i++)
		set_feature(hardware, (const char *)names->data + (size_t)i * ETH_GSTRING_LEN,
			    &states->features[i / 32], 1U << (i % 32));
free_answers:
	free(states);
	free(names);
	return err;
}

typedef int (*reader)(int fd, const char *name, struct netdev_hardware *hardware);

static const reader readers[] = {read_driver, read_channels, read_rings, count_rules,
				 read_features};

int netdev_hardware(const char *name, struct netdev_hardware *hardware)
{
	int err = 0;
	size_t i;
	int fd;

	memset(hardware, 0, sizeof(*hardware));
	if (strlen(name) >= IF_NAMESIZE)
		return -ENODEV;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	for (i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		err = readers[i](fd, name, hardware);
		if (err == -ENODEV)
			break;
		/* Drivers answer what they can; the rest stays unknown. */
		err = 0;
	}
	close(fd);
	return err;
}
