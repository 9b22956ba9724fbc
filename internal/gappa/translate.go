package gappa

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/big"
	"strconv"
	"strings"
)

// A node is an expression.
type node struct {
	op   op
	name string // of a variable, or the number that a constant is
	args []*node
}

type op int

const (
	number   op = iota
	variable    // a definition, or unknown
	exact       // an exact operation, printed with name as its format
	rounded     // one that is rounded, likewise
	product     // a product that is rounded, unless it is fused with a sum
	sum         // a sum or difference that is rounded, perhaps fused with a product
)

// A definition gives a variable its value.
type definition struct {
	name  string
	value *node
}

// A translation is the straight-line part of a function, as definitions in order.
type translation struct {
	source      *Source
	prefix      string
	bound       map[string]string // names of unknowns, by name
	definitions []definition
	holds       map[string]*node        // the value of a definition, by name
	current     map[types.Object]string // names of variables, as last assigned
	versions    map[string]int
	comparisons int
	depth       int
}

// function translates a function. Its variables begin with prefix. Of one that is assigned
// more than once, later values have the numbers 2, 3, .. behind their names. Results are
// named result, result2, .., fields of a struct result_field, and the two sides of the n-th
// comparison of numbers left<n> and right<n>. A field of a variable is variable_field. Names of unknowns are replaced
// by the names bound to them.
func (s *Source) function(name, prefix string, bound map[string]string) (*translation, error) {
	f, ok := s.functions[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, errUnknown)
	}
	t := &translation{
		source: s, prefix: prefix, bound: bound,
		holds: map[string]*node{}, current: map[types.Object]string{}, versions: map[string]int{},
	}
	t.block(f.Body.List)
	return t, nil
}

func (t *translation) block(list []ast.Stmt) {
	for _, s := range list {
		t.statement(s)
	}
}

func (t *translation) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		t.assign(s)
	case *ast.DeclStmt:
	case *ast.ReturnStmt:
		t.results(s.Results)
	case *ast.ExprStmt:
		t.arguments(s.X)
	case *ast.IfStmt:
		if s.Init != nil {
			t.statement(s.Init)
		}
		t.comparisonsIn(s.Cond)
		t.block(s.Body.List)
		t.forget(s.Body)
		if s.Else != nil {
			t.forget(s.Else)
			t.statement(s.Else)
			t.forget(s.Else)
		}
	case *ast.BlockStmt:
		t.block(s.List)
	case *ast.ForStmt:
		t.loop(s, s.Body)
	case *ast.RangeStmt:
		t.loop(s, s.Body)
	default:
		t.forget(s)
	}
}

// loop translates one pass; nothing is known before and after it of the variables that the loop assigns.
func (t *translation) loop(s ast.Stmt, body *ast.BlockStmt) {
	t.forget(s)
	t.block(body.List)
	t.forget(s)
}

// forget makes the variables that a statement assigns unknown.
func (t *translation) forget(s ast.Node) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				t.unknown(l)
			}
		case *ast.IncDecStmt:
			t.unknown(n.X)
		case *ast.RangeStmt:
			t.unknown(n.Key)
			t.unknown(n.Value)
		}
		return true
	})
}

// unknown gives a variable a new name that nothing is known about.
func (t *translation) unknown(e ast.Expr) {
	if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
		if o := t.object(id); o != nil {
			t.current[o] = t.version(id.Name)
		}
	}
}

func (t *translation) object(id *ast.Ident) types.Object {
	if o := t.source.info.Defs[id]; o != nil {
		return o
	}
	return t.source.info.Uses[id]
}

// version returns a name that no definition has yet.
func (t *translation) version(name string) string {
	t.versions[name]++
	if n := t.versions[name]; n > 1 {
		name += strconv.Itoa(n)
	}
	return t.prefix + name
}

func (t *translation) define(name string, value *node) string {
	name = t.version(name)
	t.definitions = append(t.definitions, definition{name, value})
	t.holds[name] = value
	return name
}

func (t *translation) assign(s *ast.AssignStmt) {
	if len(s.Lhs) != len(s.Rhs) || s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		for _, l := range s.Lhs {
			t.unknown(l)
		}
		t.arguments(s.Rhs[0])
		return
	}
	values := make([]*node, len(s.Rhs))
	for i, r := range s.Rhs {
		if t.isNumber(r) {
			values[i] = t.expression(r)
		} else if literal := literalOf(r); literal != nil {
			t.fields(t.path(s.Lhs[i]), literal)
		}
	}
	for i, l := range s.Lhs {
		if values[i] == nil {
			t.unknown(l)
			continue
		}
		switch l := l.(type) {
		case *ast.Ident:
			if l.Name != "_" {
				if o := t.object(l); o != nil {
					t.current[o] = t.define(l.Name, values[i])
				}
			}
		case *ast.SelectorExpr:
			t.define(t.path(l), values[i])
		}
	}
}

