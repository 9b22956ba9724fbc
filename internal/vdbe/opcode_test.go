package vdbe

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// An opcode as SQLite's source describes it.
type described struct {
	name, synopsis string
	flags          int64
	body           string // the C code that executes it
}

// Flags of SQLite's opcodes.
const (
	flagJump = 1 << iota // P2 is an address
	flagIn1              // P1 is read
	flagIn2              //
	flagIn3              //
	flagOut2             // P2 is written
	flagOut3             //
	_
	flagJump0 // P2 may be 0
)

// describedOpcodes returns the opcodes of the SQLite that is compiled in.
func describedOpcodes(t *testing.T) (list []described) {
	t.Helper()
	need.Program(t, "go")
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := need.File(t, filepath.Join(strings.TrimSpace(string(folder)), "sqlite3-binding.c"), "go mod download github.com/mattn/go-sqlite3")
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)#define OPFLG_INITIALIZER \{(.*?)\n\}`).FindSubmatch(source)
	flags := regexp.MustCompile(`0x\w\w`).FindAllString(string(table[1]), -1)
	bodies := executed(string(source))
	for _, m := range regexp.MustCompile(`(?m)^#define OP_(\w+) +(\d+)(?: /\*.*?(?:synopsis: (.*?))? *\*/)?$`).FindAllSubmatch(source, -1) {
		i, _ := strconv.Atoi(string(m[2]))
		f, err := strconv.ParseInt(flags[i], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, described{string(m[1]), string(m[3]), f, bodies[string(m[1])]})
	}
	if len(list) != len(flags) || len(list) < 190 {
		t.Fatalf("SQLite's source has %d opcodes and flags of %d", len(list), len(flags))
	}
	return list
}

// executed returns the pieces of SQLite's source that execute opcodes, by name.
func executed(source string) map[string]string {
	bodies := map[string]string{}
	label := regexp.MustCompile(`(?m)^case OP_(\w+):.*$`)
	at := label.FindAllStringSubmatchIndex(source, -1)
	next := "" // the piece behind, into which one may fall
	for i := len(at) - 1; i >= 0; i-- {
		end := len(source)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		body := source[at[i][0]:end]
		if piece, _, broken := strings.Cut(body, "\n  break;\n"); broken {
			body = piece
		} else if !strings.Contains(body, "\n}\n") || strings.Contains(body, "fall_through\n}\n") {
			body += next
		}
		next, bodies[source[at[i][2]:at[i][3]]] = body, body
	}
	return bodies
}

// older are opcodes that SQLite had, as hosts of the extension may.
var older = []string{"IfSmaller"}

// Every opcode that SQLite has is in the table, and no other is.
func TestOpcodesAreComplete(t *testing.T) {
	known := map[string]bool{}
	for _, d := range describedOpcodes(t) {
		if known[d.name] = true; opcodes[d.name] == nil {
			t.Errorf("%s is not in the table: /* %s */", d.name, d.synopsis)
		}
	}
	for name := range opcodes {
		if !known[name] && !slices.Contains(older, name) {
			t.Errorf("SQLite has no %s", name)
		}
	}
}

// operandsFrom are the operands that begin at P1, P2 and P3.
var operandsFrom = [...]operands{p1 | p1n2 | p1n3 | p1over3, p2 | p2n3 | p2over3 | p2to3 | arguments, p3 | p3n2 | key}

// more is said by the table, and not by SQLite's flags and synopses.
var more = map[string]string{
	"AggFinal":      "writes P1", // the answer, over the accumulator
	"AggInverse":    "writes P3",
	"AggStep":       "writes P3",
	"AggValue":      "reads P1", // the accumulator
	"Cast":          "writes P1",
	"CollSeq":       "writes P1",
	"Filter":        "reads P1", // the set of keys
	"FilterAdd":     "writes P1",
	"Gosub":         "writes P1", // the address
	"InitCoroutine": "writes P1",
	"IsType":        "reads P3",  // if P1 is no cursor
	"NewRowid":      "reads P3",  // the largest number so far, if P3 is not 0
	"RowCell":       "reads P3",  // the number
	"RowSetTest":    "writes P1", // the set
	"SeekScan":      "jumps",
	"VCreate":       "reads P2",  // the table's name
	"VInitIn":       "writes P3", // in the hands of the virtual table
	"VRename":       "reads P1",  // the table's name
	"Yield":         "writes P1",
}

