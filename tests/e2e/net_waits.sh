#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits
# Calls that wait: signals, time limits, a caller that is killed, another that must not wait too. And
# rewrites: where a connection really leads.
. "$(dirname "$0")/lib.sh"
need python3
cat > "$T/etc/wait.py" <<'P'
import socket, signal, time, errno, os, threading, struct
def full4():
    l=socket.socket(); l.bind(('127.0.0.1',0)); l.listen(0); cs=[]
    for i in range(4):
        c=socket.socket(); c.setblocking(False); c.connect_ex(l.getsockname()); cs.append(c)
    time.sleep(.05); return l,cs
def fullu():
    l=socket.socket(socket.AF_UNIX); l.bind('\0full%d.%f'%(os.getpid(),time.time())); l.listen(0); cs=[]
    for i in range(4):
        c=socket.socket(socket.AF_UNIX); c.setblocking(False); c.connect_ex(l.getsockname()); cs.append(c)
    return l,cs
import ctypes; libc=ctypes.CDLL(None,use_errno=True)
class SA(ctypes.Structure): pass
def rawconnect(s,addr):
    if s.family==socket.AF_INET: b=struct.pack('=HH4s8x',2,socket.htons(addr[1]),socket.inet_aton(addr[0]))
    else: b=struct.pack('=H',1)+addr
    r=libc.connect(s.fileno(),b,len(b)); return r, errno.errorcode.get(ctypes.get_errno()) if r else 'ok'
def case(mk,restart,tmo=None):
    l,cs=mk(); hits=[]
    signal.signal(signal.SIGALRM,lambda *a:hits.append(1)); signal.siginterrupt(signal.SIGALRM, not restart)
    s=socket.socket(l.family)
    if tmo: s.setsockopt(1,21,struct.pack('ll',0,tmo))
    signal.setitimer(signal.ITIMER_REAL,.3,0 if restart else .3) # again: the first may come before the wait
    if restart:
        def free():
            time.sleep(.8)
            try:
                l.settimeout(2)
                for i in range(3): l.accept()
            except OSError: pass
        threading.Thread(target=free).start()
    t=time.time(); r=rawconnect(s,l.getsockname()); d=time.time()-t
    r2=None if restart else None
    signal.setitimer(signal.ITIMER_REAL,0)
    print(mk.__name__,'restart' if restart else 'intr',tmo,r,len(hits)>0,'%.0f'%(d*2) if not (restart and mk is full4) else '')
    return s,l
case(full4,False); case(full4,True); case(fullu,False); case(fullu,True); case(full4,False,100000); case(fullu,False,100000); case(full4,False,900000); case(fullu,False,900000)
# one that connects already: the address of a second call is not looked at, and that waits too
l,cs=full4(); s=socket.socket(); s.setblocking(False); s.connect_ex(l.getsockname()); s.setblocking(True)
signal.siginterrupt(signal.SIGALRM,True); signal.setitimer(signal.ITIMER_REAL,.3,.3)
r=libc.connect(s.fileno(),struct.pack('=H14x',1),16); print('once more, to nobody',r,errno.errorcode.get(ctypes.get_errno())); signal.setitimer(signal.ITIMER_REAL,0)
# thread: another is not delayed
l,cs=full4(); th=threading.Thread(target=lambda: rawconnect(socket.socket(),l.getsockname()),daemon=True); th.start(); time.sleep(.1)
t=time.time(); l2=socket.socket(); l2.bind(('127.0.0.1',0)); l2.listen(); rawconnect(socket.socket(),l2.getsockname()); print('other', time.time()-t<.2)
# killed while connecting
pid=os.fork()
if pid==0: rawconnect(socket.socket(),l.getsockname()); os._exit(0)
time.sleep(.2); os.kill(pid,9); t=time.time(); print(os.waitpid(pid,0)[1], time.time()-t<.3)
# send blocked, interrupted
a,b=socket.socketpair(); signal.siginterrupt(signal.SIGALRM,True); signal.setitimer(signal.ITIMER_REAL,.3,.3)
class IOV(ctypes.Structure): _fields_=[('b',ctypes.c_void_p),('n',ctypes.c_size_t)]
class MH(ctypes.Structure): _fields_=[('name',ctypes.c_void_p),('nl',ctypes.c_uint),('iov',ctypes.POINTER(IOV)),('n',ctypes.c_size_t),('c',ctypes.c_void_p),('cl',ctypes.c_size_t),('f',ctypes.c_int)]
buf=ctypes.create_string_buffer(4000000); iov=IOV(ctypes.addressof(buf),4000000); mh=MH(None,0,ctypes.pointer(iov),1,None,0,0)
r=libc.sendmsg(a.fileno(),ctypes.byref(mh),0); print('partial',r>0, r<4000000); ctypes.set_errno(0); r=libc.sendmsg(a.fileno(),ctypes.byref(mh),0); print('intr',r, errno.errorcode.get(ctypes.get_errno()))
os._exit(0)
P
MODES=allow both signals <<'S'
python3 -u "$T/etc/wait.py"
S

