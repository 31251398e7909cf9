// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a packet costs, from batches: several subjects in turn, outliers dropped, medians. */
#include "measure.h"

#include <err.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOLERANCE	0.05 /* of proportionality */
#define OUTLIER_MADS	4 /* so many deviations from the median are no sample of the same thing */
#define DISTURBED_RETRY 5
#define CALIBRATIONS	3

const struct effort thorough = {.batch_ns = 20e6, .rounds = 10, .tries = 3};
const struct effort quick = {.batch_ns = 1e6, .rounds = 4, .tries = 1, .anyhow = true};

double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- numbers ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, unsigned int count)
{
	double sorted[2 * SAMPLES_MAX];

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* The median's distance to the median, with room for what is alike by luck. */
static double usual_deviation(const double *values, unsigned int count, double middle)
{
	double distances[2 * SAMPLES_MAX] = {0};
	double usual;

	for (unsigned int i = 0; i < count; i++)
		distances[i] = fabs(values[i] - middle);
	usual = median(distances, count);
	return usual > middle * 0.005 ? usual : middle * 0.005;
}

static unsigned int drop_outliers(double *values, unsigned int count)
{
	double middle = median(values, count);
	double most = usual_deviation(values, count, middle) * OUTLIER_MADS;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < count; i++)
		if (fabs(values[i] - middle) <= most)
			values[kept++] = values[i];
	return kept;
}

static void sum_up(struct subject *subject)
{
	double all[2 * SAMPLES_MAX], least, most;
	unsigned int count = subject->counts[0] + subject->counts[1];

	if (!subject->counts[0] || !subject->counts[1])
		errx(1, "%s: the machine is too busy to measure anything", subject->name);
	memcpy(all, subject->samples[0], subject->counts[0] * sizeof(*all));
	memcpy(all + subject->counts[0], subject->samples[1], subject->counts[1] * sizeof(*all));
	subject->kept = drop_outliers(all, count);
	subject->dropped += count - subject->kept;
	subject->ns = median(all, subject->kept);
	least = most = all[0];
	for (unsigned int i = 1; i < subject->kept; i++) {
		least = fmin(least, all[i]);
		most = fmax(most, all[i]);
	}
	subject->spread = (most - least) / subject->ns;
	subject->proportion = median(subject->samples[1], subject->counts[1]) /
			      median(subject->samples[0], subject->counts[0]);
}

/* ---- batches ---- */

/* Again when something else ran meanwhile; negative when it always does. */
static double batch(struct subject *subject, uint32_t packets, bool anyhow)
{
	uint32_t run_in = packets / 2 > subject->run_in ? packets / 2 : subject->run_in;
	bool disturbed;
	double ns;

	for (int i = 0; i < DISTURBED_RETRY; i++) {
		if (!anyhow)
			subject->batch(subject->context, run_in, &disturbed);
		ns = subject->batch(subject->context, packets, &disturbed);
		if (!disturbed || anyhow)
			return ns;
		subject->dropped++;
	}
	return -1;
}

/* The quickest of some runs counts: a slow one says more about the machine. */
static double quickest(struct subject *subject, uint32_t packets)
{
	double least = batch(subject, packets, true);

	for (int i = 0; i < CALIBRATIONS; i++)
		least = fmin(least, batch(subject, packets, true));
	return least;
}

static void calibrate(struct subject *subject, double batch_ns)
{
	double ns;

	for (subject->packets = 1000;; subject->packets *= 4) {
		ns = quickest(subject, subject->packets);
		if (ns * subject->packets > batch_ns / 8)
			break;
	}
	subject->packets = (uint32_t)(batch_ns / ns) + 1;
}

static bool proportional(struct subject *subjects, size_t count)
{
	bool all = true;

	for (size_t i = 0; i < count; i++) {
		sum_up(&subjects[i]);
		if (fabs(subjects[i].proportion - 1) > TOLERANCE)
			all = false;
	}
	return all;
}

static void run_rounds(struct subject *subjects, size_t count, const struct effort *effort)
{
	for (size_t i = 0; i < count; i++)
		memset(subjects[i].counts, 0, sizeof(subjects[i].counts));
	for (unsigned int round = 0; round < effort->rounds; round++)
		for (size_t i = 0; i < count; i++) {
			struct subject *subject = &subjects[i];
			unsigned int twice = round % 2;
			double ns = batch(subject, subject->packets << twice, effort->anyhow);

			if (ns > 0)
				subject->samples[twice][subject->counts[twice]++] = ns;
		}
}

void measure(struct subject *subjects, size_t count, const struct effort *effort)
{
	for (size_t i = 0; i < count; i++)
		calibrate(&subjects[i], effort->batch_ns);
	for (unsigned int try = 0; try < effort->tries; try++) {
		run_rounds(subjects, count, effort);
		if (proportional(subjects, count))
			return;
	}
	for (size_t i = 0; i < count; i++)
		if (fabs(subjects[i].proportion - 1) > TOLERANCE)
			warnx("%s: a packet of 2N takes %.2f times as long as one of N, after %u tries",
			      subjects[i].name, subjects[i].proportion, effort->tries);
}