// less is said by SQLite, and not by the table.
var less = map[string]string{
	"AggInverse": "reads P3", // the accumulator that it changes: its effect says so
	"AggStep":    "reads P3",
	"ReleaseReg": "reads P1", // it forgets a register that nobody reads
	"ZeroOrNull": "reads P2", // it writes it only
}

// The table says the same of jumps, cursors, and registers that are read and written as SQLite's flags and synopses.
func TestOpcodesAreSQLites(t *testing.T) {
	for _, d := range describedOpcodes(t) {
		code := opcodes[d.name]
		if code == nil || code.next == refused {
			continue
		}
		table, sqlite := code.says(), d.says()
		without := func(a, b []string) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) }), ", ")
		}
		if got := without(table, sqlite); got != more[d.name] {
			t.Errorf("%s: the table says %q, and SQLite does not: %#x /* %s */", d.name, got, d.flags, d.synopsis)
		}
		if got := without(sqlite, table); got != less[d.name] {
			t.Errorf("%s: SQLite says %q, and the table does not: %#x /* %s */", d.name, got, d.flags, d.synopsis)
		}
		if always := slices.Contains([]next{jumps, jumpsThree, skips, calls}, code.next); always && d.flags&flagJump0 != 0 {
			t.Errorf("%s does not jump to 0", d.name)
		}
	}
}

// says returns the table's description of an opcode.
func (c *opcode) says() (list []string) {
	for i, from := range operandsFrom {
		if (c.reads|c.decides)&from != 0 {
			list = append(list, fmt.Sprintf("reads P%d", i+1))
		}
		if c.writes&from != 0 {
			list = append(list, fmt.Sprintf("writes P%d", i+1))
		}
	}
	if slices.Contains([]next{branches, branchesAbove, jumps, enters, jumpsThree, skips, calls, prepares, yields}, c.next) {
		list = append(list, "jumps")
	}
	if c.cursor != without {
		list = append(list, "uses a cursor")
	}
	return list
}

var (
	registersSaid = regexp.MustCompile(`(if )?\br\[P(\d)[^\]]*\](\.subtype)? ?(=?)(=?)`)
	keySaid       = regexp.MustCompile(`key\(?P3@P4|key=r\[P3`)
	jumpSaid      = regexp.MustCompile(`goto P2|pc = P2`)
	cursorSaid    = regexp.MustCompile(`apCsr\[ ?pOp->p1 ?\]|allocateCursor\(p, pOp->p1`)
)

// says returns SQLite's description.
func (d described) says() (list []string) {
	said := map[string]bool{
		"reads P1": d.flags&flagIn1 != 0, "reads P2": d.flags&flagIn2 != 0, "reads P3": d.flags&flagIn3 != 0 || keySaid.MatchString(d.synopsis),
		"writes P2": d.flags&flagOut2 != 0, "writes P3": d.flags&flagOut3 != 0,
		"jumps":         d.flags&flagJump != 0 || jumpSaid.MatchString(d.synopsis),
		"uses a cursor": cursorSaid.MatchString(d.body),
	}
	for _, m := range registersSaid.FindAllStringSubmatch(d.synopsis, -1) {
		written := m[1] == "" && m[4] == "=" && m[5] == ""
		if written {
			said["writes P"+m[2]] = true
		}
		if !written || m[3] != "" {
			said["reads P"+m[2]] = true
		}
	}
	for s, yes := range said {
		if yes {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}
