package gappa

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Source is a package of Go source, with its types.
type Source struct {
	dir       string
	files     map[string][]byte
	importer  types.Importer
	set       *token.FileSet
	functions map[string]*ast.FuncDecl // "f" or "T.f"
	info      *types.Info
}

// Load reads the package in a directory, as it is built for this platform, without its tests.
func Load(dir string) (*Source, error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	s := &Source{dir: dir, files: map[string][]byte{}}
	for _, name := range p.GoFiles {
		if s.files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	exports, err := exportData(dir)
	if err != nil {
		return nil, err
	}
	s.set = token.NewFileSet()
	s.importer = importer.ForCompiler(s.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return s, s.check()
}

// exportData returns the files with the types of all packages that a package imports.
func exportData(dir string) (map[string]string, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export in %s: %w", dir, err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[path] = file
		}
	}
	return exports, nil
}

// Edit returns a copy of the source in which old, which occurs exactly once in a file, is
// replaced: a planted bug.
func (s *Source) Edit(file, old, changed string) (*Source, error) {
	text := string(s.files[file])
	if n := strings.Count(text, old); n != 1 {
		return nil, fmt.Errorf("%q occurs %d times in %s", old, n, file)
	}
	edited := &Source{dir: s.dir, files: maps.Clone(s.files), importer: s.importer, set: s.set}
	edited.files[file] = []byte(strings.Replace(text, old, changed, 1))
	return edited, edited.check()
}

// check parses the files and finds the types of expressions.
func (s *Source) check() error {
	var files []*ast.File
	s.functions = map[string]*ast.FuncDecl{}
	for name, content := range s.files {
		file, err := parser.ParseFile(s.set, name, content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				s.functions[functionName(f)] = f
			}
		}
	}
	s.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: s.importer}
	_, err := config.Check(s.dir, s.set, files, s.info)
	return err
}

// functionName returns the name of a function, or the type and the name of a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

var errUnknown = errors.New("unknown function")
