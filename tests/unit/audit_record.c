/* SPDX-License-Identifier: Apache-2.0 */
/* The record builder: the text it writes, and that nothing is cut silently. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include "audit/digest.h"
#include "audit/field.h"
#include "audit/redact.h"
#include "audit/stamp.h"
#include "audit_util.h"

static const char *text_of(struct record *r)
{
	size_t n = record_finish(r);
	assert_true(n > 0);
	assert_true(field_valid(r->buf, n + 1));
	r->buf[n + 1] = '\0';
	return r->buf;
}

static void writes_fields(void **state)
{
	char buf[512];
	struct record r;
	record_begin(&r, buf, sizeof buf, "note");
	record_text(&r, "a", "x\"y");
	record_text(&r, "absent", NULL);
	record_bytes(&r, "absent", (struct span){ 0 });
	record_bytes(&r, "empty", (struct span){ "", 0 });
	record_int(&r, "min", INT64_MIN);
	record_bool(&r, "t", true);
	record_list(&r, "l");
	record_item(&r, SPAN_LITERAL("one"));
	record_object(&r, NULL);
	record_int(&r, "n", 0);
	record_close(&r);
	record_close(&r);
	record_object(&r, "o");
	assert_string_equal(text_of(&r), "{\"type\":\"note\",\"a\":\"x\\\"y\",\"empty\":\"\",\"min\":-9223372036854775808,"
					 "\"t\":true,\"l\":[\"one\",{\"n\":0}],\"o\":{}}");
	record_text(&r, "grows", "on"); /* finishing changed nothing */
	record_close(&r);
	assert_non_null(strstr(text_of(&r), "\"o\":{\"grows\":\"on\"}}"));
}

static void too_much_is_broken(void **state)
{
	char buf[200];
	for (size_t cap = 0; cap < sizeof buf; cap++) {
		struct record r;
		memset(buf, '#', sizeof buf);
		record_begin(&r, buf, cap, "note");
		record_text(&r, "text", "\x01\x02 some \xff text that is not short");
		record_list(&r, "l");
		record_list(&r, NULL);
		size_t n = record_finish(&r);
		for (size_t i = cap; i < sizeof buf; i++)
			assert_int_equal(buf[i], '#');
		if (n)
			assert_true(field_valid(buf, n + 1));
		else
			assert_true(r.broken);
	}
}

static void broken_is_refused(void **state)
{
	char dir[64], buf[64];
	struct journal *j = make_journal(fresh_dir(dir));
	struct record r;
	uint64_t seq = 0;
	note(&r, buf, sizeof buf, "much longer than the little room that there is");
	assert_int_equal(journal_append(j, &r, &seq), -EMSGSIZE);
	uint32_t slot;
	assert_int_equal(journal_intent(j, &r, &slot), -EMSGSIZE);
	assert_int_equal(append_note(j, "fits", &seq), 0); /* one bad record does not stop the journal */
	assert_int_equal(seq, 1);
	close_with_end(j);
	remove_dir(dir);
}

