package memory

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// fallback is what a machine is assumed to have if it does not report its memory.
const fallback = 2 << 30

// Default returns half of the memory that this process may take: of the least limit of its cgroups (version 1 or 2),
// or of the machine's memory if it has less.
func Default() int64 { return available("/") / 2 }

// available returns how much memory this process may take; root is the root of the file
// system.
func available(root string) int64 {
	total := int64(math.MaxInt64)
	if data, err := os.ReadFile(filepath.Join(root, "proc/meminfo")); err == nil {
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
				if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					total = kb << 10
				}
			}
		}
	}
	data, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup")) // a machine without cgroups has none
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[1] == "" {
			total = min(total, limitOfGroup(filepath.Join(root, "sys/fs/cgroup"), f[2], "memory.max"))
		}
		for controller := range strings.SplitSeq(f[1], ",") {
			if controller == "memory" {
				total = min(total, limitOfGroup(filepath.Join(root, "sys/fs/cgroup/memory"), f[2], "memory.limit_in_bytes"))
			}
		}
	}
	if total == math.MaxInt64 {
		return fallback
	}
	return total
}

// limitOfGroup returns the least limit of a cgroup and its ancestors. In a container the group's path may be the
// host's: then only the root exists, which is the container's own.
func limitOfGroup(mount, group, file string) int64 {
	least := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		if data, err := os.ReadFile(filepath.Join(mount, group, file)); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && n > 0 { // else it is "max"
				least = min(least, n)
			}
		}
		if group == "/" {
			return least
		}
	}
}

// LimitHeap makes the garbage collector keep the process below one and a half times the
// budget if it can, unless the environment sets GOMEMLIMIT. The half is for what the
// budget does not count.
func LimitHeap(budget int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget + budget/2)
	}
}
