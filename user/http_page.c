// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page at /, out of bytes that are part of the program. */
#include "http.h"

static const char page[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>xdp-limit</title>\n"
	"<h1>xdp-limit</h1>\n<ul>\n"
	"<li><a href=\"metrics\">metrics</a>\n<li><a href=\"v1/interfaces\">interfaces</a>\n"
	"<li><a href=\"v1/status\">status</a>\n<li><a href=\"v1/sources\">sources</a>\n</ul>\n";

void http_page(struct http_request *request, struct http_answer *answer)
{
	(void)request;
	http_give_static(answer, "text/html; charset=utf-8", page, sizeof(page) - 1);
}
