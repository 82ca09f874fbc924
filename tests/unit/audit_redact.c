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

/* VALUE is what is found in TEXT; NULL: nothing. */
static void assert_finds(const struct redactor *r, const char *text, const char *value)
{
	size_t at, len;
	char *exact = strdup(text);
	assert_non_null(exact);
	bool found = redact_find(r, exact, strlen(exact), 0, &at, &len);
	assert_int_equal(found, value != NULL);
	if (found)
		assert_true(len == strlen(value) && !memcmp(exact + at, value, len));
	free(exact);
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
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_finds(m.r, cases[i].text, cases[i].value);
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

/* Where a long argument vector is cut: wherever that is within a secret, no four bytes of it are kept. */
static void ends_within_none(void **state)
{
	static const struct {
		const char *text, *value;
	} cases[] = {
		{ "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE" },
		{ "ghp_0123456789abcdefghijKLMNOPQRSTUVWXYZ", "ghp_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
		{ "https://bob:hunter2hunter2@host/x", "hunter2hunter2" },
		{ "--password=hunter2hunter2", "hunter2hunter2" },
		{ "token=other secret_0123456789abcdefghijABCDEFGHIJKLMNOPQRSTUVWXYZ", "secret_0123456789abcdefghijABCDEFGHIJKLMNOPQRSTUVWXYZ" },
	};
	enum { KEPT = 4096 };
	static char argv[2 * KEPT], buf[16384];
	struct made m = make();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t n = strlen(cases[i].text);
		for (size_t in = 1; in <= n + 1; in++) {
			struct call call = { .syscall = "execve", .n_objects = 1, .object[0] = { .kind = OBJECT_FILE, .ops = OP_EXEC } };
			struct record r;
			memset(argv, 'x', sizeof argv);
			argv[KEPT - in - 1] = ' ';
			memcpy(argv + KEPT - in, cases[i].text, n);
			argv[KEPT - in + n] = ' ';
			call.argv = (struct span){ argv, sizeof argv };
			record_begin(&r, buf, sizeof buf, "call");
			r.redactor = m.r;
			record_call(&r, &call, &(struct verdict){ .kind = VERDICT_ALLOW });
			size_t len = record_finish(&r) + 1;
			assert_true(field_valid(buf, len));
			assert_null(memmem(buf, len, cases[i].value, 4));
			assert_null(memmem(buf, len, "argv_hash", 9));
			assert_true(redact_cut(NULL, r.program, argv, sizeof argv, KEPT) == KEPT);
		}
	}
	assert_true(redact_cut(m.r, (struct span[2]){ 0 }, "token=abc", 9, 9) == 9);
	drop(&m);
}

/* Forms as they are met: what is found first, and what must be left alone because it is evidence and no secret. */
static const struct {
	const char *text, *value;
} forms[] = {
	{ "x ghp_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "ghp_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x gho_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "gho_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x ghu_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "ghu_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x ghs_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "ghs_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x ghr_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "ghr_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x github_pat_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "github_pat_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glpat-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glpat-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x gldt-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "gldt-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glrt-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glrt-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glcbt-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glcbt-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glptt-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glptt-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glft-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glft-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x gloas-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "gloas-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glsoat-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glsoat-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glagent-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glagent-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x GR13489410123456789abcdefghijKLMNOPQRSTUVWXYZ y", "GR13489410123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x ATATT30123456789abcdefghijKLMNOPQRSTUVWXYZ y", "ATATT30123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x CCIPAT_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "CCIPAT_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x bkua_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "bkua_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sqp_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sqp_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x squ_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "squ_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sqa_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sqa_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x lin_api_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "lin_api_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x figd_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "figd_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x ntn_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "ntn_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xoxb-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xoxb-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xoxp-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xoxp-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xoxs-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xoxs-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xoxc-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xoxc-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xoxd-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xoxd-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xapp-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xapp-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xkeysib-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xkeysib-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sk_live_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sk_live_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sk_test_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sk_test_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x rk_live_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "rk_live_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x whsec_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "whsec_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x shpat_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "shpat_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x shpss_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "shpss_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sq0atp-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sq0atp-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sk-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sk-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sk-proj-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sk-proj-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sk-ant-api03-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sk-ant-api03-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x hf_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "hf_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x gsk_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "gsk_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x xai-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "xai-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x pplx-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "pplx-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x r8_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "r8_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x tvly-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "tvly-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x lsv2_pt_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "lsv2_pt_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x AIza0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "AIza0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x ya29.0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "ya29.0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x GOCSPX-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "GOCSPX-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x LTAI0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "LTAI0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x dop_v1_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "dop_v1_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x hvs.0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "hvs.0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x hvb.0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "hvb.0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x dapi0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "dapi0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x dp.pt.0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "dp.pt.0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sbp_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sbp_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sb_secret_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sb_secret_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x nfp_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "nfp_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x pscale_tkn_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "pscale_tkn_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x fm2_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "fm2_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glc_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glc_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x glsa_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "glsa_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x sntrys_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "sntrys_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x NRAK-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "NRAK-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x dt0c01.0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "dt0c01.0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x PMAK-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "PMAK-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x npm_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "npm_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x pypi-0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "pypi-0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x rubygems_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "rubygems_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x dckr_pat_0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "dckr_pat_0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x AKCp0123456789abcdefghijKLMNOPQRSTUVWXYZ y", "AKCp0123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x AGE-SECRET-KEY-10123456789abcdefghijKLMNOPQRSTUVWXYZ y", "AGE-SECRET-KEY-10123456789abcdefghijKLMNOPQRSTUVWXYZ" },
	{ "x SG.0123456789abcdefghijKLMNOPQRSTUVWXYZ012345678 y", "SG.0123456789abcdefghijKLMNOPQRSTUVWXYZ012345678" },
	{ "x pul-0123456789abcdefghijKLMNOPQRSTUVWXYZ012345 y", "pul-0123456789abcdefghijKLMNOPQRSTUVWXYZ012345" },
	{ "x secret_0123456789abcdefghijKLMNOPQRSTUVWXYZ012345678 y", "secret_0123456789abcdefghijKLMNOPQRSTUVWXYZ012345678" },
	{ "x AKIAIOSFODNN7EXAMPLE y", "AKIAIOSFODNN7EXAMPLE" },
	{ "ASIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE" },
	{ "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U" },
	{ "https://hooks.slack.com/services/T000/B000/XXXX z", "T000/B000/XXXX" },
	{ "https://discord.com/api/webhooks/1/abc", "1/abc" },
	{ "https://api.telegram.org/bot123456:AAabc/getMe", "123456:AAabc/getMe" },
	{ "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY aws", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
	{ "AWS_SECRET=abc x", "abc" },
	{ "AWS_SESSION_TOKEN=abc x", "abc" },
	{ "PGPASSWORD=abc psql", "abc" },
	{ "MYSQL_PWD=abc mysql", "abc" },
	{ "DB_PASS=abc x", "abc" },
	{ "DefaultEndpointsProtocol=https;AccountName=n;AccountKey=abc==;x", "abc==" },
	{ "Server=s;Uid=u;Pwd=abc;", "abc" },
	{ "https://a.blob.core.windows.net/c?sv=1&sig=abc%3D", "abc%3D" },
	{ "https://a/?sig=abc&x=1", "abc" },
	{ "SharedAccessSignature=abc", "abc" },
	{ "//registry.npmjs.org/:_authToken=abc", "abc" },
	{ "//r/:_auth=abc", "abc" },
	{ "https://x/?X-Amz-Signature=abc&y", "abc" },
	{ "client_secret=abc&x", "abc" },
	{ "private_key=abc", "abc" },
	{ "--password=abc x", "abc" },
	{ "--password abc x", "abc" },
	{ "--db-password abc x", "abc" },
	{ "--auth-token abc x", "abc" },
	{ "-token abc x", "abc" },
	{ "--passphrase abc x", "abc" },
	{ "--client-secret abc", "abc" },
	{ "--api-key abc", "abc" },
	{ "--pass=abc", "abc" },
	{ "-H Authorization:\\ Bearer\\ abc.DEF x", "abc.DEF" },
	{ "-H Authorization:\\ Basic\\ dTpw x", "dTpw" },
	{ "-H Authorization:\\ token\\ abc x", "abc" },
	{ "-H Authorization:abc x", "abc" },
	{ "Authorization: SSWS abc", "abc" },
	{ "-H X-Vault-Token:\\ abc x", "abc" },
	{ "-H X-Api-Key:abc x", "abc" },
	{ "-H PRIVATE-TOKEN:\\ abc x", "abc" },
	{ "-H Ocp-Apim-Subscription-Key:\\ abc", "abc" },
	{ "-H Cookie:\\ sid=abc x", "sid=abc" },
	{ "-d {\\\"user\\\":\\\"bob\\\",\\\"password\\\":\\\"hun\\\\\\\"ter2\\\",\\\"x\\\":1} y", "hun\\\\\\\"ter2" },
	{ "-c curl\\ -d\\ \\\"{\\\\\\\"password\\\\\\\":\\\\\\\"lion7\\\\\\\",\\\\\\\"user\\\\\\\":1}\\\"", "lion7" },
	{ "{\"password\": \"hunter2\", \"a\": 1}", "hunter2" },
	{ "{'api_key': 'abc', 'b': 2}", "abc" },
	{ "{\"client_secret\" : \"abc\"}", "abc" },
	{ "{\"refresh_token\":\"abc\"}", "abc" },
	{ "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc==\n-----END RSA PRIVATE KEY-----", "\nMIIE\nabc==\n" },
	{ "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3\\n", "\\nb3\\n" },
	{ "git clone https://me:hunter2@host/x.git", "hunter2" },
	{ "redis://:hunter2@h:6379/0", "hunter2" },
	{ "amqp://u:p@h", "p" },
	{ "https://ghp_0123456789abcdefghij@host/", "ghp_0123456789abcdefghij" },
	{ "-c mysql\\ -u\\ root\\ -psecret\\ db; x", "secret" },
	{ "mysql -psecret db", "secret" },
	{ "sshpass -p secret ssh h", "secret" },
	{ "curl -u me:secret https://h", "secret" },
	{ "curl -u me:secret\\ x https", "secret\\ x" },
	{ "curl --user me:secret h", "secret" },
	{ "redis-cli -a secret get", "secret" },
	{ "cd x && docker login -u me -p secret r", "secret" },
	{ "openssl enc -pass pass:secret -in", "secret" },
	{ "-c PASSWORD=a\\ make", "a\\ make" },
	{ "-c cd\\ x;\\ PASSWORD=a\\ make\\ all", "a" },
	{ "-c export\\ TOKEN=\\\"a\\ b\\\"\\ make", "\\\"a\\ b\\\"" },
	{ "TOKEN='a b' make", "'a b'" },
	{ "-c echo\\ \\\"password=my\\ secret\\ word\\\"\\ ;\\ x", "my\\ secret\\ word" },
	{ "-c curl\\ 'user_token=my\\ word&x=1'\\ 'b'", "my\\ word" },
	{ "-c X=\\\"--password=a\\ b\\\"\\ y", "a\\ b" },
	{ "-c x\\ \\\"password=a\\ b", "a" },
	{ "-c y\\ \\\"x\\\"password=a\\ b\\\"", "a" },
	{ "asia-southeast1-docker.pkg.dev/p/i", NULL },
	{ "sk-learn-some-example-project", NULL },
	{ "npm_config_some_very_long_option_name_here", NULL },
	{ "mkdir -p dir", NULL },
	{ "ssh -p 22 h", NULL },
	{ "docker run -p 80:80 -u 1000:1000 i", NULL },
	{ "git push -u origin HEAD:main", NULL },
	{ "gcc -pthread -pipe x.c", NULL },
	{ "bypass=1 compass=2", NULL },
	{ "OLDPWD=/home/u PWD=/home/u", NULL },
	{ "print(\"token=\" + x)", NULL },
	{ "psql --no-password host", NULL },
	{ "--token --verbose", NULL },
	{ "--password-file /run/x", NULL },
	{ "kubectl get secret name", NULL },
	{ "reset password flow", NULL },
	{ "https://host:8080/a@b", NULL },
	{ "/usr/share/dict/words", NULL },
	{ "-m fix\\ csrf-token\\ handling", NULL },
	{ "mysql -p -u root", NULL },
	{ "max_tokens=5", NULL },
	{ "{\\\"max_tokens\\\":5}", NULL },
	{ "password.c", NULL },
	{ "/src/token.rs", NULL },
	{ "sort_key=name", NULL },
	{ "AKIAIOSFODNN7EXAMPLEX1", NULL },
	{ "curl -u me https://h:80", NULL },
	{ "-----BEGIN PUBLIC KEY-----\nx", NULL },
	{ "-----BEGIN CERTIFICATE-----\nx", NULL },
	{ "eyJust.some.file.name.with.dots.in.it", NULL },
	{ "zip -r x.zip -P", NULL },
	{ "sshpass -p\\", NULL },
};

/* Behind FRONT, as the scan looks at every second place only. */
static bool finds_form(const struct redactor *r, const char *front, const char *text, const char *want)
{
	size_t at = 0, len = 0, n = strlen(front) + strlen(text);
	char *exact = malloc(n + 1), *tight = malloc(n ? n : 1);
	assert_true(exact && tight);
	snprintf(exact, n + 1, "%s%s", front, text);
	memcpy(tight, exact, n); /* without the NUL: nothing behind is looked at */
	bool found = redact_find(r, tight, n, 0, &at, &len);
	if (found != (want != NULL) || (want && (len != strlen(want) || memcmp(tight + at, want, len) != 0)))
		fail_msg("%s: found '%.*s', expected '%s'", exact, found ? (int)len : 0, tight + at, want ? want : "nothing");
	free(tight);
	free(exact);
	return found;
}

static void known_forms(void **state)
{
	static const char *const fronts[] = { "", " ", "  ", "a/b ", "a/bc " };
	struct made m = make();
	unsigned secret = 0;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		for (size_t k = 0; k < sizeof fronts / sizeof fronts[0]; k++)
			secret += finds_form(m.r, fronts[k], forms[i].text, forms[i].value);
	assert_true(secret >= 500);
	drop(&m);
}

/* Options that are secret with one program and a port or a directory with another. */
static void options_of_programs(void **state)
{
	static const struct {
		const char *program, *args, *value;
	} cases[] = {
		{ "/usr/bin/mysql", "-u root -psecret db", "secret" },
		{ "/usr/bin/mysqldump", "-psecret", "secret" },
		{ "/usr/bin/mysql", "-p db", NULL },
		{ "/usr/bin/mkdir", "-psecret", NULL },
		{ "/usr/bin/ssh", "-p 22 h", NULL },
		{ "/usr/bin/sshpass", "-p secret ssh -p 22 h", "secret" },
		{ "/usr/bin/curl", "-s -u me:secret https://h/", "secret" },
		{ "/usr/bin/curl", "-ume:secret https://h/", "secret" },
		{ "/usr/bin/curl", "-u me https://h:80/", NULL },
		{ "/usr/bin/docker", "login -u me -p secret", "secret" },
		{ "/usr/bin/docker", "run -p 80:80 i", NULL },
		{ "", "-psecret", NULL },
	};
	struct made m = make();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct span program[2] = { { cases[i].program, (uint32_t)strlen(cases[i].program) } };
		size_t at = 0, len = 0;
		const char *want = cases[i].value;
		bool found = redact_find_given(m.r, program, cases[i].args, strlen(cases[i].args), 0, &at, &len);
		if (found != (want != NULL) || (want && (len != strlen(want) || memcmp(cases[i].args + at, want, len) != 0)))
			fail_msg("%s %s: found '%.*s'", cases[i].program, cases[i].args, found ? (int)len : 0, cases[i].args + at);
	}
	char *const mysql[] = { "/usr/bin/mysql", "-psecret", "db", NULL }, *const curl[] = { "curl", "-u", "me:secret", "https://h:80", NULL };
	char *const login[] = { "docker", "login", "-p", "secret", NULL }, *const run[] = { "docker", "run", "-p", "80:80", NULL };
	assert_true(redact_argument(m.r, mysql, 1));
	assert_false(redact_argument(m.r, mysql, 2));
	assert_true(redact_argument(m.r, curl, 2));
	assert_false(redact_argument(m.r, curl, 3));
	assert_true(redact_argument(m.r, login, 3));
	assert_false(redact_argument(m.r, run, 3));
	drop(&m);
}

/* Two values of one command: the second is found although the first lies between it and the program's name. */
static void second_value(void **state)
{
	static const char text[] = "-c mysql\\ --password=one\\ -ptwo";
	struct made m = make();
	size_t at, len;
	assert_true(redact_find(m.r, text, sizeof text - 1, 0, &at, &len));
	assert_memory_equal(text + at, "one", len);
	assert_true(redact_find(m.r, text, sizeof text - 1, at + len, &at, &len));
	assert_memory_equal(text + at, "two", len);
	assert_false(redact_find(m.r, text, sizeof text - 1, at + len, &at, &len));
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

/* Leads are found by their first bytes, which a program may write in several ways: a blank in an argument, and any quote. */
static void blanks_and_quotes_in_front(void **state)
{
	static const char *const leads[] = { "my zork=", "a b=", " x=", "  y=", "p \"k\":", "\"q\":", "w\"=" };
	static const char *const texts[] = {
		"run my zork=V x",   "run my\\ zork=V x", "a b=V",	  "a\\ b=V",		"run -t x=V z",	     "'run\\ x=V",
		"run  y=V",	     "run\\ \\ y=V",	   "run\\  y=V",	  "run \\ y=V",	"p \"k\":V",	     "p\\ \"k\":V",
		"p 'k':V",	     "p \\\"k\\\":V",   "p\\ \\\\\\\"k':V", "\"q\":V",		"'q':V",	     "\\\"q\\\":V",
		"\\\\\\\\\\\"q':V", "w\"=V",	   "w'=V",	  "w\\\\\"=V", "W\\\\\\\\'=V", "MY\\ ZORK=V",
	};
	struct made m = make();
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_finds(m.r, texts[i], NULL);
	for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++)
		assert_int_equal(redactor_add(m.r, leads[i]), 0);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_finds(m.r, texts[i], "V");
	drop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds),
		cmocka_unit_test(blanks_and_quotes_in_front),
		cmocka_unit_test(known_forms),
		cmocka_unit_test(options_of_programs),
		cmocka_unit_test(second_value),
		cmocka_unit_test(opens),
		cmocka_unit_test(ends_within_none),
		cmocka_unit_test(stays_injective),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
