package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/doctest"
	"github.com/geosql/geosql/internal/need"
)

// A reader follows a page in its own folder, which has the packages.
type reader struct {
	folder string
	path   string // where programs are looked for first
	module string // that Go programs belong to
}

// readers holds the readers of the pages under docs/hosts, by host: a reader goes on from NAME.md to the pages NAME-*.md.
var readers = map[string]func(t *testing.T) reader{
	"sqlite3":   func(t *testing.T) reader { unpacked(t); return newReader(t, "") },
	"python":    pythonReader,
	"datasette": pythonReader,
	"node": func(t *testing.T) reader {
		project(t)
		return newReader(t, filepath.Dir(nodeBinary(t)))
	},
	"device": func(t *testing.T) reader {
		need.Programs(t, "make", "npm")
		r := cloneReader(t)
		r.path = filepath.Dir(nodeBinary(t))
		return r
	},
	"go": func(t *testing.T) reader {
		need.Modules(t)
		r := cloneReader(t)
		r.module = r.folder                                    // which the page makes
		t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -trimpath") // what is built in one folder serves in the next one
		sums, err := os.ReadFile("../../go.sum")
		if err == nil { // so that nobody else has to be asked for them
			err = os.WriteFile(filepath.Join(r.folder, "go.sum"), sums, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	},
	"gorm": func(t *testing.T) reader {
		if _, err := command("../../examples/gorm", "go", "mod", "download"); err != nil {
			need.Missing(t, fmt.Sprintf("gorm cannot be downloaded: %v", err))
		}
		return reader{folder: t.TempDir(), module: "../../examples/gorm"}
	},
}

func pythonReader(t *testing.T) reader {
	unpacked(t) // some examples use the shell
	return newReader(t, filepath.Join(environment(t), "bin"))
}

// cloneReader returns a reader with a clone.
func cloneReader(t *testing.T) reader {
	r := reader{folder: t.TempDir()}
	clone, err := filepath.Abs("../..")
	if err == nil {
		err = os.Symlink(clone, filepath.Join(r.folder, "geosql"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newReader returns a reader with a clone and the downloaded packages.
func newReader(t *testing.T, path string) reader {
	r := cloneReader(t)
	r.path = path
	for _, pattern := range []string{"geosql-extension-*.tar.gz", "geosql-*.whl", "geosql-[0-9]*.tgz", "geosql-linux-*.tgz"} {
		file := artefact(t, pattern)
		if err := os.Symlink(file, filepath.Join(r.folder, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// run runs a block and returns its standard output.
func (r reader) run(t *testing.T, b doctest.Block) (string, error) {
	t.Helper()
	cmd, err := r.command(b)
	if err != nil {
		return "", err
	}
	cmd.Dir = r.folder
	cmd.Env = append(os.Environ(),
		"PATH="+strings.TrimPrefix(r.path+":"+os.Getenv("PATH"), ":"),
		"npm_config_prefer_offline=true", "npm_config_audit=false", "npm_config_fund=false")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, said.String())
	}
	return strings.TrimRight(string(out), "\n"), err
}

func (r reader) command(b doctest.Block) (*exec.Cmd, error) {
	switch b.Language {
	case "sh":
		return exec.Command("sh", "-ec", b.Code), nil
	case "sql":
		cmd := exec.Command("sqlite3", "city.db")
		cmd.Stdin = strings.NewReader(b.Code)
		return cmd, nil
	case "python":
		file := filepath.Join(r.folder, "example.py") // spawn imports it again
		return exec.Command(filepath.Join(r.path, "python"), file), os.WriteFile(file, []byte(b.Code), 0o644)
	case "js":
		file := filepath.Join(r.folder, "example.js")
		if strings.HasPrefix(b.Code, "import ") {
			file = filepath.Join(r.folder, "example.mjs")
		}
		return exec.Command(filepath.Join(r.path, "node"), file), os.WriteFile(file, []byte(b.Code), 0o644)
	case "c":
		file, program := filepath.Join(r.folder, "example.c"), filepath.Join(r.folder, "example")
		if err := os.WriteFile(file, []byte(b.Code), 0o644); err != nil {
			return nil, err
		}
		_, err := command("", "gcc", "-Wall", "-Wextra", "-Werror", "-o", program, file, "-lsqlite3")
		return exec.Command(program), err
	case "go":
		file, program := filepath.Join(r.folder, "main.go"), filepath.Join(r.folder, "example")
		isTest := strings.Contains(b.Code, "*testing.T")
		if isTest { // of the program before it
			file = filepath.Join(r.folder, "main_test.go")
		}
		if err := os.WriteFile(file, []byte(b.Code), 0o644); err != nil {
			return nil, err
		}
		if r.module == r.folder {
			if _, err := command(r.folder, "go", "mod", "tidy"); err != nil {
				return nil, err
			}
		}
		if isTest {
			return exec.Command("go", "test", "."), nil
		}
		_, err := command(r.module, "go", "build", "-o", program, file)
		return exec.Command(program), err
	}
	return nil, fmt.Errorf("nothing runs %q", b.Language)
}

// TestPages runs every block of every page in order. A text that follows a block is its
// expected output, except for numbers and the widths of their columns.
func TestPages(t *testing.T) {
	all, err := filepath.Glob("../../docs/hosts/*.md")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for host, newReader := range readers {
		further, err := filepath.Glob("../../docs/hosts/" + host + "-*.md")
		if err != nil {
			t.Fatal(err)
		}
		pages := append([]string{"../../docs/hosts/" + host + ".md"}, further...)
		read += len(pages)
		t.Run(host, func(t *testing.T) {
			r := newReader(t)
			for _, page := range pages {
				r.read(t, page)
			}
		})
	}
	if read != len(all) {
		t.Errorf("%d of the pages %q are read", read, all)
	}
}

// read runs the blocks of a page.
func (r reader) read(t *testing.T, page string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := doctest.Blocks(string(text))
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	for _, b := range blocks {
		t.Run(fmt.Sprintf("%s line %d", filepath.Base(page), b.Line), func(t *testing.T) { r.follow(t, b) })
	}
}

// follow runs a block and compares its output.
func (r reader) follow(t *testing.T, b doctest.Block) {
	if program, ok := strings.CutPrefix(b.Language, "sh "); ok { // wants a program that may be absent
		need.Extra(t, program)
		b.Language = "sh"
	}
	if b.Language == "c" {
		need.Header(t, "sqlite3.h", "libsqlite3-dev")
	}
	got, err := r.run(t, b)
	if err != nil {
		t.Fatalf("%s\n%v", b.Code, err)
	}
	if b.Prints != "" && doctest.Masked(got) != doctest.Masked(b.Prints) {
		t.Errorf("%s\nprints\n%s\nand the page says\n%s", b.Code, got, b.Prints)
	}
	if b.Language == "go" { // a reader runs a program again
		if _, err := r.run(t, b); err != nil {
			t.Errorf("%s\nfails the second time: %v", b.Code, err)
		}
	}
}

// The page about gorm shows the program under examples, which is compiled there.
func TestGormPageShowsTheExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/hosts/gorm.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../../examples/gorm/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, append([]byte("```go\n"), append(program, "```\n"...)...)) {
		t.Error("docs/hosts/gorm.md does not show examples/gorm/main.go")
	}
}

// Datasette opens a file to read only, runs load_extension in SQL, on connections
// of several threads, and interrupts statements by a progress handler. It does so
// here whether Datasette is installed or not.
func TestAsDatasetteConnects(t *testing.T) {
	python := filepath.Join(environment(t), "bin", "python")
	database := filepath.Join(t.TempDir(), "city.db")
	outcomes, err := runGo(database, []string{
		`SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.47, 1)`, `SELECT budget_limit('*', 'm', 1)`})
	if err != nil || outcomes[0].Error+outcomes[1].Error != "" {
		t.Fatal(err, outcomes)
	}
	out, err := command("", python, "hosts/as_datasette.py", database)
	if err != nil {
		t.Fatal(err)
	}
	if want := "12 released, 0.12 spent, interrupted"; out != want {
		t.Errorf("prints %s, want %s", out, want)
	}
	if _, err := os.Stat(database + "-ledger"); errors.Is(err, fs.ErrNotExist) {
		t.Error("there is no ledger beside the database")
	}
}
