package processes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Children returns the processes that a process has started and that have not been waited for. It finds none where there is no /proc with
// lists of them: kernels other than Linux have none, and Linux may be built without.
func Children(pid int) (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // any thread may have started one; the only error is a bad pattern
	for _, list := range lists {
		text, _ := os.ReadFile(list) // unless the thread has ended
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
