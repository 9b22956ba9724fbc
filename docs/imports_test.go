package docs

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/geosql/geosql/"

// mayImport holds the arrows of ARCHITECTURE.md's drawing: the rooms that each public room may import, beside packages of internal.
var mayImport = map[string][]string{
	"budget":    {},
	"mechanism": {"budget"},
	"ledger":    {"budget"},
	"dataset":   {},
	"sealed":    {"budget", "mechanism", "ledger"},
	"release":   {"budget", "mechanism", "ledger", "dataset"},
	"sqlitefn":  {"budget", "mechanism", "ledger", "sealed"},
	device:      {"budget", "mechanism", "ledger", "sealed"},
	"serve":     {"budget", "mechanism", "ledger", "sealed", "sqlitefn"},
}

// device is the package for npm, a room of its own below cmd.
const device = "cmd/geosql-device"

// families are the packages of sqlitefn/internal that import the frame, and never each other.
var families = []string{"location", "reading", "trace", "declare", "owner"}

// Imports point down, as ARCHITECTURE.md draws them.
func TestImportsPointDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(strings.ReplaceAll(line, module, ""))
		pkg, imports := fields[0], fields[1:]
		seen[room(pkg)] = true
		for _, i := range imports {
			if !pointsDown(pkg, i) || i == "sqlitefn/sqlitefntest" { // predictable, for tests of programs
				t.Errorf("%s imports %s", pkg, i)
			}
		}
	}
	for r := range mayImport {
		if !seen[r] {
			t.Errorf("there is no package in %s", r)
		}
	}
}

// pointsDown reports whether a package may import another one. Both are without the module's path.
func pointsDown(pkg, imported string) bool {
	if imported == "C" {
		return strings.HasPrefix(pkg, "internal/sqlite")
	}
	if f, g := family(pkg), family(imported); f != "" && g != "" && f != g {
		return false
	}
	allowed, ruled := mayImport[room(pkg)]
	_, isRoom := mayImport[room(imported)]
	return !ruled || !isRoom || room(imported) == room(pkg) || slices.Contains(allowed, room(imported))
}

// room returns the folder at the top that holds a package, or device.
func room(pkg string) string {
	if strings.HasPrefix(pkg, device+"/") {
		return device
	}
	r, _, _ := strings.Cut(pkg, "/")
	return r
}

// family returns the name of a family of SQL functions, and "" for any other package.
func family(pkg string) string {
	name, below := strings.CutPrefix(pkg, "sqlitefn/internal/")
	if !below || !slices.Contains(families, name) {
		return ""
	}
	return name
}

func TestArrowsUpAreFound(t *testing.T) {
	for _, up := range [][2]string{
		{"mechanism/planar", "ledger"}, {"ledger/file", "sqlitefn"}, {"budget", "mechanism/exact"}, {"sealed", "C"},
		{device + "/internal/draws", "sqlitefn"},
		{"sqlitefn/internal/reading", "sqlitefn/internal/trace"},
	} {
		if pointsDown(up[0], up[1]) {
			t.Errorf("%s may import %s", up[0], up[1])
		}
	}
}