func (t *translation) results(list []ast.Expr) {
	for i, r := range list {
		name := [...]string{"result", "second", "third", "fourth"}[i]
		if literal, ok := r.(*ast.CompositeLit); ok {
			t.fields(name, literal)
		} else if t.isNumber(r) {
			t.define(name, t.expression(r))
		} else {
			t.arguments(r)
		}
		t.comparisonsIn(r)
	}
}

// literalOf returns the literal of a struct that an expression is, or points to.
func literalOf(e ast.Expr) *ast.CompositeLit {
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = u.X
	}
	literal, _ := e.(*ast.CompositeLit)
	return literal
}

// fields defines name_field for the fields of a literal.
func (t *translation) fields(name string, literal *ast.CompositeLit) {
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok && t.isNumber(pair.Value) {
			if key, ok := pair.Key.(*ast.Ident); ok {
				t.define(name+"_"+key.Name, t.expression(pair.Value))
			}
		}
	}
}

// comparisonsIn defines the two sides of every comparison of numbers in an expression.
func (t *translation) comparisonsIn(e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		c, ok := n.(*ast.BinaryExpr)
		if !ok || !t.isFloat(c.X) {
			return true
		}
		switch c.Op {
		case token.LSS, token.GTR, token.LEQ, token.GEQ:
			t.comparisons++
			t.define(fmt.Sprintf("left%d", t.comparisons), t.expression(c.X))
			t.define(fmt.Sprintf("right%d", t.comparisons), t.expression(c.Y))
		}
		return true
	})
}

func (t *translation) basic(e ast.Expr) types.BasicInfo {
	if v, ok := t.source.info.Types[e]; ok && v.Type != nil {
		if b, ok := v.Type.Underlying().(*types.Basic); ok {
			return b.Info()
		}
	}
	if id, ok := e.(*ast.Ident); ok {
		if o := t.object(id); o != nil {
			if b, ok := o.Type().Underlying().(*types.Basic); ok {
				return b.Info()
			}
		}
	}
	return 0
}

func (t *translation) isNumber(e ast.Expr) bool { return t.basic(e)&types.IsNumeric != 0 }
func (t *translation) isFloat(e ast.Expr) bool  { return t.basic(e)&types.IsFloat != 0 }

// expression translates a number.
func (t *translation) expression(e ast.Expr) *node {
	if v := t.source.info.Types[e].Value; v != nil {
		return t.constant(v, t.isFloat(e))
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return t.expression(e.X)
	case *ast.Ident:
		return t.variable(e)
	case *ast.SelectorExpr, *ast.IndexExpr:
		return t.named(t.path(e))
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			return &node{op: exact, name: "-(%s)", args: []*node{t.expression(e.X)}}
		}
	case *ast.BinaryExpr:
		return t.binary(e)
	case *ast.CallExpr:
		return t.call(e)
	}
	return t.named(t.version("unknown")[len(t.prefix):])
}

// constant returns a number exactly; one of a float64 expression is rounded to float64.
func (t *translation) constant(v constant.Value, float bool) *node {
	if !float {
		return &node{op: number, name: constant.ToInt(v).ExactString()}
	}
	f, _ := constant.Float64Val(v)
	return &node{op: number, name: Number(f)}
}

// Number formats x exactly, as Gappa reads it.
func Number(x float64) string {
	mantissa, exponent := new(big.Float).SetFloat64(x), 0
	if x == 0 {
		return "0"
	}
	exponent = mantissa.MantExp(mantissa) - 53
	n, _ := mantissa.SetMantExp(mantissa, 53).Int(nil)
	for n.Bit(0) == 0 {
		n.Rsh(n, 1)
		exponent++
	}
	return fmt.Sprintf("%sb%d", n, exponent)
}

func (t *translation) variable(id *ast.Ident) *node {
	o := t.object(id)
	if name, ok := t.current[o]; ok {
		return &node{op: variable, name: name}
	}
	return t.named(id.Name)
}

// named returns a variable by its name in the function: the last of its definitions, or an
// unknown.
func (t *translation) named(name string) *node {
	if n := t.versions[name]; n > 0 && t.holds[t.prefix+name] != nil {
		if n > 1 {
			name += strconv.Itoa(n)
		}
		return &node{op: variable, name: t.prefix + name}
	}
	if other, ok := t.bound[name]; ok {
		return &node{op: variable, name: other}
	}
	return &node{op: variable, name: t.prefix + name}
}