static void names_objects(void **state)
{
	static const struct {
		struct object object;
		const char *text;
	} rows[] = {
		{ { .kind = OBJECT_FILE, .name = { "/etc/x", 6 } }, "/etc/x" },
		{ { .kind = OBJECT_UNIX, .name = { "/run/s", 6 } }, "unix:/run/s" },
		{ { .kind = OBJECT_ABSTRACT, .name = { "s\0t", 3 } }, "unix:@s\\u0000t" },
		{ { .kind = OBJECT_INET, .inet = { .addr = { [10] = 0xff, 0xff, 127, 0, 0, 1 }, .port = 80, .proto = PROTO_TCP } },
		  "tcp:127.0.0.1:80" },
		{ { .kind = OBJECT_INET, .inet = { .addr = { [15] = 1 }, .port = 53, .proto = PROTO_UDP } }, "udp:[::1]:53" },
		{ { .kind = OBJECT_INET, .inet = { .addr = { 0xfe, 0x80, [15] = 1 }, .port = 1, .scope = 2, .proto = PROTO_TCP } },
		  "tcp:[fe80::1%2]:1" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char buf[512];
		struct record r;
		struct field f;
		record_begin(&r, buf, sizeof buf, "call");
		record_name(&r, "object", &rows[i].object);
		const char *text = text_of(&r);
		assert_true(field_find(text, strlen(text), "object", &f));
		assert_true(field_is(&f, rows[i].text));
	}
}

static void names_calls(void **state)
{
	char buf[1024];
	struct record r;
	struct call call = { .syscall = "rename",
			     .by = { .pid = 7, .tid = 8, .image = { .exe = SPAN_LITERAL("/bin/mv") } },
			     .n_objects = 2,
			     .object = { { .kind = OBJECT_FILE, .ops = OP_DELETE, .name = SPAN_LITERAL("/a") },
					 { .kind = OBJECT_FILE, .ops = OP_CREATE, .name = SPAN_LITERAL("/b"), .named = SPAN_LITERAL("b") } } };
	struct verdict verdict = { .kind = VERDICT_ALLOW, .where = "x.rules:3" };
	record_begin(&r, buf, sizeof buf, "call");
	record_call(&r, &call, &verdict);
	record_result(&r, -2);
	assert_string_equal(text_of(&r),
			    "{\"type\":\"call\",\"pid\":7,\"tid\":8,\"exe\":\"/bin/mv\",\"call\":\"rename\",\"op\":[\"create\",\"delete\"],"
			    "\"object\":\"/a\",\"objects\":[{\"op\":[\"delete\"],\"object\":\"/a\"},{\"op\":[\"create\"],"
			    "\"object\":\"/b\",\"named\":\"b\"}],\"verdict\":\"allow\",\"rule\":\"x.rules:3\",\"result\":\"ENOENT\"}");
}

/* A call whose name could not be read says nothing that is known. */
static void says_nothing(const char *syscall, enum call_says says)
{
	char buf[1024];
	struct record r;
	struct call call = { .syscall = syscall, .says = says };
	struct verdict verdict = { .kind = VERDICT_DENY, .where = "native" };
	record_begin(&r, buf, sizeof buf, "call");
	record_call(&r, &call, &verdict);
	const char *text = text_of(&r);
	assert_null(strstr(text, "\"mode\""));
	assert_null(strstr(text, "\"owner\""));
	assert_null(strstr(text, "\"length\""));
	assert_null(strstr(text, "ed\":")); /* accessed, modified */
}

/* What a call SAYS beside its object: the end of its record before the verdict. */
static void says(const char *syscall, op_set ops, enum call_says says, uint64_t said, const char *expected)
{
	char buf[1024], end[128];
	struct record r;
	struct call call = { .syscall = syscall, .n_objects = 1, .says = says, .said = said,
			     .object = { { .kind = OBJECT_FILE, .ops = ops, .name = SPAN_LITERAL("/a") } } };
	struct verdict verdict = { .kind = VERDICT_DENY, .where = "x.rules:3" };
	if (says == SAYS_LINK || says == SAYS_ATTRIBUTE)
		call.text = SPAN_LITERAL("../a\"b");
	record_begin(&r, buf, sizeof buf, "call");
	record_call(&r, &call, &verdict);
	snprintf(end, sizeof end, ",\"object\":\"/a\"%s,\"verdict\":\"deny\",\"rule\":\"x.rules:3\"}", expected);
	const char *text = text_of(&r), *at = strstr(text, ",\"object\"");
	assert_non_null(at);
	assert_string_equal(at, end);
}

static void names_modes_and_owners(void **state)
{
	const uint64_t none = UINT32_MAX, creates = O_CREAT | O_WRONLY;
	says("chmod", OP_ATTR, SAYS_MODE, 04755, ",\"mode\":\"4755\"");
	says("fchmod", OP_ATTR, SAYS_MODE, 0, ",\"mode\":\"0000\"");
	says("mknod", OP_CREATE, SAYS_MODE, S_IFIFO | 0600, ",\"mode\":\"10600\"");
	says("chown", OP_ATTR, SAYS_OWNER, UINT64_C(1000) << SAYS_ABOVE | 5, ",\"owner\":\"1000:5\"");
	says("chown", OP_ATTR, SAYS_OWNER, none << SAYS_ABOVE | 0, ",\"owner\":\":0\"");
	says("chown", OP_ATTR, SAYS_OWNER, UINT64_C(4294967294) << SAYS_ABOVE | none, ",\"owner\":\"4294967294:\"");
	says("chown", OP_ATTR, SAYS_OWNER, none << SAYS_ABOVE | none, "");
	says("open", OP_MODIFY | OP_CREATE, SAYS_OPEN, creates | UINT64_C(0640) << SAYS_ABOVE, ",\"mode\":\"0640\"");
	says("open", OP_MODIFY, SAYS_OPEN, creates | UINT64_C(0640) << SAYS_ABOVE, "");
	says("open", OP_MODIFY | OP_CREATE, SAYS_OPEN, creates | O_TRUNC | UINT64_C(0640) << SAYS_ABOVE, ",\"mode\":\"0640\",\"length\":0");
	says("open", OP_MODIFY, SAYS_OPEN, O_TRUNC, ",\"length\":0");
	says("open", OP_READ, SAYS_OPEN, O_TRUNC | O_PATH, "");
	says("renameat2", OP_CREATE | OP_DELETE, SAYS_FLAGS, 0, "");
	says("truncate", OP_MODIFY, SAYS_LENGTH, 0, ",\"length\":0");
	says("truncate", OP_MODIFY, SAYS_LENGTH, INT64_MAX, ",\"length\":9223372036854775807");
	says("symlink", OP_CREATE, SAYS_LINK, 0, ",\"link\":\"../a\\\"b\"");
	says("setxattr", OP_ATTR, SAYS_ATTRIBUTE, 0, ",\"attribute\":\"../a\\\"b\"");
	says_nothing("chmod", SAYS_MODE);
	says_nothing("chown", SAYS_OWNER);
	says_nothing("truncate", SAYS_LENGTH);
}

static const char *flags_of(const char *syscall, enum call_says says, uint64_t said, const void *text, size_t len)
{
	static char out[CALL_FLAGS_TEXT];
	struct call call = { .syscall = syscall, .n_objects = 1, .says = says, .said = said, .text = { text, (uint32_t)len },
			     .object = { { .kind = OBJECT_FILE, .ops = OP_CREATE } } };
	size_t n = call_flags_text(&call, out);
	assert_int_equal(n, strlen(out));
	return out;
}

static void names_flags(void **state)
{
	(void)state;
	says("renameat2", OP_CREATE | OP_DELETE, SAYS_FLAGS, RENAME_NOREPLACE, ",\"flags\":\"noreplace\"");
	says("renameat2", OP_CREATE | OP_DELETE, SAYS_FLAGS, RENAME_EXCHANGE, ",\"flags\":\"exchange\"");
	says("renameat2", OP_CREATE | OP_DELETE, SAYS_FLAGS, RENAME_NOREPLACE | RENAME_WHITEOUT, ",\"flags\":\"noreplace,whiteout\"");
	says("unlinkat", OP_DELETE, SAYS_FLAGS, AT_REMOVEDIR, ",\"flags\":\"directory\"");
	says("linkat", OP_CREATE, SAYS_FLAGS, AT_SYMLINK_FOLLOW, "");
	says("openat", OP_CREATE, SAYS_OPEN, O_TMPFILE | O_RDWR | UINT64_C(0600) << SAYS_ABOVE, ",\"mode\":\"0600\",\"flags\":\"tmpfile\"");
	says("openat", OP_READ, SAYS_OPEN, O_DIRECTORY, "");
	says_nothing("ioctl", SAYS_MARKS);

	int flags = FS_IMMUTABLE_FL | FS_NOATIME_FL, unknown = 0x400000, none = 0, all = -1;
	assert_string_equal(flags_of("ioctl", SAYS_MARKS, MARKS_INT, &flags, sizeof(flags)), "immutable,noatime");
	assert_string_equal(flags_of("ioctl", SAYS_MARKS, MARKS_INT, &unknown, sizeof(unknown)), "0x400000");
	assert_string_equal(flags_of("ioctl", SAYS_MARKS, MARKS_INT, &none, sizeof(none)), "none");
	assert_true(strlen(flags_of("ioctl", SAYS_MARKS, MARKS_INT, &all, sizeof(all))) < CALL_FLAGS_TEXT - 1);
	assert_string_equal(flags_of("ioctl", SAYS_MARKS, MARKS_INT, &flags, 3), "");
	struct fsxattr fsx = { .fsx_xflags = FS_XFLAG_APPEND | FS_XFLAG_RTINHERIT, .fsx_projid = 7 };
	assert_string_equal(flags_of("ioctl", SAYS_MARKS, MARKS_FSX, &fsx, sizeof(fsx)), "append,0x100");
	uint64_t attr[3] = { FS_XFLAG_IMMUTABLE | UINT64_C(1) << 40, 0, 9 };
	assert_string_equal(flags_of("file_setattr", SAYS_MARKS, MARKS_ATTR, attr, sizeof(attr)), "immutable,0x10000000000");

	struct call call = { .syscall = "file_setattr", .n_objects = 1, .says = SAYS_MARKS, .said = MARKS_ATTR, .text = { (const char *)attr, sizeof(attr) } };
	uint32_t project = 0;
	assert_true(call_project(&call, &project));
	assert_int_equal(project, 9);
	call.said = MARKS_INT;
	assert_false(call_project(&call, &project));
}

/* A name alone would be taken for what has it now. */
static void names_what_is_deleted(void **state)
{
	char buf[1024];
	struct record r;
	struct call call = { .syscall = "fchmod", .n_objects = 1, .object = { { .kind = OBJECT_FILE, .ops = OP_ATTR, .name = SPAN_LITERAL("/a"), .deleted = true, .nlink = 2, .ino = 77 } } };
	struct verdict verdict = { .kind = VERDICT_ALLOW };
	(void)state;
	record_begin(&r, buf, sizeof buf, "call");
	record_call(&r, &call, &verdict);
	assert_non_null(strstr(text_of(&r), "\"object\":\"/a\",\"deleted\":true,\"links\":2,\"inode\":77,"));
	call.object[0].nlink = 0;
	record_begin(&r, buf, sizeof buf, "call");
	record_call(&r, &call, &verdict);
	assert_non_null(strstr(text_of(&r), "\"object\":\"/a\",\"deleted\":true,\"verdict\""));
}

/* The time WHICH of a call that says ACCESSED and MODIFIED, "" where it says none. */
static const char *time_said(struct timespec accessed, struct timespec modified, enum call_time which)
{
	static char text[CALL_TIME_TEXT];
	const struct timespec times[2] = { accessed, modified };
	struct call call = { .syscall = "utimensat", .n_objects = 1, .says = SAYS_TIMES, .text = { (const char *)times, sizeof(times) } };
	size_t n = call_time_text(&call, which, text);
	assert_int_equal(n, n ? strlen(text) : 0);
	return n ? text : "";
}

static void names_times(void **state)
{
	const struct timespec now = { 7, UTIME_NOW }, kept = { 7, UTIME_OMIT }, leap = { 951782399, 5 }, none = { 0, 0 };
	(void)state;
	assert_string_equal(time_said(leap, none, CALL_ACCESSED), "2000-02-28T23:59:59.000000005Z");
	assert_string_equal(time_said(leap, none, CALL_MODIFIED), "1970-01-01T00:00:00.000000000Z");
	assert_string_equal(time_said((struct timespec){ 253402300799, 999999999 }, none, CALL_ACCESSED), "9999-12-31T23:59:59.999999999Z");
	assert_string_equal(time_said((struct timespec){ 253402300800, 0 }, none, CALL_ACCESSED), "@253402300800.000000000");
	assert_string_equal(time_said((struct timespec){ -1, 5 }, none, CALL_ACCESSED), "@-1.000000005");
	assert_string_equal(time_said((struct timespec){ INT64_MIN, INT64_MIN }, none, CALL_ACCESSED), "@-9223372036854775808.-9223372036854775808");
	assert_string_equal(time_said(now, leap, CALL_ACCESSED), "now");
	assert_string_equal(time_said(kept, leap, CALL_ACCESSED), "");
	assert_string_equal(time_said(kept, now, CALL_MODIFIED), "now");
	assert_string_equal(time_said(now, now, CALL_MODIFIED), "");
	says_nothing("utimensat", SAYS_TIMES);
}

#define MANY 20000
static const char *const programs[] = { "/bin/mv", "/bin/sh", "/tmp/a\"b\xff", "", "/opt/ghp_0123456789abcdefghijklmnopqrstuvwxyz/tool" };

/* A call of one of a few callers, drawn from SEED; LONG_EXE does not fit into a memo. */
static void draw_call(unsigned *seed, const char *long_exe, struct call *call)
{
	static const struct image parent = { .pid = 3 };
	size_t which = (size_t)rand_r(seed) % 7;
	const char *exe = which < 5 ? programs[which] : which == 5 ? long_exe : NULL;

	*call = (struct call){ .syscall = "openat",
			       .by = { .pid = 7 + rand_r(seed) % 2, .tid = 8 + rand_r(seed) % 2 },
			       .n_objects = 1,
			       .object = { { .kind = OBJECT_FILE, .ops = rand_r(seed) % 4 ? OP_READ : OP_EXEC, .name = SPAN_LITERAL("/a") } } };
	if (exe)
		call->by.image.exe = (struct span){ exe, (uint32_t)strlen(exe) };
	if (rand_r(seed) % 2) {
		call->by.ancestors = &parent;
		call->by.n_ancestors = 1;
	}
}

/* With a memo and without the records are the same, whoever called before; a secret has another commitment in each. */
static void memo_changes_nothing(void **state)
{
	char dir[64], salts[80], long_exe[MEMO_EXE + 50], with[2048], without[2048];
	struct verdict verdict = { .kind = VERDICT_ALLOW, .where = "x.rules:3" };
	struct record_memo memo = { 0 };
	struct redactor *redactor;
	unsigned seed = 5, secrets = 0;

	snprintf(salts, sizeof salts, "%s.salts", fresh_dir(dir));
	assert_int_equal(redactor_new(salts, &redactor), 0);
	memset(long_exe, 'x', sizeof long_exe - 1);
	long_exe[0] = '/';
	long_exe[sizeof long_exe - 1] = '\0';
	for (unsigned i = 0; i < MANY; i++) {
		struct call call;
		struct record r;
		draw_call(&seed, long_exe, &call);
		struct redactor *now = rand_r(&seed) % 4 ? redactor : NULL;
		record_begin(&r, with, sizeof with, "call");
		r.redactor = now;
		r.memo = &memo;
		record_call(&r, &call, &verdict);
		text_of(&r);
		record_begin(&r, without, sizeof without, "call");
		r.redactor = now;
		record_call(&r, &call, &verdict);
		text_of(&r);
		if (strstr(without, REDACT_OPEN)) {
			secrets++;
			assert_null(strstr(with, "ghp_0123"));
			assert_string_not_equal(with, without);
		} else {
			assert_string_equal(with, without);
		}
	}
	assert_true(secrets > 100);
	redactor_free(redactor);
	unlink(salts);
	remove_dir(dir);
}

static void memo_of_stamps(void **state)
{
	struct stamp_memo memo = { 0 };
	char first[STAMP_LEN];
	unsigned seed = 6;
	uint64_t now = UINT64_C(1795000000) * 1000000000;

	stamp_write_memo(&memo, first, 5000);
	assert_memory_equal(first, "1970-01-01T00:00:00.000005Z", STAMP_LEN);
	for (unsigned i = 0; i < MANY; i++) {
		char with[STAMP_LEN], without[STAMP_LEN];
		uint64_t ns = now + (uint64_t)rand_r(&seed) * 3;
		now += rand_r(&seed) % 50 ? 20000000 : UINT64_C(86400) * 1000000000;
		stamp_write_memo(&memo, with, ns);
		stamp_write(without, ns);
		assert_memory_equal(with, without, STAMP_LEN);
	}
}

static void writes_hex(void **state)
{
	uint8_t bytes[70];
	char hex[2 * sizeof bytes + 1];

	for (unsigned c = 0; c < 256; c++) {
		for (size_t n = 0; n <= sizeof bytes; n++) {
			for (size_t i = 0; i < n; i++)
				bytes[i] = (uint8_t)(c + i * 7);
			memset(hex, '#', sizeof hex);
			hex_write(hex, bytes, n);
			assert_int_equal(hex[2 * n], '#');
			for (size_t i = 0; i < n; i++) {
				char two[3];
				snprintf(two, sizeof two, "%02x", bytes[i]);
				assert_memory_equal(hex + 2 * i, two, 2);
			}
		}
	}
}

static void pads_as_sha256_does(void **state)
{
	for (size_t n = 0; n < 400; n++) {
		struct digest whole, padded;
		uint8_t *exact = malloc(n + DIGEST_PAD);
		assert_non_null(exact);
		for (size_t i = 0; i < n + DIGEST_PAD; i++)
			exact[i] = (uint8_t)(i * 31 + n);
		digest_of(&whole, exact, n);
		digest_padded(&padded, exact, n);
		assert_memory_equal(&whole, &padded, sizeof whole);
		free(exact);
	}
}

static void names_errnos(void **state)
{
	assert_string_equal(errno_name(EACCES), "EACCES");
	assert_null(errno_name(0));
	assert_null(errno_name(99999));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_fields), cmocka_unit_test(too_much_is_broken), cmocka_unit_test(broken_is_refused),
		cmocka_unit_test(names_objects), cmocka_unit_test(names_calls), cmocka_unit_test(names_modes_and_owners), cmocka_unit_test(names_times), cmocka_unit_test(names_flags), cmocka_unit_test(names_what_is_deleted),	       cmocka_unit_test(names_errnos),
		cmocka_unit_test(memo_changes_nothing), cmocka_unit_test(memo_of_stamps), cmocka_unit_test(writes_hex),
		cmocka_unit_test(pads_as_sha256_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
