// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sends raw test frames at a set pace or as fast as one core can, and counts frames that arrive.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"
#include "sources.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NS_PER_S      1000000000ULL
#define BATCH_MAX     64
#define MEMORY_MAX    (1ULL << 30) /* of prebuilt frames */
#define SPIN_BELOW_NS 50000	   /* shorter waits would oversleep */
#define RING_FRAME    256	   /* bytes of a received frame that are looked at, and then some */
#define RING_FRAMES   (1U << 17)
#define RING_BLOCK    (1U << 16)

struct options {
	const char *interface;
	const char *frame;
	const char *source;
	const char *destination;
	const char *source_mac;
	const char *destination_mac;
	const char *ready;
	uint64_t sources; /* at most so many of --source */
	uint64_t step;	  /* prefix length that tells two sources apart */
	uint64_t source_port;
	uint64_t destination_port;
	uint64_t size;
	uint64_t count;
	uint64_t rate; /* packets per second; 0: max */
	uint64_t duration_ns;
	uint64_t vlan;
	bool receive;
};

enum option_kind {
	OPTION_TEXT,
	OPTION_NUMBER,
	OPTION_RATE,
	OPTION_TIME,
	OPTION_FLAG,
};

#define FIELD(name) offsetof(struct options, name)

static const struct {
	const char *name;
	enum option_kind kind;
	size_t field;
	const char *argument;
	const char *help;
} option_table[] = {
	{"interface", OPTION_TEXT, FIELD(interface), "IF", "where to send or listen (-i)"},
	{"frame", OPTION_TEXT, FIELD(frame), "F", "a template (below), P4U ... PPPPOE, or hex"},
	{"source", OPTION_TEXT, FIELD(source), "A",
	 "A, A..B or A/PREFIX, in turn; filters --receive"},
	{"sources", OPTION_NUMBER, FIELD(sources), "N", "only the first N of --source"},
	{"step", OPTION_NUMBER, FIELD(step), "BITS",
	 "prefix that tells sources apart (32; 64 under a shorter IPv6 prefix, else 128)"},
	{"dest", OPTION_TEXT, FIELD(destination), "A", "destination address"},
	{"sport", OPTION_NUMBER, FIELD(source_port), "N", "source port"},
	{"dport", OPTION_NUMBER, FIELD(destination_port), "N",
	 "destination port; with --receive only UDP to this port counts"},
	{"size", OPTION_NUMBER, FIELD(size), "N", "bytes of the whole frame (default: the least)"},
	{"count", OPTION_NUMBER, FIELD(count), "N", "stop after N frames"},
	{"rate", OPTION_RATE, FIELD(rate), "PPS", "frames per second, or max (default)"},
	{"duration", OPTION_TIME, FIELD(duration_ns), "S",
	 "stop after S seconds (decimals are fine)"},
	{"src-mac", OPTION_TEXT, FIELD(source_mac), "M", "default " MAC_CLIENT},
	{"dst-mac", OPTION_TEXT, FIELD(destination_mac), "M", "default " MAC_SERVER},
	{"vlan", OPTION_NUMBER, FIELD(vlan), "N", "802.1Q tag"},
	{"receive", OPTION_FLAG, FIELD(receive), NULL, "count what arrives, until stopped"},
	{"ready", OPTION_TEXT, FIELD(ready), "FILE", "made when --receive has begun to count"},
};

// ---- templates ---------------------------------------------------------------------------------
enum transport {
	UDP,
	TCP,
	ICMP,
	SCTP,
};