// path returns a_b_c for a.b.c, and the like for anything else that is not a variable.
func (t *translation) path(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return t.path(e.X) + "_" + e.Sel.Name
	case *ast.IndexExpr:
		return t.path(e.X) + "_" + t.path(e.Index)
	case *ast.BasicLit:
		return e.Value
	case *ast.ParenExpr:
		return t.path(e.X)
	case *ast.StarExpr:
		return t.path(e.X)
	}
	return "some"
}

func (t *translation) binary(e *ast.BinaryExpr) *node {
	if !t.isNumber(e.X) {
		return t.named("unknown")
	}
	x, y := t.expression(e.X), t.expression(e.Y)
	kind := map[token.Token]op{token.ADD: sum, token.SUB: sum, token.MUL: product, token.QUO: rounded}
	k, ok := kind[e.Op]
	switch {
	case e.Op == token.SHR && y.op == number:
		return &node{op: exact, name: "int<dn>((%s) * 1b-" + y.name + ")", args: []*node{x}}
	case !ok || !t.isFloat(e) && e.Op == token.QUO:
		return t.named(t.version("unknown")[len(t.prefix):])
	case !t.isFloat(e):
		k = exact
	}
	return &node{op: k, name: "(%s) " + e.Op.String() + " (%s)", args: []*node{x, y}}
}

func (t *translation) call(e *ast.CallExpr) *node {
	if to, ok := t.source.info.Types[e.Fun]; ok && to.IsType() {
		return t.convert(e)
	}
	switch f := e.Fun.(type) {
	case *ast.SelectorExpr:
		if p, ok := f.X.(*ast.Ident); ok {
			if _, ok := t.source.info.Uses[p].(*types.PkgName); ok {
				if p.Name == "math" {
					if n := t.math(f.Sel.Name, e.Args); n != nil {
						return n
					}
				}
				return t.opaque(f.Sel.Name, e.Args)
			}
		}
		if o, ok := t.source.info.Uses[f.Sel].(*types.Func); ok {
			if n := t.inline(o, f.X, e.Args); n != nil {
				return n
			}
		}
		return t.opaque(f.Sel.Name, e.Args)
	case *ast.Ident:
		if o, ok := t.source.info.Uses[f].(*types.Func); ok {
			if n := t.inline(o, nil, e.Args); n != nil {
				return n
			}
		}
		return t.opaque(f.Name, e.Args)
	}
	return t.opaque("call", e.Args)
}

// opaque returns the result of a call that is not translated, an unknown with the name of the
// function; later results of the same one are numbered. Its n-th argument has the name
// <result>_<n>. The body of a function that is an argument is translated.
func (t *translation) opaque(name string, args []ast.Expr) *node {
	result := t.version(name)[len(t.prefix):]
	for i, a := range args {
		if literal, ok := a.(*ast.FuncLit); ok {
			t.block(literal.Body.List)
		} else if t.isNumber(a) {
			t.define(fmt.Sprintf("%s_%d", result, i+1), t.expression(a))
		}
	}
	return t.named(result)
}

// arguments translates the arguments of a call with a result that is not a number.
func (t *translation) arguments(e ast.Expr) {
	if c, ok := e.(*ast.CallExpr); ok {
		if to := t.source.info.Types[c.Fun]; !to.IsType() && !to.IsBuiltin() {
			t.call(c)
		}
	}
}

// convert translates a conversion. One to float64 rounds, and is never fused with anything.
func (t *translation) convert(e *ast.CallExpr) *node {
	x := t.expression(e.Args[0])
	from, to := t.isFloat(e.Args[0]), t.isFloat(e)
	switch {
	case to && types.Identical(t.source.info.Types[e].Type.Underlying(), types.Typ[types.Float32]):
		return t.named(t.version("float32")[len(t.prefix):])
	case to:
		return &node{op: rounded, name: "%s", args: []*node{x}}
	case from:
		return &node{op: exact, name: "int<zr>(%s)", args: []*node{x}}
	}
	return x
}

// math translates the exact and correctly rounded functions of package math.
func (t *translation) math(name string, args []ast.Expr) *node {
	exactly := map[string]string{
		"Abs": "|%s|", "RoundToEven": "int<ne>(%s)", "Floor": "int<dn>(%s)", "Ceil": "int<up>(%s)", "Trunc": "int<zr>(%s)",
	}
	if format, ok := exactly[name]; ok {
		x := t.expression(args[0])
		if name == "Abs" && x.op == rounded && x.name == "%s" { // the same, but Gappa does not know
			return &node{op: rounded, name: "|%s|", args: x.args}
		}
		if x.op == sum { // a name for it, since Gappa knows little of differences of absolute values
			x = &node{op: variable, name: t.define(t.version(name)[len(t.prefix):]+"_1", x)}
		}
		return &node{op: exact, name: format, args: []*node{x}}
	}
	if name == "Sqrt" {
		root := &node{op: rounded, name: "sqrt(%s)", args: []*node{t.expression(args[0])}}
		return &node{op: variable, name: t.define("Sqrt", root)}
	}
	return nil
}

