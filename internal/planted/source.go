//go:build planted

package planted

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sources are the files of a package, without its tests.
type sources struct {
	set   *token.FileSet
	files map[string]*ast.File // by name from the root of the module
	texts map[string]string    // without the comments of Go, for which there are spaces
}

// parse reads a package's files.
func parse(root, folder string) (*sources, error) {
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		return nil, err
	}
	s := &sources{token.NewFileSet(), map[string]*ast.File{}, map[string]string{}}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		ext := path.Ext(name)
		if ext != ".go" && ext != ".c" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		if err := s.add(name, text); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add adds a file.
func (s *sources) add(name string, text []byte) error {
	if path.Ext(name) != ".go" {
		s.texts[name] = string(text)
		return nil
	}
	f, err := parser.ParseFile(s.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, c := range f.Comments {
		for i := s.offset(c.Pos()); i < s.offset(c.End()); i++ {
			text[i] = ' '
		}
	}
	s.files[name], s.texts[name] = f, string(text)
	return nil
}

// offset returns the offset of a position in its file.
func (s *sources) offset(p token.Pos) int { return s.set.Position(p).Offset }

// change finds an edit of a bug in the declaration of a name, and its file.
func (s *sources) change(name, bug string, e Edit) (file string, c change, err error) {
	var declared ast.Node
	for n, f := range s.files {
		if d := declaration(f, name); d != nil {
			if declared != nil {
				return "", change{}, fmt.Errorf("it is declared in %s and in %s", file, n)
			}
			file, declared = n, d
		}
	}
	if declared == nil {
		return s.changeInC(name, bug, e)
	}
	from, to, err := s.place(file, declared, e)
	return file, change{from, to, e.code(bug)}, err
}

// place returns what an edit replaces.
func (s *sources) place(file string, declared ast.Node, e Edit) (from, to int, err error) {
	if e.at == "" {
		begin, err := opening(declared, e.place)
		return s.offset(begin) + 1, s.offset(begin) + 1, err
	}
	begin := s.offset(declared.Pos())
	at, err := piece(s.texts[file][begin:s.offset(declared.End())], e.at)
	if err != nil {
		return 0, 0, err
	}
	from, to = begin+at, begin+at+len(e.at)
	if e.place == insteadOfPiece {
		return from, to, nil
	}
	statement := s.statement(declared, from)
	if statement == nil {
		return 0, 0, fmt.Errorf("there is no statement at %s", e.at)
	}
	if from = s.offset(statement.Pos()); e.place == afterStatement {
		from = s.offset(statement.End())
	}
	return from, from, nil
}

// piece returns where a piece of a declaration is, which must be there once.
func piece(text, at string) (int, error) {
	if n := strings.Count(text, at); n != 1 {
		return 0, fmt.Errorf("it has %d times, not once: %s", n, at)
	}
	return strings.Index(text, at), nil
}

// statement returns the innermost statement in a list of statements that has an offset, or nil.
func (s *sources) statement(declared ast.Node, at int) (innermost ast.Stmt) {
	ast.Inspect(declared, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		if i := slices.IndexFunc(list, func(n ast.Stmt) bool {
			return s.offset(n.Pos()) <= at && at < s.offset(n.End())
		}); i >= 0 {
			innermost = list[i]
		}
		return true
	})
	return innermost
}

// opening returns where the brace of a function or struct opens.
func opening(declared ast.Node, p place) (token.Pos, error) {
	switch d := declared.(type) {
	case *ast.FuncDecl:
		if p == beginning {
			return d.Body.Lbrace, nil
		}
	case *ast.TypeSpec:
		if t, ok := d.Type.(*ast.StructType); ok && p == ofFields {
			return t.Fields.Opening, nil
		}
	}
	return token.NoPos, fmt.Errorf("the edit is none of a %T", declared)
}

// declaration returns the function, method ("Type.Method") or type of that name, or nil.
func declaration(f *ast.File, name string) ast.Node {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver(d)+d.Name.Name == name && d.Body != nil {
				return d
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok && t.Name.Name == name {
					return t
				}
			}
		}
	}
	return nil
}

// receiver returns the name of a method's type and a dot, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return "?."
		}
	}
}

// changeInC finds an edit in the body of a function in C.
func (s *sources) changeInC(name, bug string, e Edit) (file string, c change, err error) {
	body := regexp.MustCompile(`(?m)^\w[^;{}]*\b` + name + `\([^;{}]*\) \{(.*\}$|\n(.*\n)*?\}$)`)
	for file, text := range s.texts {
		if f := body.FindStringIndex(text); f != nil && path.Ext(file) == ".c" {
			at, err := piece(text[f[0]:f[1]], e.at)
			return file, change{f[0] + at, f[0] + at + len(e.at), e.codeInC(bug)}, err
		}
	}
	return "", change{}, fmt.Errorf("%s is declared nowhere", name)
}
