package need

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// isTest reports whether something is a test, such as a *testing.T.
func isTest(t types.Type) bool {
	switch strings.TrimPrefix(types.TypeString(t, nil), "*") {
	case "testing.T", "testing.B", "testing.F", "testing.TB":
		return true
	}
	return false
}

// holds reports whether values of a type hold a test, in fields of fields down to a depth.
func holds(t types.Type, depth int) bool {
	if isTest(t) {
		return true
	}
	if p, is := t.Underlying().(*types.Pointer); is {
		t = p.Elem()
	}
	of, is := t.Underlying().(*types.Struct)
	if !is || depth == 0 {
		return false
	}
	for field := range of.Fields() {
		if holds(field.Type(), depth-1) {
			return true
		}
	}
	return false
}

// object returns the variable or function at the beginning of an expression, such as s of s.t[0]: the parts of s count as s.
func (s *sources) object(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		if o := s.Uses[e]; o != nil {
			return o
		}
		return s.Defs[e]
	case *ast.SelectorExpr:
		if o := s.object(e.X); o != nil {
			if _, is := o.(*types.PkgName); !is {
				return o
			}
		}
		return s.Uses[e.Sel]
	case *ast.IndexExpr:
		return s.object(e.X)
	case *ast.ParenExpr:
		return s.object(e.X)
	case *ast.StarExpr:
		return s.object(e.X)
	case *ast.UnaryExpr:
		return s.object(e.X)
	}
	return nil
}

// test returns the test that a variable is or holds, as the variable that it was made of, or else the variable itself.
func (s *sources) test(o types.Object) types.Object {
	const deep = 3
	seen := map[types.Object]bool{}
	var search func(types.Object) types.Object
	search = func(o types.Object) types.Object {
		if o == nil || seen[o] || !holds(o.Type(), deep) {
			return nil
		}
		if seen[o] = true; isTest(o.Type()) {
			return o
		}
		for _, from := range s.made[o] {
			if test := search(from); test != nil {
				return test
			}
		}
		return nil
	}
	if test := search(o); test != nil {
		return test
	}
	return o
}

// function returns the key of the called function in skips, which is its name or its variable, and its receiver.
func (s *sources) function(call *ast.CallExpr) (key any, receiver ast.Expr) {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		if named, is := s.Uses[f].(*types.Func); is {
			return named.FullName(), nil
		}
	case *ast.SelectorExpr:
		if named, is := s.Uses[f.Sel].(*types.Func); is {
			return named.FullName(), f.X
		}
	}
	return s.object(call.Fun), nil
}

// method returns the name of a method of package testing, such as Skip, and "" for other functions.
func method(key any) string {
	name, _ := key.(string)
	for _, of := range []string{"(*testing.common).", "(testing.TB).", "(*testing.T).", "(*testing.B).", "(*testing.F)."} {
		if m, is := strings.CutPrefix(name, of); is {
			return m
		}
	}
	return ""
}

// calls calls f for the tests that a call may skip.
func (s *sources) calls(call *ast.CallExpr, f func(test types.Object, reason string)) {
	key, receiver := s.function(call)
	if strings.HasPrefix(method(key), "Skip") {
		f(s.object(receiver), s.Position(call.Pos()).String())
		return
	}
	for of, reasons := range s.skips[key] {
		var test types.Object
		switch of := of.(type) {
		case types.Object:
			test = of
		case int:
			if of < 0 {
				test = s.object(receiver)
			} else if of < len(call.Args) {
				test = s.object(call.Args[of])
			}
		}
		if test == nil {
			continue
		}
		for reason := range s.asked(key, call, reasons) {
			f(test, reason)
		}
	}
}

// asked returns the reasons of a call. For functions of this package they are the programs and files named in the call, so that two
// calls for psql have the same reason.
func (s *sources) asked(key any, call *ast.CallExpr, reasons map[string]bool) map[string]bool {
	name, _ := key.(string)
	if !strings.HasPrefix(name, "github.com/geosql/geosql/internal/need.") {
		return reasons
	}
	named := map[string]bool{}
	for _, arg := range call.Args[1:] {
		if v := s.Types[arg].Value; v != nil && v.Kind() == constant.String {
			named[constant.StringVal(v)] = true
		}
	}
	if len(named) == 0 {
		return reasons
	}
	return named
}

// inside reports whether a variable is declared in a function.
func inside(o types.Object, f ast.Node) bool { return f.Pos() <= o.Pos() && o.Pos() < f.End() }