// inline translates a call of a function f of the package that is a single return of a number,
// and gives the result the name f_of.
func (t *translation) inline(o *types.Func, receiver ast.Expr, args []ast.Expr) *node {
	name := o.Name()
	if recv := o.Signature().Recv(); recv != nil {
		of := recv.Type()
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		named, ok := of.(*types.Named)
		if !ok {
			return nil
		}
		name = named.Obj().Name() + "." + name
	}
	f, ok := t.source.functions[name]
	if !ok || len(f.Body.List) != 1 || t.depth > 3 {
		return nil
	}
	result, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(result.Results) != 1 || !t.isNumber(result.Results[0]) {
		return nil
	}
	i := 0
	for _, field := range f.Type.Params.List {
		for _, p := range field.Names {
			if !t.isNumber(p) {
				return nil
			}
			t.current[t.source.info.Defs[p]] = t.define(p.Name, t.expression(args[i]))
			i++
		}
	}
	if receiver != nil && len(f.Recv.List[0].Names) == 1 && f.Recv.List[0].Names[0].Name != t.path(receiver) {
		return nil // its fields would have other names
	}
	t.depth++
	defer func() { t.depth-- }()
	return &node{op: variable, name: t.define(o.Name()+"_of", t.expression(result.Results[0]))}
}

// A variant says for each sum its fused operand: 0 for none, 1 or 2.
type variant struct {
	choices []int
	limits  []int
	next    int
}

func (v *variant) choose(limit int) int {
	if v.next == len(v.choices) {
		v.choices = append(v.choices, 0)
		v.limits = append(v.limits, limit)
	}
	v.next++
	return v.choices[v.next-1]
}

// advance goes to the next variant, and returns false after the last one.
func (v *variant) advance() bool {
	v.choices, v.limits = v.choices[:v.next], v.limits[:v.next]
	for i := len(v.choices) - 1; i >= 0; i-- {
		if v.choices[i]+1 < v.limits[i] {
			v.choices[i]++
			v.choices, v.limits, v.next = v.choices[:i+1], v.limits[:i+1], 0
			return true
		}
	}
	return false
}

// print writes the definitions in one variant.
func (t *translation) print(b *strings.Builder, v *variant) {
	for _, d := range t.definitions {
		fmt.Fprintf(b, "%s = %s;\n", d.name, t.text(d.value, v))
	}
}

func (t *translation) text(n *node, v *variant) string {
	switch n.op {
	case number, variable:
		return n.name
	case exact:
		return t.operation(n, v)
	case sum:
		fusable := []*node{nil}
		for _, a := range n.args {
			if t.product(a) != nil {
				fusable = append(fusable, a)
			}
		}
		chosen := (*node)(nil)
		if len(fusable) > 1 && v != nil {
			chosen = fusable[v.choose(len(fusable))]
		}
		parts := make([]any, len(n.args))
		for i, a := range n.args {
			if a == chosen {
				parts[i] = t.unrounded(a, v)
			} else {
				parts[i] = t.text(a, v)
			}
		}
		return "rnd(" + fmt.Sprintf(n.name, parts...) + ")"
	}
	return "rnd(" + t.operation(n, v) + ")"
}

func (t *translation) operation(n *node, v *variant) string {
	parts := make([]any, len(n.args))
	for i, a := range n.args {
		parts[i] = t.text(a, v)
	}
	return fmt.Sprintf(n.name, parts...)
}

// product returns the product that an operand is, its sign aside, or nil.
func (t *translation) product(n *node) *node {
	switch {
	case n.op == product:
		return n
	case n.op == exact && n.name == "-(%s)":
		return t.product(n.args[0])
	case n.op == variable && t.holds[n.name] != nil:
		return t.product(t.holds[n.name])
	}
	return nil
}

// unrounded writes an operand that is a product without its rounding.
func (t *translation) unrounded(n *node, v *variant) string {
	switch n.op {
	case product:
		return "(" + t.operation(n, v) + ")"
	case exact:
		return "-(" + t.unrounded(n.args[0], v) + ")"
	}
	return t.unrounded(t.holds[n.name], v)
}
