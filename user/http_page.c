// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page at / and what it is made of, out of files that are part of the program. */
#include "http.h"

/* From user/page; the paths are those of a build in the project's directory, as make does it. */
#define FILE_BYTES(name, path)                                                   \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n" #name \
		"_end:\n.byte 0\n.popsection\n");                                \
	extern const char name[] __attribute__((visibility("hidden"))),          \
		name##_end[] __attribute__((visibility("hidden")))

FILE_BYTES(page_html, "user/page/index.html");
FILE_BYTES(page_css, "user/page/page.css");
FILE_BYTES(page_js, "user/page/page.js");

/* Nothing from elsewhere, no script but ours, in no frame of others. */
static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static void give(struct http_answer *answer, const char *type, const char *from, const char *to)
{
	http_give_static(answer, type, from, to - from);
}

void http_page(struct http_request *request, struct http_answer *answer)
{
	(void)request;
	give(answer, "text/html; charset=utf-8", page_html, page_html_end);
	http_add_header(answer, "Content-Security-Policy", "%s", policy);
}

void http_page_css(struct http_request *request, struct http_answer *answer)
{
	(void)request;
	give(answer, "text/css; charset=utf-8", page_css, page_css_end);
}

void http_page_js(struct http_request *request, struct http_answer *answer)
{
	(void)request;
	give(answer, "text/javascript; charset=utf-8", page_js, page_js_end);
}
