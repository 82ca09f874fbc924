// SPDX-License-Identifier: Apache-2.0

// Opens files, connects and starts programs from many goroutines while the runtime
// preempts them with SIGURG and a ticker sends more of it. Prints what was done.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func must(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func spin(stop *int32) {
	for atomic.LoadInt32(stop) == 0 {
	}
}

func files(dir string) {
	must(os.Mkdir(dir, 0o755))
	for i := 0; i < 20; i++ {
		name := filepath.Join(dir, fmt.Sprint(i))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o640)
		must(err)
		_, err = f.WriteString(name)
		must(err)
		must(f.Close())
		must(os.Rename(name, name+".done"))
		b, err := os.ReadFile(name + ".done")
		must(err)
		if string(b) != name {
			must(fmt.Errorf("%s holds %q", name, b))
		}
	}
}

func calls(addr string) {
	for i := 0; i < 20; i++ {
		c, err := net.Dial("tcp", addr)
		must(err)
		_, err = c.Write([]byte("ping"))
		must(err)
		_, err = io.ReadFull(c, make([]byte, 4))
		must(err)
		must(c.Close())
	}
}

func programs() {
	for i := 0; i < 5; i++ {
		b, err := exec.Command("sh", "-c", "echo out").Output()
		must(err)
		if string(b) != "out\n" {
			must(fmt.Errorf("sh printed %q", b))
		}
	}
}

func echo() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	return l.Addr().String()
}

func main() {
	var stop int32
	var wg sync.WaitGroup
	many := func(n int, f func(i int)) {
		for i := 0; i < n; i++ {
			wg.Add(1)
			go func(i int) { defer wg.Done(); f(i) }(i)
		}
	}
	go spin(&stop) // a goroutine that never yields is preempted by signal
	go func() {
		for atomic.LoadInt32(&stop) == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGURG)
			time.Sleep(200 * time.Microsecond)
		}
	}()
	crowd := 32
	if os.Getenv("QUICK") != "" {
		crowd = 12
	}
	many(crowd, func(i int) { files(fmt.Sprintf("g%d", i)) })
	many(4, func(int) { programs() })
	if len(os.Args) > 1 {
		addr := echo()
		many(16, func(int) { calls(addr) })
	}
	wg.Wait()
	atomic.StoreInt32(&stop, 1)
	fmt.Println("all done")
}
