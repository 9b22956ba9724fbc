package emulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

const module = "github.com/geosql/geosql"

// All packages and their tests are correct Go for systems that programs cannot be linked for here, macOS above all.
// Names that they take from C are left open.
func TestTypes(t *testing.T) {
	for _, system := range []string{"darwin/arm64", "windows/amd64"} {
		for _, err := range typeErrors(t, system, "", module+"/...") {
			t.Errorf("%s: %v", system, err)
		}
	}
}

// A name that one system has and another lacks is noticed.
func TestTypesOfAnotherSystem(t *testing.T) {
	const planted = `package turns; import "golang.org/x/sys/unix"; var _ = unix.F_OFD_SETLK`
	err := errors.Join(typeErrors(t, "darwin/arm64", planted, module+"/internal/turns")...)
	if err == nil || !strings.Contains(err.Error(), "undefined: unix.F_OFD_SETLK") {
		t.Errorf("found %v", err)
	}
}

// A listed package is one as go list tells it, with or without its tests.
type listed struct {
	ImportPath        string
	Dir               string
	GoFiles, CgoFiles []string
	ImportMap         map[string]string // to import paths, of other names in the source
	Module            struct{ Main bool }
}

// typeErrors returns the errors of the packages, which have the planted source as one more file. Imported packages are
// checked no further than their declarations.
func typeErrors(t *testing.T, system, planted, packages string) (found []error) {
	t.Helper()
	need.Modules(t) // which the packages import on other systems only
	name, arch, _ := strings.Cut(system, "/")
	list := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,CgoFiles,ImportMap,Module", packages)
	list.Env = append(os.Environ(), "GOOS="+name, "GOARCH="+arch, "CGO_ENABLED=1")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Start(); err != nil {
		t.Fatal(err)
	}
	checked := importer{"unsafe": types.Unsafe}
	for decoder := json.NewDecoder(out); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the latter is made when it is built
			continue
		}
		var source string
		if p.Module.Main {
			source = planted
		}
		errs := checked.check(p, arch, source)
		if p.Module.Main {
			found = append(found, errs...)
		}
	}
	if err := list.Wait(); err != nil {
		t.Fatal(err)
	}
	return found
}

// An importer has the packages that were checked. Each comes after its imports.
type importer map[string]*types.Package

// Import implements [types.Importer].
func (i importer) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed", path)
}

// renamed imports by the names of one package's source.
type renamed struct {
	importer
	names map[string]string
}

// Import implements [types.Importer].
func (r renamed) Import(path string) (*types.Package, error) {
	if other, ok := r.names[path]; ok {
		path = other
	}
	return r.importer.Import(path)
}

func (i importer) check(p listed, arch, planted string) (found []error) {
	set := token.NewFileSet()
	var files []*ast.File
	parse := func(path string, source any) {
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			found = append(found, err)
		}
		files = append(files, file)
	}
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		parse(filepath.Join(p.Dir, name), nil)
	}
	if planted != "" {
		parse("planted.go", planted)
	}
	config := types.Config{
		Importer:         renamed{i, p.ImportMap},
		Sizes:            types.SizesFor("gc", arch),
		FakeImportC:      true,
		IgnoreFuncBodies: !p.Module.Main,
		Error: func(err error) {
			if !strings.Contains(err.Error(), "invalid type") { // which belongs to C, then
				found = append(found, err)
			}
		},
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	i[p.ImportPath], _ = config.Check(path, set, files, nil) // the errors are found
	return found
}