// learn notes which tests a function skips, and reports whether any is new.
func (s *sources) learn(key any, function ast.Node, kind *ast.FuncType, receiver *ast.FieldList, body *ast.BlockStmt) (isNew bool) {
	parameters := map[types.Object]int{}
	n := 0
	for _, field := range kind.Params.List {
		for _, name := range field.Names {
			parameters[s.Defs[name]] = n
			n++
		}
	}
	if receiver != nil && len(receiver.List[0].Names) > 0 {
		parameters[s.Defs[receiver.List[0].Names[0]]] = -1
	}
	ast.Inspect(body, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is {
			return true
		}
		s.calls(call, func(test types.Object, reason string) {
			var of any
			test = s.test(test)
			if n, is := parameters[test]; is {
				of = n
			} else if !inside(test, function) {
				of = test
			} else {
				return
			}
			if s.skips[key] == nil {
				s.skips[key] = skips{}
			}
			if s.skips[key][of] == nil {
				s.skips[key][of] = map[string]bool{}
			}
			isNew = isNew || !s.skips[key][of][reason]
			s.skips[key][of][reason] = true
		})
		return true
	})
	return isNew
}

// make notes the variables in the value that a variable gets.
func (s *sources) make(to ast.Expr, from ast.Node) {
	name, is := to.(*ast.Ident)
	if !is || from == nil {
		return
	}
	o := s.object(name)
	ast.Inspect(from, func(node ast.Node) bool {
		if _, is := node.(*ast.FuncLit); is {
			return false
		}
		if name, is := node.(*ast.Ident); is {
			if v, is := s.Uses[name].(*types.Var); is && v != o && !v.IsField() {
				s.made[o] = append(s.made[o], v)
			}
		}
		return true
	})
}

