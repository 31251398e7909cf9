// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gathers what /metrics says of all interfaces that are served. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "metrics.h"
#include "report.h"
#include "service.h"

/* What one interface needs to stay alive until all is written. */
struct gathered {
	struct target target;
	struct summary summary;
	struct source_list sources;
	bool opened, has_summary, has_sources;
};

/*
 * Of an LRU table evictions are a difference of counts that are read one after the other, so a reading may
 * be below the last one: to Prometheus that would be a counter that began anew.
 */
static uint64_t evicted_of(struct known_interface *known, const struct summary *summary)
{
	uint64_t evicted = summary_evicted(summary);

	if (known->seed != summary->table.seed) {
		known->seed = summary->table.seed;
		known->evicted = 0;
	}
	if (evicted > known->evicted)
		known->evicted = evicted;
	return known->evicted;
}

static int gather_limiter(const struct service *service, struct known_interface *known,
			  struct gathered *gathered, struct interface_metrics *metrics)
{
	const struct running *running = &gathered->target.running;
	const struct source_request worst = {.top = service->top};
	struct complaint why;
	int err = live_count(running, metrics->list_entries)
			  ?: read_durations(running, &metrics->durations);

	if (service->run_statistics)
		metrics->has_run = !program_run_stats(running, &metrics->run_ns,
						      &metrics->run_count);
	err = err ?: summary_read(&gathered->target.netdev, running, &gathered->summary);
	if (err)
		return err;
	gathered->has_summary = true;
	if (service->top) {
		err = source_list_read(running, &worst, &gathered->sources, &why);
		gathered->has_sources = !err;
		metrics->sources = err ? NULL : &gathered->sources;
	}
	metrics->evicted = evicted_of(known, &gathered->summary);
	metrics->summary = err ? NULL : &gathered->summary;
	return err;
}

/* One that can't be read is down, and said so once for each scrape. */
static void gather(const struct service *service, struct known_interface *known,
		   struct gathered *gathered, struct interface_metrics *metrics)
{
	struct complaint why;
	int err;

	*metrics = (struct interface_metrics){.name = known->name};
	if (!known->attached)
		return;
	if (target_look(known->name, &gathered->target, &why) != EXIT_DONE) {
		report_error("%s", why.text);
		return;
	}
	gathered->opened = true;
	err = gather_limiter(service, known, gathered, metrics);
	if (err)
		report_error("cannot read the limiter on %s: %s", known->name, strerror(-err));
}

static void release(struct gathered *gathered)
{
	if (gathered->has_sources)
		source_list_free(&gathered->sources);
	if (gathered->has_summary)
		summary_free(&gathered->summary);
	if (gathered->opened)
		target_close(&gathered->target);
}

static void give(const struct metrics *metrics, enum metrics_format format,
		 struct http_answer *answer)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (out) {
		metrics_write(metrics, format, out);
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	http_give_text(answer, 200, metrics_type(format), text, length);
}

void http_metrics(struct http_request *request, struct http_answer *answer)
{
	struct service *service = request->service;
	struct interface_metrics *interfaces;
	struct gathered *gathered;
	struct metrics metrics = {
		.version = XDP_LIMIT_VERSION,
		.libbpf = kernel_libbpf_version() + 1,
	};
	int err = service_refresh(service);

	if (err)
		report_error("cannot read what is attached: %s%s", strerror(-err),
			     permission_hint(err));
	metrics.interface_count = service->known_count;
	interfaces = calloc(service->known_count + 1, sizeof(*interfaces));
	gathered = calloc(service->known_count + 1, sizeof(*gathered));
	if (interfaces && gathered) {
		for (size_t i = 0; i < service->known_count; i++)
			gather(service, &service->known[i], &gathered[i], &interfaces[i]);
		metrics.interfaces = interfaces;
		give(&metrics, metrics_format_of(request->accept), answer);
	} else {
		http_refuse(answer, 503, "out of memory");
	}
	for (size_t i = 0; gathered && i < service->known_count; i++)
		release(&gathered[i]);
	free(gathered);
	free(interfaces);
}
