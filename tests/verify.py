#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An independent verifier of usher's journals, after usher-journal(5) alone: verify.py DIR...

Prints one line for each directory, "whole", "whole, not closed", "damaged: PLACE: WHY" or "unreadable: WHY", and exits with 1 when one
is damaged, else with 2 when one cannot be read. It shares no code with usher: the standard library's SHA-256, and Ed25519 (RFC 8032) spelled out below."""
import datetime, glob, hashlib, json, os, re, sys

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
I = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * I % P
    if (x * x - x2) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def point(octets):
    y = int.from_bytes(octets, "little")
    x = recover_x(y & (2**255 - 1), y >> 255)
    y &= 2**255 - 1
    return None if x is None else (x, y, 1, x * y % P)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(n, p):
    q = (0, 1, 1, 0)
    while n:
        if n & 1:
            q = add(q, p)
        p, n = add(p, p), n >> 1
    return q


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def signed_by(key, message, signature):
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    p, q = times(s, BASE), add(r, times(h, a))
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def sha256(data):
    return hashlib.sha256(data).digest()


def root(leaves):
    if not leaves:
        return bytes(32)
    if len(leaves) == 1:
        return leaves[0]
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\1" + root(leaves[:k]) + root(leaves[k:]))


TIME = rb'(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)\.\d{6}Z'
HEAD = re.compile(rb'\{"seq":([1-9][0-9]{0,18}),"time":"(?=(.{10}))' + TIME + rb'","prev":"([0-9a-f]{64})",')
FIRST = re.compile(rb'"format":"usher-journal/2","key":"([0-9a-f]{64})",(?:"checkpoints":"[^"]*",)?')
SEAL = re.compile(rb'"type":"seal","epoch":(\d+),"first":(\d+),"count":(\d+),"root":"([0-9a-f]{64})",'
                  rb'(?:"final":true|"next":"([0-9a-f]{64})"),"sig":"([0-9a-f]{128})"\}\Z')


LINE_MAX = 65536 + 640
DEPTH_MAX = 16


class Damage(Exception):
    pass


def split(data, last):
    """The lines of a segment, what follows them, and whether blank filling follows that."""
    end = len(data.rstrip(b"\n"))
    body, fill = data[:end], len(data) - end
    lines = body.split(b"\n") if body else []
    torn = b""
    if lines and last and (not lines[-1].startswith(b"{") or not fill):
        torn = lines.pop()
        while lines and not lines[-1]:
            lines.pop()
    return lines, torn, fill - 1 if fill and body else fill


def is_day(text):
    try:
        return bool(datetime.date.fromisoformat(text.decode()))
    except ValueError:
        return False


def depth(line):
    """In how many lists and objects the innermost value of the record is, the record itself among them."""
    now = most = 0
    for c in re.sub(rb'"(?:\\.|[^"\\])*"', b"s", line):
        if c in b"}]":
            now -= 1
        elif c not in b",:":
            most = max(most, now)
            now += c in b"{["
    return most


def is_record(line):
    """Printable ASCII, no blank between tokens, whole numbers, and JSON that is not too deep."""
    if not re.fullmatch(rb"[ -~]+", line) or b" " in re.sub(rb'"(?:\\.|[^"\\])*"', b"", line) or depth(line) > DEPTH_MAX:
        return False
    try:
        return bool(json.loads(line, parse_float=int, parse_constant=int))
    except ValueError:
        return False


def check_anchor(directory, key):
    path = os.path.join(directory, "anchor")
    if os.path.islink(path) or not os.path.isfile(path):
        return
    content = open(path, "rb").read()
    if content.strip(b"\0") and content != b"usher-journal/2 ed25519 " + key + b"\n":
        raise Damage("anchor: another key than the first record's")


def verify(directory):
    numbered = {n: re.fullmatch(r"journal-(\d{6}|[1-9]\d{6,9})\.jsonl", os.path.basename(n)) for n in glob.glob(os.path.join(glob.escape(directory), "journal-*.jsonl"))}
    number = {n: int(m[1]) for n, m in numbered.items() if m and 0 < int(m[1]) < 2**32}
    names = sorted(number, key=number.get)
    for n in names:
        if os.path.islink(n) or not os.path.isfile(n):
            raise Damage(os.path.basename(n) + " is no file")
    if not names:
        raise OSError("no journal there")
    data = [open(n, "rb").read() for n in names]
    while len(data) > 1 and data[-1][:1] in (b"", b"\n"):  # made ahead of use
        data.pop(), names.pop()
    for stray in set(glob.glob(os.path.join(glob.escape(directory), "journal-*.jsonl"))) - set(names):
        if os.path.islink(stray) or not os.path.isfile(stray) or re.search(rb"^\{", open(stray, "rb").read(), re.M):
            raise Damage(os.path.basename(stray) + " is no part of the journal")
    seq, head, key, leaves, epoch, first, closed, last = 0, bytes(32), None, [], 1, 1, False, None
    for i, content in enumerate(data):
        lines, torn, fill = split(content, i == len(data) - 1)
        if not lines and i < len(data) - 1:
            raise Damage(os.path.basename(names[i]) + " is blank, and another follows")
        for n, line in enumerate(lines, 1):
            where = "%s line %d: " % (os.path.basename(names[i]), n)
            if i == len(data) - 1 and n == len(lines) and fill and not torn and not closed and not line.endswith(b"}"):
                last = None  # its end was not written
                break
            m = HEAD.match(line)
            if len(line) > LINE_MAX:
                raise Damage(where + "too long")
            if closed or not m or not is_day(m[2]):
                raise Damage(where + ("after the final seal" if closed else "no record"))
            if int(m[1]) != seq + 1 or bytes.fromhex(m[3].decode()) != head:
                raise Damage(where + "does not continue")
            at = m.end()
            if seq == 0:
                f = FIRST.match(line, at)
                if not f:
                    raise Damage(where + "no first record")
                key, at = bytes.fromhex(f[1].decode()), f.end()
                check_anchor(directory, f[1])
            if line.startswith(b'"type":"seal"', at):
                s = SEAL.match(line, at)
                if not s or (int(s[1]), int(s[2]), int(s[3])) != (epoch, first, len(leaves)):
                    raise Damage(where + "wrong seal")
                message = line[:line.rindex(b',"sig":"')]
                if root(leaves).hex().encode() != s[4] or not signed_by(key, message, bytes.fromhex(s[6].decode())):
                    raise Damage(where + "wrong root or signature")
                closed, key = s[5] is None, s[5] and bytes.fromhex(s[5].decode())
                epoch, first, leaves = epoch + 1, first + len(leaves), []
            head, seq, last = sha256(line), seq + 1, line
            leaves.append(head)
    if closed:
        if torn:
            raise Damage("after the final seal")
        return "whole"
    if last is not None and not is_record(last):
        raise Damage("the last line is no record")
    if not fill:
        raise Damage("the end was cut off")
    return "whole, not closed"


def main():
    damaged = unreadable = False
    for directory in sys.argv[1:]:
        try:
            print(verify(directory))
        except Damage as why:
            print("damaged: %s" % why)
            damaged = True
        except OSError as why:
            print("unreadable: %s" % why)
            unreadable = True
    return 1 if damaged else 2 if unreadable else 0


if __name__ == "__main__":
    sys.exit(main())
