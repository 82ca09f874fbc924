#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A block device that one has opened with O_EXCL nobody else opens so: as natively.
. "$(dirname "$0")/lib.sh"
need python3 losetup
is_root || skip_all "needs root"
device=$(losetup -f 2>/dev/null) && [ -b "$device" ] || skip_all "no loop device"
cat >"$T/etc/claim.py" <<'P'
import errno, fcntl, os, sys
def claim(flags=os.O_EXCL):
    try: return os.open(sys.argv[1], os.O_RDWR | flags)
    except OSError as e: return errno.errorcode[e.errno]
for i in range(20):
    first = claim()
    print(type(first).__name__, claim(), claim(os.O_EXCL | os.O_NONBLOCK), type(claim(0)).__name__, type(claim(os.O_CREAT)).__name__)
    print(hex(fcntl.fcntl(first, fcntl.F_GETFL)))
    os.closerange(3, 64)
P
fresh; native=$(python3 "$T/etc/claim.py" "$device" 2>&1)
same "claimed once (native)" "int EBUSY EBUSY int int" "$(head -n 1 <<<"$native")"
fresh; same "claimed once" "$native" "$(supervise allow python3 "$T/etc/claim.py" "$device" 2>&1)"
finish
