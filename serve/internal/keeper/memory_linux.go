package keeper

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory returns the memory of the machine, or of the container if that has less.
func machineMemory() int64 {
	most := int64(unknownMemory)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		most = int64(info.Totalram) * int64(info.Unit)
	}
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if limit, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil { // or "max"
		most = min(most, limit)
	}
	return most
}
