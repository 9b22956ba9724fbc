package pgtest

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// guardScript outlives the test process, however that ends: its standard input ends then. It stops
// the processes of the last line that it has read, and removes the folder, again if they still write to it.
const guardScript = `
trap '' HUP INT TERM
pids=
while read -r line; do pids=$line; done
[ -z "$pids" ] || kill -QUIT $pids
for try in 1 2 3 4 5; do
	rm -rf -- "$1" && break
	sleep 0.2
done`

// guard is the process that runs guardScript.
type guard struct {
	mutex   sync.Mutex
	in      io.Writer
	running map[int]bool
}

// startGuard starts the guard of a folder.
func startGuard(folder string) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "sh", folder)
	cmd.Dir = "/"
	cmd.SysProcAttr = detached()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &guard{in: in, running: map[int]bool{}}, cmd.Start()
}

// watch tells the guard that a process runs, or that it has ended.
func (g *guard) watch(pid int, runs bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.running[pid] = runs; !runs {
		delete(g.running, pid)
	}
	var line strings.Builder
	for pid := range g.running {
		fmt.Fprint(&line, pid, " ")
	}
	_, _ = fmt.Fprintln(g.in, line.String()) // without a guard the tests can go on
}
