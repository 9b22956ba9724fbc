package need

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tests look for programs by this package only, no subtest skips its parent, and no parent judges the results of skipped subtests.
func TestSkips(t *testing.T) {
	s := load(t, "github.com/geosql/geosql/...")
	for _, found := range s.findings() {
		t.Error(found)
	}
}

// Each fault of the planted tests is found, and nothing in their cures.
func TestPlantedSkips(t *testing.T) {
	const path = "testdata/planted_test.go"
	s := load(t, "github.com/geosql/geosql/internal/need")
	s.add(t, "planted", path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, line := range strings.Split(string(text), "\n") {
		if _, says, ok := strings.Cut(line, " // "); ok {
			want = append(want, fmt.Sprintf("planted_test.go:%d: %s", i+1, says))
		}
	}
	if got := s.findings(); !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// sources are type-checked packages, and the tests that their functions skip.
type sources struct {
	*token.FileSet
	types.Info
	exports map[string]string // files of exported types, by import path
	imports types.Importer
	files   []*ast.File

	made  map[types.Object][]types.Object // the variables that a variable is made of
	skips map[any]skips                   // by the name of a function, or by the variable that holds it
}

// skips are the tests that a function may skip: that of a parameter (int, -1 is the receiver) or of a variable around it. Each
// has reasons.
type skips map[any]map[string]bool

// load type-checks packages with their tests.
func load(t *testing.T, pattern string) *sources {
	t.Helper()
	list := exec.Command(Program(t, "go"), "list", "-export", "-deps", "-test", "-json=ImportPath,ForTest,Dir,GoFiles,CgoFiles,Export,Module", pattern)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	s := &sources{
		FileSet: token.NewFileSet(), exports: map[string]string{},
		Info: types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}},
		made: map[types.Object][]types.Object{}, skips: map[any]skips{},
	}
	s.imports = importer.ForCompiler(s.FileSet, "gc", func(path string) (io.ReadCloser, error) { return os.Open(s.exports[path]) })
	files := map[string][]string{} // by package, the last being that with tests
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, ForTest, Dir, Export string
			GoFiles, CgoFiles                []string
			Module                           struct{ Main bool }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path, variant, _ := strings.Cut(p.ImportPath, " ")
		if variant == "" || s.exports[path] == "" || p.ForTest == path { // the variant for tests exports more
			s.exports[path] = p.Export
		}
		if !p.Module.Main || strings.HasSuffix(path, ".test") || variant != "" && p.ForTest != strings.TrimSuffix(path, "_test") {
			continue
		}
		if variant == "" && files[path] != nil {
			continue
		}
		files[path] = nil
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			files[path] = append(files[path], filepath.Join(p.Dir, name))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		s.add(t, path, files[path]...)
	}
	return s
}

// add type-checks a package, but for its names of C, and the bodies of functions in files without tests.
func (s *sources) add(t *testing.T, path string, names ...string) {
	t.Helper()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(s.FileSet, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		if strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
			s.files = append(s.files, file)
			continue
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
	}
	config := types.Config{Importer: s.imports, FakeImportC: true, Error: func(error) {}}
	_, _ = config.Check(path, s.FileSet, files, &s.Info)
}