static const struct shape {
	const char *name;
	int family;
	enum transport transport;
	int flags;
} templates[] = {
	{"udp4", AF_INET, UDP, 0},	     {"udp6", AF_INET6, UDP, 0},
	{"tcp-syn4", AF_INET, TCP, TCP_SYN}, {"tcp-syn6", AF_INET6, TCP, TCP_SYN},
	{"tcp-ack4", AF_INET, TCP, TCP_ACK}, {"tcp-ack6", AF_INET6, TCP, TCP_ACK},
	{"icmp4", AF_INET, ICMP, 0},	     {"icmp6", AF_INET6, ICMP, 0},
	{"sctp4", AF_INET, SCTP, 0},	     {"sctp6", AF_INET6, SCTP, 0},
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

__attribute__((noreturn)) static void usage_error(const char *what, const char *value)
{
	fprintf(stderr, "xdpl-send: %s '%s'; see --help\n", what, value ? value : "");
	exit(2);
}

__attribute__((noreturn)) static void failed(const char *what)
{
	fprintf(stderr, "xdpl-send: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double wall_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

// ---- options -----------------------------------------------------------------------------------
static void print_help(void)
{
	size_t i;

	puts("xdpl-send -i IF --frame F [OPTION...]   send, print {\"sent\", \"seconds\", ...}\n"
	     "xdpl-send -i IF --receive [OPTION...]   count, print {\"received\", ...}\n");
	for (i = 0; i < ARRAY_SIZE(option_table); i++)
		printf("  --%-10s %-5s %s\n", option_table[i].name,
		       option_table[i].argument ? option_table[i].argument : "",
		       option_table[i].help);
	printf("\ntemplates:");
	for (i = 0; i < ARRAY_SIZE(templates); i++)
		printf(" %s", templates[i].name);
	puts("");
	exit(0);
}

static uint64_t number(const char *name, const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		usage_error(name, text);
	return value;
}

static void set_option(struct options *o, size_t i, const char *value)
{
	void *field = (char *)o + option_table[i].field;
	char *end;
	double seconds;

	switch (option_table[i].kind) {
	case OPTION_TEXT:
		*(const char **)field = value;
		break;
	case OPTION_RATE:
		if (!strcmp(value, "max"))
			break;
		/* fall through */
	case OPTION_NUMBER:
		*(uint64_t *)field = number(option_table[i].name, value);
		break;
	case OPTION_TIME:
		seconds = strtod(value, &end);
		if (end == value || *end || !(seconds > 0 && seconds < 86400))
			usage_error(option_table[i].name, value);
		*(uint64_t *)field = seconds * 1e9;
		break;
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	}
}

static void parse_arguments(struct options *o, int argc, char **argv)
{
	struct option longs[ARRAY_SIZE(option_table) + 2] = {
		[ARRAY_SIZE(option_table)] = {"help", no_argument, NULL, 'h'},
	};
	size_t i;
	int c, index;

	for (i = 0; i < ARRAY_SIZE(option_table); i++) {
		longs[i].name = option_table[i].name;
		longs[i].has_arg = option_table[i].kind == OPTION_FLAG ? no_argument
								       : required_argument;
	}
	while ((c = getopt_long(argc, argv, "i:h", longs, &index)) != -1) {
		if (c == 'h')
			print_help();
		else if (c == 'i')
			o->interface = optarg;
		else if (c == 0)
			set_option(o, index, optarg);
		else
			exit(2);
	}
	if (optind < argc)
		usage_error("unexpected argument", argv[optind]);
	if (!o->interface)
		usage_error("no interface given", "-i");
	if (!o->receive && !o->frame)
		usage_error("no frame given", "--frame");
}

// ---- frames to send ----------------------------------------------------------------------------
static void add_network(struct frame *f, const struct options *o, const struct shape *t)
{
	if (t->family == AF_INET)
		frame_ipv4(f, .destination = o->destination);
	else
		frame_ipv6(f, .destination = o->destination);
}

static void add_transport(struct frame *f, const struct options *o, const struct shape *t)
{
	struct ports_spec ports = {
		.source_port = o->source_port,
		.destination_port = o->destination_port,
		.flags = t->flags,
	};

	switch (t->transport) {
	case UDP:
		frame_push_udp(f, &ports);
		break;
	case TCP:
		frame_push_tcp(f, &ports);
		break;
	case SCTP:
		frame_push_sctp(f, &ports);
		break;
	case ICMP:
		if (t->family == AF_INET)
			frame_icmp(f);
		else
			frame_icmpv6(f);
		break;
	}
}

static void build_template(struct frame *f, const struct options *o, const struct shape *t)
{
	frame_start(f);
	frame_ethernet(f, .source = o->source_mac, .destination = o->destination_mac);
	if (o->vlan)
		frame_vlan(f, 0x8100, o->vlan);
	add_network(f, o, t);
	add_transport(f, o, t);
	frame_pad_to(f, o->size);
	frame_finish(f);
}

/* Returns the family of a template, whose source can be changed; else AF_UNSPEC. */
static int build_frame(struct frame *f, const struct options *o)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(templates); i++) {
		if (strcmp(templates[i].name, o->frame))
			continue;
		build_template(f, o, &templates[i]);
		return templates[i].family;
	}
	if (frame_by_name(f, o->frame) && frame_from_hex(f, o->frame))
		usage_error("no such frame:", o->frame);
	return AF_UNSPEC;
}

static void parse_sources(const struct options *o, int family, struct sources *s)
{
	if (sources_parse(o->source, o->step, s))
		usage_error("not an address, range or prefix:", o->source);
	if (s->first.family != family)
		usage_error("the frame has no source of this family:", o->source);
	if (o->sources && o->sources < s->count)
		s->count = o->sources;
}

struct prepared {
	uint8_t *bytes;
	uint64_t count;
	uint32_t length; /* of each */
};

static void prepare(struct prepared *p, const struct options *o)
{
	static struct frame f;
	struct sources s = {.count = 1};
	struct source_prefix at;
	int family = build_frame(&f, o);
	uint64_t i;

	if (o->source)
		parse_sources(o, family, &s);
	p->count = s.count;
	p->length = f.length;
	if (p->count > MEMORY_MAX / p->length)
		usage_error("too many sources, say --sources:", o->source);
	p->bytes = malloc(p->count * p->length);
	if (!p->bytes)
		failed("memory for the frames");
	at = s.first;
	for (i = 0; i < p->count; i++) {
		if (o->source) {
			frame_set_source(&f, at.bytes);
			sources_next(&s, &at);
		}
		memcpy(p->bytes + i * p->length, f.bytes, p->length);
	}
}

// ---- sending -----------------------------------------------------------------------------------
static int packet_socket(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		failed("packet socket");
	return fd;
}

static void bind_packet(int fd, const struct options *o, int protocol)
{
	struct sockaddr_ll where = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(o->interface),
	};

	if (!where.sll_ifindex)
		failed(o->interface);
	if (bind(fd, (struct sockaddr *)&where, sizeof(where)))
		failed("bind");
}

