package spin

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed *.pml
var models embed.FS

// unpack writes the models to a new folder, which remove removes.
func unpack() (folder string, remove func(), err error) {
	if folder, err = os.MkdirTemp("", "geosql-spin-"); err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	if err := os.CopyFS(folder, models); err != nil {
		remove()
		return "", nil, err
	}
	return folder, remove, nil
}

// run runs a program in a folder and returns its output.
func run(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// Verdict is the verifier's result for a model.
type Verdict struct {
	Violated string // the assertion that does not always hold; "" if all do
	Depth    int    // the steps of the longest run, or of the one that violates the assertion
	States   int
	Memory   float64 // in MB
	Seconds  float64
}

var (
	violatedLine = regexp.MustCompile(`assertion violated (\w+) \(at depth (\d+)\)`)
	endLine      = regexp.MustCompile(`depth reached (\d+), errors: (\d+)`)
	statesLine   = regexp.MustCompile(`(\d+) states, stored`)
	memoryLine   = regexp.MustCompile(`([\d.]+)\s+total actual memory usage`)
	secondsLine  = regexp.MustCompile(`elapsed time ([\d.]+) seconds`)
)

// Verify looks at every state that a model can reach, with macros such as PROCESSES=3. Shortest has it
// search by breadth, which takes more memory and finds a shortest run that violates an assertion. A
// search that was not complete is an error. The verifier takes at most so many MB.
func Verify(model string, megabytes int, shortest bool, macros ...string) (Verdict, error) {
	folder, remove, err := unpack()
	if err != nil {
		return Verdict{}, err
	}
	defer remove()
	build := []string{"-O1", "-w", "-DSAFETY", "-DNOFAIR", "-DVECTORSZ=2048", fmt.Sprintf("-DMEMLIM=%d", megabytes)}
	if shortest {
		macros = append(macros, "BREADTH")
		build = append(build, "-DBFS", "-O0")
	}
	if _, err := run(folder, "spin", append(defines(macros), "-a", model)...); err != nil {
		return Verdict{}, err
	}
	if _, err := run(folder, "gcc", append(build, "-o", "pan", "pan.c")...); err != nil {
		return Verdict{}, err
	}
	out, err := run(folder, filepath.Join(folder, "pan"), "-m4000000")
	if err != nil {
		return Verdict{}, err
	}
	return parseVerdict(out)
}

// parseVerdict reads the verifier's output.
func parseVerdict(out string) (v Verdict, err error) {
	end := endLine.FindStringSubmatch(out)
	numbers := [...]*regexp.Regexp{statesLine, memoryLine, secondsLine}
	var found [len(numbers)]float64
	for i, line := range numbers {
		if m := line.FindStringSubmatch(out); m != nil {
			found[i], err = strconv.ParseFloat(m[1], 64)
		}
	}
	v.States, v.Memory, v.Seconds = int(found[0]), found[1], found[2]
	if m := violatedLine.FindStringSubmatch(out); m != nil {
		v.Violated = m[1]
		v.Depth, err = strconv.Atoi(m[2])
		return v, err
	}
	for _, sign := range []string{"max search depth too small", "out of memory", "Search not completed", "BITSTATE", "Bit statespace"} {
		if strings.Contains(out, sign) {
			return v, fmt.Errorf("the search was not complete: %s\n%s", sign, out)
		}
	}
	if end == nil || end[2] != "0" || v.States == 0 || err != nil {
		return v, fmt.Errorf("the verifier has failed:\n%s", out)
	}
	v.Depth, err = strconv.Atoi(end[1])
	return v, err
}

// defines returns the arguments that define macros.
func defines(macros []string) []string {
	args := make([]string, len(macros))
	for i, m := range macros {
		args[i] = "-D" + m
	}
	return args
}

// A Call is a call of a walk through the model, or an event of a process or the clock.
type Call struct {
	What    string // charge, end, reserve, setLimit, close; crash, clock
	Process int
	X       int // the amount, or the time
	State   State
}

// State is the state of the model after a call, as its caller sees it.
type State struct {
	Now, Limit, Spent, Reserved int
	WindowStart, WindowSpent    int
	Granted                     int // to all processes, ever
	Hold, Pool                  int // not used
}

// Walk walks at random through the model of so many processes, under limits of at most limit, with windows of so many
// ticks. The calls follow one another, and processes crash between them.
func Walk(seed, steps, processes, limit, window int) ([]Call, error) {
	folder, remove, err := unpack()
	if err != nil {
		return nil, err
	}
	defer remove()
	out, err := run(folder, "spin", append(defines([]string{
		"EXACT", "NO_FAILURES", fmt.Sprint("PROCESSES=", processes), fmt.Sprint("LIMIT=", limit), "COSTS=2", fmt.Sprint("WINDOW=", window),
	}), "-T", fmt.Sprint("-n", seed), fmt.Sprint("-u", steps), "ledger.pml")...)
	if err != nil {
		return nil, err
	}
	return parseWalk(out)
}

// parseWalk reads the steps that the model prints. A call has several, and ends with the last.
func parseWalk(out string) (calls []Call, err error) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "assertion violated") {
			return nil, errors.New(line)
		}
		if !strings.HasPrefix(line, "step ") {
			continue
		}
		head, tail, checked := strings.Cut(line, " : ")
		var step Call
		if _, err := fmt.Sscanf(head, "step %s %d %d", &step.What, &step.Process, &step.X); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		if checked {
			s := &step.State
			if _, err := fmt.Sscanf(tail, "now %d limit %d spent %d reserved %d window %d %d granted %d hold %d pool %d",
				&s.Now, &s.Limit, &s.Spent, &s.Reserved, &s.WindowStart, &s.WindowSpent, &s.Granted, &s.Hold, &s.Pool); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
		switch step.What {
		case "charge", "end", "reserve", "setLimit", "close", "crash", "clock":
			calls = append(calls, step)
		default:
			calls[len(calls)-1].State = step.State
		}
	}
	if n := len(calls); n > 0 {
		calls = calls[:n-1] // which may not have ended
	}
	return calls, nil
}

// Show returns calls as text, one a line.
func Show(calls []Call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %d %d: %+v\n", c.What, c.Process, c.X, c.State)
	}
	return b.String()
}
