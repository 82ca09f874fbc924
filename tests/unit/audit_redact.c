/* SPDX-License-Identifier: Apache-2.0 */
/* What is redacted and what is not; that a commitment opens, and that text stays injective. */
#include <errno.h>
#include <sys/stat.h>

#include "audit/field.h"
#include "audit/redact.h"
#include "audit_util.h"

struct made {
	char salts[80];
	struct redactor *r;
};

static struct made make(void)
{
	char dir[64];
	struct made m;
	snprintf(m.salts, sizeof m.salts, "%s.salts", fresh_dir(dir));
	assert_true(sodium_init() >= 0);
	assert_int_equal(redactor_new(m.salts, &m.r), 0);
	return m;
}

static void drop(struct made *m)
{
	redactor_free(m->r);
	unlink(m->salts);
}

static void finds(void **state)
{
	static const struct {
		const char *text, *value; /* NULL: nothing is found */
	} cases[] = {
		{ "curl --token abc123 x", "abc123" },
		{ "curl -H Authorization:\\ Bearer\\ abc.DEF x", "abc.DEF" },
		{ "https://x.org/?a=b&access_token=zzz&c=d", "zzz" },
		{ "PASSWORD=hunter2 make", "hunter2" },
		{ "--password=a\\ b\\\"c next", "a\\ b\\\"c" },
		{ "x ghp_0123456789abcdefghij y", "ghp_0123456789abcdefghij" },
		{ "--pin=1234", "1234" },
		{ "--PIN=1234;", "1234" },
		{ "git push https://me:hunter2@host/x.git", "hunter2" },
		{ "https://0123456789abcdefghij@host/", "0123456789abcdefghij" },
		{ "postgres://u:p%40@w@db:5432/x", "p%40@w" },
		{ "ssh://git@host/x", NULL },
		{ "https://host:8080/a@b", NULL },
		{ "https://x/?X-Amz-Signature=abc&y", "abc" },
		{ "/home/u/src/main.c", NULL },
		{ "ghp_short", NULL },
		{ "task-0123456789abcdefghijklm", NULL },
		{ "token= x", NULL },
		{ "", NULL },
		{ "pi", NULL },
	};
	struct made m = make();
	assert_int_equal(redactor_add(m.r, "--pin="), 0);
	assert_int_equal(redactor_add(m.r, "a="), -EINVAL);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t at, len;
		char *exact = strdup(cases[i].text);
		assert_non_null(exact);
		bool found = redact_find(m.r, exact, strlen(exact), 0, &at, &len);
		assert_int_equal(found, cases[i].value != NULL);
		if (found)
			assert_true(len == strlen(cases[i].value) && !memcmp(exact + at, cases[i].value, len));
		free(exact);
	}
	assert_true(redact_follows(m.r, "--password", 10));
	assert_true(redact_follows(m.r, "Bearer", 6));
	assert_false(redact_follows(m.r, "--pass", 6));
	drop(&m);
}

static void opens(void **state)
{
	struct made m = make();
	char buf[4096], line[2048], value[256];
	struct record r;
	struct field f, commitment, salt;
	struct stat st;
	uint8_t key[32], hash[32];
	char hex[DIGEST_HEX + 1] = "";
	record_begin(&r, buf, sizeof buf, "call");
	r.redactor = m.r;
	static const char argv[] = "--token s\xff" "1 and token=s2";
	record_bytes(&r, "argv", (struct span){ argv, sizeof argv - 1 });
	record_list(&r, "list");
	record_secret(&r, (struct span){ "whole", 5 });
	record_close(&r);
	size_t n = record_finish(&r) + 1;
	assert_true(field_valid(buf, n));
	assert_null(memmem(buf, n, "s2", 2));
	assert_null(memmem(buf, n, "whole", 5));
	assert_int_equal(stat(m.salts, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	FILE *file = fopen(m.salts, "r");
	assert_non_null(file);
	unsigned lines = 0;
	for (; fgets(line, sizeof line, file); lines++) {
		size_t len = strcspn(line, "\n");
		assert_true(field_find(line, len, "commitment", &commitment) && field_find(line, len, "salt", &salt) &&
			    field_find(line, len, "value", &f));
		long bytes = field_bytes(&f, value);
		assert_true(bytes > 0 && hex_read(key, sizeof key, salt.value));
		crypto_generichash(hash, sizeof hash, (uint8_t *)value, (size_t)bytes, key, sizeof key);
		hex_write(hex, hash, sizeof hash);
		assert_true(field_is(&commitment, hex));
		assert_non_null(strstr(buf, hex));
	}
	assert_int_equal(lines, 3);
	fclose(file);
	drop(&m);
}

/* A name that looks like a redaction does not come out as one. */
static void stays_injective(void **state)
{
	struct made m = make();
	char a[1024], b[1024], name[128];
	struct record r;
	snprintf(name, sizeof name, "%s%064d>", REDACT_OPEN, 0);
	record_begin(&r, a, sizeof a, "call");
	r.redactor = m.r;
	record_bytes(&r, "object", (struct span){ name, (uint32_t)strlen(name) });
	a[record_finish(&r) + 1] = '\0';
	assert_non_null(strstr(a, REDACT_OPEN REDACT_OPEN));
	/* Without a redactor everything is as it is. */
	record_begin(&r, b, sizeof b, "call");
	record_bytes(&r, "object", (struct span){ "token=x", 7 });
	b[record_finish(&r) + 1] = '\0';
	assert_non_null(strstr(b, "\"token=x\""));
	drop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds),
		cmocka_unit_test(opens),
		cmocka_unit_test(stays_injective),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