// assigned calls f for all assignments.
func assigned(file *ast.File, f func(to ast.Expr, from ast.Node)) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for i, to := range node.Lhs {
				f(to, node.Rhs[min(i, len(node.Rhs)-1)])
			}
		case *ast.ValueSpec:
			for i, to := range node.Names {
				if len(node.Values) > 0 {
					f(to, node.Values[min(i, len(node.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			for _, to := range []ast.Expr{node.Key, node.Value} {
				if to != nil {
					f(to, node.X)
				}
			}
		}
		return true
	})
}

// know learns which tests all functions skip, until nothing new is found.
func (s *sources) know() {
	for _, file := range s.files {
		assigned(file, s.make)
	}
	for more := true; more; {
		more = false
		for _, file := range s.files {
			for _, d := range file.Decls {
				if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
					if named, is := s.Defs[f.Name].(*types.Func); is {
						more = s.learn(named.FullName(), f, f.Type, f.Recv, f.Body) || more
					}
				}
			}
			assigned(file, func(to ast.Expr, from ast.Node) {
				o := s.object(to)
				if o == nil {
					return
				}
				ast.Inspect(from, func(node ast.Node) bool {
					f, is := node.(*ast.FuncLit)
					if is {
						more = s.learn(o, f, f.Type, nil, f.Body) || more
					}
					return !is
				})
				if from, is := from.(*ast.Ident); is && s.skips[o] == nil && s.skips[s.object(from)] != nil {
					s.skips[o], more = s.skips[s.object(from)], true
				}
			})
		}
	}
}

// findings lists all faults, sorted.
func (s *sources) findings() (list []string) {
	s.know()
	for _, file := range s.files {
		ast.Inspect(file, func(node ast.Node) bool {
			if block, is := node.(*ast.BlockStmt); is {
				for i, statement := range block.List {
					list = append(list, s.goesOn(statement, block.List[i+1:])...)
				}
			}
			if subtest, _ := s.subtest(node); subtest != nil {
				list = append(list, s.skipsAnother(subtest)...)
			}
			if call, is := node.(*ast.CallExpr); is && strings.HasSuffix(s.Position(call.Pos()).Filename, "_test.go") {
				if key, _ := s.function(call); key == "os/exec.LookPath" {
					list = append(list, s.says(call.Pos(), "looks for a program without internal/need"))
				}
			}
			return true
		})
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (s *sources) says(pos token.Pos, what string) string {
	p := s.Position(pos)
	return fmt.Sprintf("%s:%d: %s", filepath.Base(p.Filename), p.Line, what)
}

// subtest returns the function of a subtest that a node runs, and the variable of its parent.
func (s *sources) subtest(node ast.Node) (f *ast.FuncLit, parent types.Object) {
	call, is := node.(*ast.CallExpr)
	if !is || len(call.Args) == 0 {
		return nil, nil
	}
	key, receiver := s.function(call)
	if m := method(key); m != "Run" && m != "Fuzz" {
		return nil, nil
	}
	f, _ = call.Args[len(call.Args)-1].(*ast.FuncLit)
	return f, s.test(s.object(receiver))
}

// skipsAnother finds calls in a subtest that skip another test.
func (s *sources) skipsAnother(subtest *ast.FuncLit) (list []string) {
	ast.Inspect(subtest.Body, func(node ast.Node) bool {
		if call, is := node.(*ast.CallExpr); is {
			s.calls(call, func(test types.Object, _ string) {
				if o := s.test(test); !inside(o, subtest) && isTest(o.Type()) {
					list = append(list, s.says(call.Pos(), "skips a test that is not the one it is in"))
				}
			})
		}
		return true
	})
	return list
}

// goesOn finds subtests of a statement that may be skipped, if a later statement uses a variable of theirs and may fail the parent.
func (s *sources) goesOn(statement ast.Stmt, later []ast.Stmt) (list []string) {
	ast.Inspect(statement, func(node ast.Node) bool {
		subtest, parent := s.subtest(node)
		if subtest == nil || len(subtest.Type.Params.List[0].Names) == 0 || s.reasons(subtest, parent) == nil {
			return true
		}
		theirs := s.around(subtest)
		for _, next := range later {
			skips, judges := s.judges(next, parent)
			if skips {
				break
			}
			if used := s.uses(next, theirs); judges && used != "" {
				list = append(list, s.says(node.Pos(), "its parent goes on with "+used))
				break
			}
		}
		return false
	})
	return list
}

// reasons returns why a subtest may be skipped, without the reasons for which its parent is skipped before it.
func (s *sources) reasons(subtest *ast.FuncLit, parent types.Object) map[string]bool {
	own := s.Defs[subtest.Type.Params.List[0].Names[0]]
	of := func(node ast.Node, skipped types.Object, before token.Pos) map[string]bool {
		all := map[string]bool{}
		ast.Inspect(node, func(node ast.Node) bool {
			if call, is := node.(*ast.CallExpr); is && call.Pos() < before {
				s.calls(call, func(test types.Object, reason string) {
					if s.test(test) == skipped {
						all[reason] = true
					}
				})
			}
			return true
		})
		return all
	}
	left := of(subtest.Body, own, subtest.End())
	for _, file := range s.files {
		if file.FileStart <= subtest.Pos() && subtest.End() <= file.FileEnd {
			for reason := range of(file, parent, subtest.Pos()) {
				delete(left, reason)
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	return left
}

// around returns the variables that a subtest shares with its parent, and the variables that these are made of. Variables that hold a
// test, such as servers, are left out: a skipped subtest does not change them.
func (s *sources) around(subtest *ast.FuncLit) map[types.Object]bool {
	all := map[types.Object]bool{}
	var add func(o types.Object)
	add = func(o types.Object) {
		v, is := o.(*types.Var)
		if !is || all[o] || v.IsField() || inside(o, subtest) || o.Parent() == o.Pkg().Scope() || isTest(s.test(o).Type()) {
			return
		}
		all[o] = true
		for _, from := range s.made[o] {
			add(from)
		}
	}
	ast.Inspect(subtest.Body, func(node ast.Node) bool {
		if name, is := node.(*ast.Ident); is {
			add(s.Uses[name])
		}
		return true
	})
	return all
}

// uses returns the name of one of the variables, if a statement uses any: the first in the alphabet.
func (s *sources) uses(statement ast.Stmt, variables map[types.Object]bool) string {
	names := map[string]bool{}
	ast.Inspect(statement, func(node ast.Node) bool {
		if name, is := node.(*ast.Ident); is && variables[s.Uses[name]] {
			names[name.Name] = true
		}
		return true
	})
	if len(names) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(names)))
}

// judges reports whether a statement may skip a test, and whether it may fail it.
func (s *sources) judges(statement ast.Stmt, test types.Object) (skips, fails bool) {
	ast.Inspect(statement, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is {
			return true
		}
		s.calls(call, func(other types.Object, _ string) { skips = skips || s.test(other) == test })
		if key, receiver := s.function(call); receiver != nil && s.test(s.object(receiver)) == test {
			m := method(key)
			fails = fails || strings.HasPrefix(m, "Error") || strings.HasPrefix(m, "Fa")
		}
		return true
	})
	return skips, fails
}