/* Absolute, so that one late batch makes the next ones early and the rate stays what was asked. */
static void wait_until(uint64_t deadline)
{
	struct timespec t = {.tv_sec = deadline / NS_PER_S, .tv_nsec = deadline % NS_PER_S};

	if (deadline > now_ns() + SPIN_BELOW_NS)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	while (!stopped && now_ns() < deadline)
		;
}

struct progress {
	uint64_t sent;
	uint64_t refused; /* by the device: offered again, so they are not in sent */
	uint64_t start;
	uint64_t end;
	double started; /* the wall clock at start, as date(1) and $EPOCHREALTIME tell it */
};

static void send_batch(int fd, struct mmsghdr *messages, unsigned int size, struct progress *done)
{
	unsigned int at = 0;

	while (at < size && !stopped) {
		int n = sendmmsg(fd, messages + at, size - at, 0);

		if (n > 0) {
			at += n;
			done->sent += n;
		} else if (errno == ENOBUFS || errno == EAGAIN) {
			done->refused++;
		} else if (errno != EINTR) {
			failed("send");
		}
	}
}

static unsigned int batch_size(const struct options *o)
{
	uint64_t size = o->rate ? o->rate / 10000 : BATCH_MAX;

	return size < 1 ? 1 : size > BATCH_MAX ? BATCH_MAX : size;
}

static bool finished(const struct options *o, const struct progress *done)
{
	return stopped || (o->count && done->sent >= o->count) ||
	       (o->duration_ns && now_ns() - done->start >= o->duration_ns);
}

static void send_all(int fd, const struct options *o, const struct prepared *p,
		     struct progress *done)
{
	struct mmsghdr messages[BATCH_MAX] = {0};
	struct iovec parts[BATCH_MAX];
	unsigned int batch = batch_size(o), i;
	uint64_t next = 0;

