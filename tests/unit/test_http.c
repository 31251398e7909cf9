// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Requests over HTTP before they reach the kernel: targets, queries, bodies, hosts, tokens, text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "http.h"
#include "http_body.h"
#include "http_host.h"
#include "token.h"
#include "units.h"
#include "utf8.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ALL_KEYS     ((1U << QUERY_COUNT) - 1)

/* ---- targets and queries ---- */

static void paths(void **state)
{
	static const struct {
		const char *target, *path, *query;
	} cases[] = {
		{"/metrics", "/metrics", ""},
		{"/v1/get?address=::1", "/v1/get", "address=::1"},
		{"/v1/get?", "/v1/get", ""},
		{"/?a?b", "/", "a?b"},
		{"*", "*", ""},
		{"", "", ""},
		{"?x=1", "", "x=1"},
		{"http://192.0.2.1:80/metrics?x=1", "/metrics", "x=1"},
		{"http://192.0.2.1", "", ""},
		{"http://192.0.2.1?x=/", "", "x=/"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *query, *path;
		size_t length;

		path = http_path(cases[i].target, &length, &query);
		assert_int_equal(length, strlen(cases[i].path));
		assert_memory_equal(path, cases[i].path, length);
		assert_string_equal(query, cases[i].query);
	}
}

static void queries(void **state)
{
	static const struct {
		const char *query;
		enum query_key key;
		const char *value; /* NULL: refused */
		const char *says;
	} cases[] = {
		{"address=192.0.2.1", QUERY_ADDRESS, "192.0.2.1", NULL},
		{"address=2001%3aDB8%3A%3a1", QUERY_ADDRESS, "2001:DB8::1", NULL},
		{"limit=a+b", QUERY_LIMIT, "a b", NULL},
		{"limit=a%2Bb", QUERY_LIMIT, "a+b", NULL},
		{"limit=a=b", QUERY_LIMIT, "a=b", NULL},
		{"li%6dit=x", QUERY_LIMIT, "x", NULL},
		{"limit=%c3%bc", QUERY_LIMIT, "\xc3\xbc", NULL},
		{"top=3&by=rate", QUERY_BY, "rate", NULL},
		{"top=3&by=rate&", QUERY_TOP, "3", NULL},
		{"limit=%", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%4", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%4&top=1", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%4g", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%00", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=a%0ab", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%7f", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%c2%9b", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%c2%a0", QUERY_LIMIT, "\xc2\xa0", NULL},
		{"limit=%ff", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%c3", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=%ed%a0%80", QUERY_LIMIT, NULL, "not well-formed"},
		{"%=1", QUERY_LIMIT, NULL, "not well-formed"},
		{"limit=", QUERY_LIMIT, NULL, "no value"},
		{"limit", QUERY_LIMIT, NULL, "no value"},
		{"limit=a&limit=a", QUERY_LIMIT, NULL, "twice"},
		{"nosuch=1", QUERY_LIMIT, NULL,
		 "unknown key 'nosuch'; known are: address, after, by"},
		{"&", QUERY_LIMIT, NULL, "unknown key ''"},
		{"=x", QUERY_LIMIT, NULL, "unknown key ''"},
		{"Limit=x", QUERY_LIMIT, NULL, "unknown key"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		static struct http_query parsed;
		struct complaint why = {""};
		int err = http_query_parse(cases[i].query, ALL_KEYS, &parsed, &why);

		if (cases[i].value) {
			assert_int_equal(err, 0);
			assert_string_equal(parsed.values[cases[i].key], cases[i].value);
		} else {
			assert_int_equal(err, -EINVAL);
			if (!strstr(why.text, cases[i].says))
				fail_msg("%s: %s", cases[i].query, why.text);
		}
	}
}

static void only_allowed_keys(void **state)
{
	static struct http_query parsed;
	struct complaint why;

	(void)state;
	assert_int_equal(http_query_parse("top=1", 1U << QUERY_ADDRESS, &parsed, &why), -EINVAL);
	assert_string_equal(why.text, "unknown key 'top'; known are: address");
	assert_int_equal(http_query_parse("top=1", 0, &parsed, &why), -EINVAL);
	assert_string_equal(why.text, "unknown key 'top': this takes no query");
}

/* As many pairs as bytes allow, and one byte too many. */
static void longest_query(void **state)
{
	char text[TARGET_MAX + 2];
	static struct http_query parsed;
	struct complaint why;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "limit=", 6);
	text[TARGET_MAX] = '\0';
	assert_int_equal(http_query_parse(text, ALL_KEYS, &parsed, &why), 0);
	assert_int_equal(strlen(parsed.values[QUERY_LIMIT]), TARGET_MAX - 6);
	text[TARGET_MAX] = 'x';
	text[TARGET_MAX + 1] = '\0';
	assert_int_equal(http_query_parse(text, ALL_KEYS, &parsed, &why), -EINVAL);
}

static void routes(void **state)
{
	static const struct {
		const char *target, *method;
		unsigned int status; /* 0: let through */
		const char *says;
	} cases[] = {
		{"/metrics", "GET", 0, NULL},
		{"/metrics", "HEAD", 0, NULL},
		{"/v1/ban", "DELETE", 0, NULL},
		{"/v1/get?address=x", "GET", 0, NULL},
		{"/metrics", "POST", 405, "/metrics takes: GET, HEAD"},
		{"/metrics", "get", 405, "takes"},
		{"/v1/ban", "PUT", 405, "/v1/ban takes: GET, HEAD, POST, DELETE"},
		{"/metrics/", "GET", 404, "there is no '/metrics/'; there are: /, /metrics"},
		{"*", "OPTIONS", 404, "there is no '*'"},
		{"/nosuch\xff", "GET", 404, "there is no '/nosuch?'"},
		{"/\033[2J", "GET", 404, "there is no '/?[2J'"},
		{"/metrics?x=1", "GET", 400, "unknown key"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct http_request request = {0};
		struct http_answer answer = {0};
		const struct http_route *route = http_route_check(cases[i].target, cases[i].method,
								  &request, &answer);

		assert_int_equal(answer.status, cases[i].status);
		assert_int_equal(route == NULL, cases[i].status != 0);
		if (cases[i].says && !strstr(answer.body, cases[i].says))
			fail_msg("%s: %s", cases[i].target, answer.body);
		http_answer_free(&answer);
	}
}

/* ---- bodies ---- */

static void bodies(void **state)
{
	static const struct {
		const char *text;
		bool adds;
		int err;
		const char *says;
	} cases[] = {
		{"{\"prefixes\": [\"192.0.2.1\"]}", true, 0, NULL},
		{"{\"prefixes\":[\"192.0.2.1\",\"2001:db8::/32\"],\"for\":\"10m\"}\r\n ", true, 0,
		 NULL},
		{"{\"interface\": \"eth0\", \"prefixes\": [\"192.0.2.1\"]}", false, 0, NULL},
		{"", true, -EINVAL, "ends early"},
		{"{", true, -EINVAL, "ends early"},
		{"null ", true, -EINVAL, "no object"},
		{"[\"192.0.2.1\"]", true, -EINVAL, "no object"},
		{"{\"prefixes\": [\"192.0.2.1\"]}x", true, -EINVAL, "not JSON"},
		{"{\"prefixes\": [[\"192.0.2.1\"]]}", true, -EINVAL, "deep"},
		{"{\"prefixes\": [\"\xff\"]}", true, -EINVAL, "not JSON"},
		{"{\"prefixes\": null}", true, -EINVAL, "array of strings"},
		{"{\"prefixes\": [null]}", true, -EINVAL, "array of strings"},
		{"{\"prefixes\": [\"192.0.2.1\\u0000\"]}", true, -EINVAL, "array of strings"},
		{"{\"prefixes\": [\"192.0.2.1/24\"]}", true, -EINVAL, "192.0.2.0/24"},
		{"{\"prefixes\": []}", true, -EINVAL, "nothing to change"},
		{"{}", false, -EINVAL, "nothing to change"},
		{"{\"for\": \"10m\", \"prefixes\": [\"192.0.2.1\"]}", false, -EINVAL, "with POST"},
		{"{\"for\": 600, \"prefixes\": [\"192.0.2.1\"]}", true, -EINVAL, "with its unit"},
		{"{\"for\": \"0s\", \"prefixes\": [\"192.0.2.1\"]}", true, -EINVAL, "end at once"},
		{"{\"interface\": \"\", \"prefixes\": [\"192.0.2.1\"]}", true, -EINVAL, "a name"},
		{"{\"interface\": \"abcdefghijklmnop\"}", true, -EINVAL, "longer than"},
		{"{\"comment\": \"x\", \"prefixes\": [\"192.0.2.1\"]}", true, -EINVAL,
		 "unknown key"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct complaint why = {""};
		struct http_body body;
		int err = http_body_parse(cases[i].text, strlen(cases[i].text), cases[i].adds,
					  &body, &why);

		if (err != cases[i].err || (err && !strstr(why.text, cases[i].says)))
			fail_msg("%s: %d, %s", cases[i].text, err, why.text);
		http_body_free(&body);
	}
}

static void body_in_full(void **state)
{
	static const char text[] = "{\"interface\": \"eth0\", \"for\": \"10m\","
				   "\"prefixes\": [\"192.0.2.1\", \"2001:db8::/32\"]}";
	struct complaint why;
	struct http_body body;

	(void)state;
	assert_int_equal(http_body_parse(text, strlen(text), true, &body, &why), 0);
	assert_string_equal(body.interface, "eth0");
	assert_int_equal(body.for_ns, 600 * NS_PER_SECOND);
	assert_int_equal(body.prefixes.count, 2);
	assert_int_equal(body.prefixes.prefixes[1].length, 32);
	http_body_free(&body);
}

/* ---- hosts, tokens, text ---- */

static void hosts(void **state)
{
	static const struct {
		const char *host;
		bool local;
	} cases[] = {
		{"127.0.0.1:10277", true},
		{"127.0.0.1", true},
		{"192.0.2.1:1", true},
		{"localhost", true},
		{"LOCALHOST:80", true},
		{"[::1]:10277", true},
		{"[::1]", true},
		{"evil.example", false},
		{"localhost.evil.example", false},
		{"127.0.0.1.evil", false},
		{"[::1].evil", false},
		{"[::1", false},
		{"", false},
		{":80", false},
		{"[]", false},
		{"[localhost]", false},
		{"[127.0.0.1]", false},
		{"::1", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (host_is_local(cases[i].host) != cases[i].local)
			fail_msg("%s", cases[i].host);
}

static void tokens(void **state)
{
	const struct token token = {"0123456789abcdef"}, none = {""};

	(void)state;
	assert_true(token_is_in(&token, "Bearer 0123456789abcdef"));
	assert_true(token_is_in(&token, "bearer 0123456789abcdef"));
	assert_false(token_is_in(&token, NULL));
	assert_false(token_is_in(&token, ""));
	assert_false(token_is_in(&token, "Bearer"));
	assert_false(token_is_in(&token, "Bearer "));
	assert_false(token_is_in(&token, "Bearer 0123456789abcde"));
	assert_false(token_is_in(&token, "Bearer 0123456789abcdefg"));
	assert_false(token_is_in(&token, "Bearer 0123456789abcdeF"));
	assert_false(token_is_in(&token, "Basic 0123456789abcdef"));
	assert_false(token_is_in(&none, "Bearer "));
	assert_false(token_is_in(&none, NULL));
}

/* What is read of a file with these bytes and mode: 0 or -errno. */
static int read_token_of(const char *text, size_t size, mode_t mode, struct token *token)
{
	char path[] = "/tmp/xdpl-token.XXXXXX";
	int fd = mkstemp(path), err;
	struct complaint why;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	err = token_read(path, token, &why);
	unlink(path);
	close(fd);
	return err;
}

static void token_files(void **state)
{
	char longest[TOKEN_MAX + 2];
	struct token token;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	assert_int_equal(read_token_of("0123456789abcdef\n", 17, 0600, &token), 0);
	assert_string_equal(token.text, "0123456789abcdef");
	assert_int_equal(read_token_of("0123456789abcdef", 16, 0400, &token), 0);
	assert_int_equal(read_token_of(longest, TOKEN_MAX, 0600, &token), 0);
	assert_int_equal(read_token_of(longest, TOKEN_MAX + 1, 0600, &token), -EINVAL);
	assert_int_equal(read_token_of("0123456789abcde\n", 16, 0600, &token), -EINVAL);
	assert_int_equal(read_token_of("0123456789abcdef\n\n", 18, 0600, &token), -EINVAL);
	assert_int_equal(read_token_of("0123456789abcdef\0g", 18, 0600, &token), -EINVAL);
	assert_int_equal(read_token_of("0123456789 abcdef", 17, 0600, &token), -EINVAL);
	assert_int_equal(read_token_of("", 0, 0600, &token), -EINVAL);
	assert_int_equal(read_token_of("0123456789abcdef", 16, 0640, &token), -EACCES);
	assert_int_equal(read_token_of("0123456789abcdef", 16, 0604, &token), -EACCES);
}

static void utf8(void **state)
{
	static const struct {
		const char *text, *clean;
	} cases[] = {
		{"plain", "plain"},
		{"\xc3\xbc", "\xc3\xbc"},
		{"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"a\xff", "a?"},
		{"\xc3", "?"},
		{"\xc3(", "?("},
		{"\xc0\x80", "??"},
		{"\xe0\x80\x80", "???"},
		{"\xed\xa0\x80", "???"},
		{"\xf4\x90\x80\x80", "????"},
		{"\xe2\x82", "??"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[16];

		snprintf(text, sizeof(text), "%s", cases[i].text);
		utf8_clean(text);
		assert_string_equal(text, cases[i].clean);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),	 cmocka_unit_test(queries),
		cmocka_unit_test(longest_query), cmocka_unit_test(only_allowed_keys),
		cmocka_unit_test(routes),	 cmocka_unit_test(bodies),
		cmocka_unit_test(body_in_full),	 cmocka_unit_test(hosts),
		cmocka_unit_test(tokens),	 cmocka_unit_test(token_files),
		cmocka_unit_test(utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
