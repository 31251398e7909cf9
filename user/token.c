// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The secret that writes over HTTP need. */
#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEME "Bearer "

static int check_file(const char *path, int fd, struct complaint *why)
{
	struct stat info;

	if (fstat(fd, &info))
		return complain(why, -errno, "cannot read the token file %s: %s", path,
				strerror(errno));
	if (!S_ISREG(info.st_mode))
		return complain(why, -EINVAL, "the token file %s is not a plain file", path);
	if (info.st_mode & 077)
		return complain(why, -EACCES,
				"others may read or write the token file %s; chmod 600 %s", path,
				path);
	if (info.st_uid && info.st_uid != geteuid())
		return complain(why, -EACCES, "the token file %s belongs to another user", path);
	return 0;
}

static int check_text(const char *path, const char *text, struct complaint *why)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return complain(why, -EINVAL,
					"the token file %s must be one line of printable ASCII "
					"without blanks",
					path);
	if (length < TOKEN_MIN || length > TOKEN_MAX)
		return complain(why, -EINVAL,
				"the token in %s is %zu characters long; it must have %d to %d: "
				"openssl rand -hex 32",
				path, length, TOKEN_MIN, TOKEN_MAX);
	return 0;
}

static int read_line(const char *path, int fd, char text[TOKEN_MAX + 3], struct complaint *why)
{
	ssize_t length = read(fd, text, TOKEN_MAX + 2);

	if (length < 0)
		return complain(why, -errno, "cannot read the token file %s: %s", path,
				strerror(errno));
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	/* A zero byte in it would cut it. */
	if (strlen(text) != (size_t)length)
		return complain(why, -EINVAL, "the token file %s has a zero byte in it", path);
	return check_text(path, text, why);
}

int token_read(const char *path, struct token *token, struct complaint *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[TOKEN_MAX + 3];
	int err;

	if (fd < 0)
		return complain(why, -errno, "cannot open the token file %s: %s", path,
				strerror(errno));
	err = check_file(path, fd, why) ?: read_line(path, fd, text, why);
	close(fd);
	if (err)
		return err;
	memset(token, 0, sizeof(*token));
	memcpy(token->text, text, strlen(text));
	return 0;
}

bool token_is_in(const struct token *token, const char *authorization)
{
	char given[sizeof(token->text)] = "";
	volatile unsigned char differ = 0; /* so that no compiler ends the loop early */
	size_t length;

	if (!token->text[0] || !authorization || strncasecmp(authorization, SCHEME, strlen(SCHEME)))
		return false;
	authorization += strlen(SCHEME);
	length = strlen(authorization);
	if (length >= sizeof(given))
		return false;
	memcpy(given, authorization, length);
	/* All bytes, always: the zeros behind the shorter one too. */
	for (size_t i = 0; i < sizeof(given); i++)
		differ |= (unsigned char)(given[i] ^ token->text[i]);
	return !differ;
}