cat > "$T/etc/rewrite.py" <<'P'
import os, socket, sys
def listen(family, addr):
    s = socket.socket(family); s.bind(addr); s.listen(); return s
v4 = listen(socket.AF_INET, ('127.0.0.1', 0)); v6 = listen(socket.AF_INET6, ('::1', 0)); un = listen(socket.AF_UNIX, sys.argv[1] + '/real.sock')
ds = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); ds.bind(('127.0.0.1', 0))
with open(sys.argv[1] + '/rules', 'w') as f:
    f.write('default allow\n'
            f'rewrite connect tcp:10.99.0.1:80 -> tcp:127.0.0.1:{v4.getsockname()[1]}\n'
            f'rewrite connect tcp:[2001:db8::9]:80 -> tcp:[::1]:{v6.getsockname()[1]}\n'
            f'rewrite connect tcp:[2001:db8::4]:80 -> tcp:127.0.0.1:{v4.getsockname()[1]}\n'
            f'rewrite connect unix:/run/no-such/asked.sock -> unix:{sys.argv[1]}/real.sock\n'
            f'rewrite send udp:10.99.0.1:53 -> udp:127.0.0.1:{ds.getsockname()[1]}\n'
            f'rewrite bind tcp:127.0.0.1:9 -> tcp:127.0.0.1:0\n')
CLIENT = '''
import os, socket
def line(what, f):
    try: print(what, f(), flush=True)
    except OSError as e: print(what, os.strerror(e.errno), flush=True)
def ask(family, addr):
    s = socket.socket(family); s.settimeout(20); s.connect(addr); return s.recv(9)
line('v4', lambda: ask(socket.AF_INET, ('10.99.0.1', 80)))
line('v6', lambda: ask(socket.AF_INET6, ('2001:db8::9', 80)))
line('v6 to v4', lambda: ask(socket.AF_INET6, ('2001:db8::4', 80)))
line('mapped', lambda: ask(socket.AF_INET6, ('::ffff:10.99.0.1', 80)))
line('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'query', ('10.99.0.1', 53)))
line('udp sendmsg', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'que', b'ry2'], [], 0, ('10.99.0.1', 53)))
def bound():
    s = socket.socket(); s.bind(('127.0.0.1', 9)); return s.getsockname()[1] not in (0, 9)
line('bind', bound)
line('unix', lambda: ask(socket.AF_UNIX, '/run/no-such/asked.sock'))
'''
import subprocess, threading
def serve(s, word):
    while True:
        c, _ = s.accept(); c.sendall(word); c.close()
for s, word in ((v4, b'four'), (v6, b'six'), (un, b'unix')): threading.Thread(target=serve, args=(s, word), daemon=True).start()
print(subprocess.run([os.environ['USHER'], 'run', '-p', sys.argv[1] + '/rules', '--ask=deny', '--', 'python3', '-c', CLIENT], capture_output=True, text=True, timeout=60).stdout, end='')
ds.settimeout(5); print('arrived', ds.recv(99), ds.recv(99))
P
fresh
same rewrite "v4 b'four'
v6 b'six'
v6 to v4 b'four'
mapped b'four'
udp 5
udp sendmsg 6
bind True
unix b'unix'
arrived b'query' b'query2'" "$(USHER=$USHER python3 "$T/etc/rewrite.py" "$T/tmp" 2>&1)"
# Whoever waits acts as its caller, and makes the worker that takes over right then: that one must be nobody's.
if is_root; then
	cat > "$T/etc/dropped.py" <<'P'
import os, socket, struct, time
full = socket.create_server(("127.0.0.1", 0), backlog=0)
taken = [socket.create_connection(full.getsockname(), 1)]
def dropped():
    os.setgroups([]); os.setresgid(1000, 1000, 1000); os.setresuid(1000, 1000, 1000)
    for i in range(3):
        s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 200000))
        try: s.connect(full.getsockname())
        except OSError: pass
        u = socket.socket(); u.bind(("127.0.0.1", 0)); u.listen(); c = socket.create_connection(u.getsockname())
children = []
for i in range(8):
    children.append(os.fork())
    if not children[-1]: dropped(); os._exit(0)
for i in range(40):
    open("mine", "w").close(); os.chown("mine", 4321, 4321); os.chmod("mine", 0o600); open("mine").close(); os.unlink("mine")
    u = socket.socket(); u.bind(("127.0.0.1", 0)); u.listen(); c = socket.create_connection(u.getsockname())
    time.sleep(.03)
print("status", *{os.waitpid(pid, 0)[1] for pid in children})
P
	same "natively a dropped caller's waits disturb nobody" "status 0" "$(python3 "$T/etc/dropped.py" 2>&1)"
	same "a worker made while a dropped caller waits is nobody's" "status 0" \
		"$("$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/dropped.j" -- python3 "$T/etc/dropped.py" 2>&1)"
fi
finish