	for (i = 0; i < BATCH_MAX; i++) {
		parts[i].iov_len = p->length;
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	done->started = wall_clock();
	done->start = now_ns();
	while (!finished(o, done)) {
		if (o->count && batch > o->count - done->sent)
			batch = o->count - done->sent;
		for (i = 0; i < batch; i++) {
			parts[i].iov_base = p->bytes + next * p->length;
			next = next + 1 == p->count ? 0 : next + 1;
		}
		if (o->rate)
			wait_until(done->start +
				   (uint64_t)((unsigned __int128)done->sent * NS_PER_S / o->rate));
		send_batch(fd, messages, batch, done);
	}
	done->end = now_ns();
}

static void run_send(const struct options *o)
{
	struct progress done = {0};
	struct prepared p = {0};
	int on = 1, fd;

	prepare(&p, o);
	fd = packet_socket();
	bind_packet(fd, o, 0);
	if (setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		failed("PACKET_QDISC_BYPASS");
	prctl(PR_SET_TIMERSLACK, 1);
	send_all(fd, o, &p, &done);
	printf("{\"sent\":%llu,\"bytes\":%llu,\"refused\":%llu,\"seconds\":%.6f,"
	       "\"started\":%.6f}\n",
	       (unsigned long long)done.sent, (unsigned long long)done.sent * p.length,
	       (unsigned long long)done.refused, (double)(done.end - done.start) / 1e9,
	       done.started);
	close(fd);
	free(p.bytes);
}

// ---- receiving ---------------------------------------------------------------------------------
struct received {
	uint64_t frames;
	uint64_t bytes;
	uint64_t lost; /* by this tool, not by the network: the count can't be trusted then */
	uint64_t start;
};

/* Where IPv4 or IPv6 stands after an optional tag; its family, or AF_UNSPEC. */
static int network_header(const uint8_t *at, uint32_t size, uint32_t *l3)
{
	uint32_t type;

	*l3 = 14;
	if (size > 18 && at[12] == 0x81 && at[13] == 0)
		*l3 += 4;
	type = at[*l3 - 2] << 8 | at[*l3 - 1];
	if (type == ETHERTYPE_IP && size >= *l3 + 20)
		return AF_INET;
	if (type == ETHERTYPE_IPV6 && size >= *l3 + 40)
		return AF_INET6;
	return AF_UNSPEC;
}

/* Knows plain headers only: enough for what tests send. */
static bool matches(const struct options *o, const struct source_prefix *source, const uint8_t *at,
		    uint32_t size)
{
	uint32_t l3, l4;
	int family, protocol;

	if (!o->source && !o->destination_port)
		return true;
	family = network_header(at, size, &l3);
	if (family == AF_UNSPEC)
		return false;
	if (o->source && (source->family != family ||
			  !source_prefix_contains(source, at + l3 + (family == AF_INET ? 12 : 8))))
		return false;
	if (!o->destination_port)
		return true;
	protocol = at[l3 + (family == AF_INET ? 9 : 6)];
	l4 = l3 + (family == AF_INET ? (at[l3] & 15) * 4 : 40);
	return protocol == IPPROTO_UDP && size >= l4 + 8 &&
	       (uint64_t)(at[l4 + 2] << 8 | at[l4 + 3]) == o->destination_port;
}

static uint8_t *map_ring(int fd)
{
	struct tpacket_req request = {
		.tp_block_size = RING_BLOCK,
		.tp_frame_size = RING_FRAME,
		.tp_frame_nr = RING_FRAMES,
		.tp_block_nr = RING_FRAMES / (RING_BLOCK / RING_FRAME),
	};
	int version = TPACKET_V2, on = 1;
	uint8_t *ring;

	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)))
		failed("receive ring");
	ring = mmap(NULL, (size_t)RING_FRAMES * RING_FRAME, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (ring == MAP_FAILED)
		failed("receive ring");
	return ring;
}

static void count_ring(int fd, const struct options *o, struct received *r, uint8_t *ring)
{
	struct source_prefix source = {0};
	struct pollfd poll_in = {.fd = fd, .events = POLLIN};
	uint32_t at = 0;

	if (o->source && source_prefix_parse(o->source, &source))
		usage_error("not an address or prefix:", o->source);
	for (;;) {
		struct tpacket2_hdr *h = (void *)(ring + (size_t)at * RING_FRAME);

		if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
			if (stopped || (o->count && r->frames >= o->count) ||
			    (o->duration_ns && now_ns() - r->start >= o->duration_ns))
				return;
			poll(&poll_in, 1, 10);
			continue;
		}
		/* The kernel takes an 802.1Q tag out of the frame: its 4 bytes were on the wire. */
		if (matches(o, &source, (uint8_t *)h + h->tp_mac, h->tp_snaplen)) {
			r->frames++;
			r->bytes += h->tp_len + ((h->tp_status & TP_STATUS_VLAN_VALID) ? 4 : 0);
		}
		__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		at = (at + 1) % RING_FRAMES;
	}
}

static void tell_ready(const struct options *o)
{
	int fd;

	if (!o->ready)
		return;
	fd = open(o->ready, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		failed(o->ready);
	close(fd);
}

static void run_receive(const struct options *o)
{
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);
	struct received r = {0};
	uint8_t *ring;
	int fd;

	fd = packet_socket();
	/* The ring before the bind: nothing that comes is missed, nothing older is in it. */
	ring = map_ring(fd);
	bind_packet(fd, o, ETH_P_ALL);
	r.start = now_ns();
	tell_ready(o);
	count_ring(fd, o, &r, ring);
	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0)
		r.lost = stats.tp_drops;
	printf("{\"received\":%llu,\"bytes\":%llu,\"lost\":%llu,\"seconds\":%.6f}\n",
	       (unsigned long long)r.frames, (unsigned long long)r.bytes,
	       (unsigned long long)r.lost, (double)(now_ns() - r.start) / 1e9);
	munmap(ring, (size_t)RING_FRAMES * RING_FRAME);
	close(fd);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct options o = {0};

	parse_arguments(&o, argc, argv);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (o.receive)
		run_receive(&o);
	else
		run_send(&o);
	return 0;
}
