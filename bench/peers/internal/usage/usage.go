// SPDX-License-Identifier: Apache-2.0

// Package usage reads what this process has cost so far.
package usage

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// A Reading is one look at the clocks.
type Reading struct {
	at  time.Time
	cpu time.Duration // user + system
}

func Now() Reading {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return Reading{time.Now(), time.Duration(r.Utime.Nano() + r.Stime.Nano())}
}

// Since is the CPU and wall time spent since an earlier reading, in seconds.
func (r Reading) Since(earlier Reading) (cpu, wall float64) {
	return (r.cpu - earlier.cpu).Seconds(), r.at.Sub(earlier.at).Seconds()
}

// ResidentMiB is the memory this process holds now.
func ResidentMiB() float64 {
	file, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "Rss:"); ok {
			var kib float64
			_, _ = fmt.Sscan(rest, &kib)
			return kib / 1024
		}
	}
	return 0
}

// Settle collects garbage and hands free pages back to the system.
func Settle() {
	debug.FreeOSMemory() // begins with a collection
	time.Sleep(time.Second)
}
