package pgcatalog

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

// firstFunctionOID is the OID of the first function.
const firstFunctionOID = 15000

// A function is a scalar function for clients. A nil argument is NULL.
type function struct {
	Name    string
	Args    []int // numbers of arguments
	Returns uint32
	Kind    string // of a private function, which others have registered: f, a or w
	pure    bool   // the same arguments give the same answer
	strict  bool   // NULL for a NULL argument
	call    func(a []any) (any, error)
}

// private finds the private functions of the connection, so that clients list them.
func (c *Catalogue) private(conn *sqlite.Conn) error {
	return conn.Each(`SELECT DISTINCT name, narg, type FROM pragma_function_list
		WHERE name GLOB 'dx_*' OR name GLOB 'geo_*' OR name GLOB 'geoind_*' ORDER BY name, narg`, func(v []sqlite.Value) error {
		kind := map[string]string{"s": "f", "a": "a", "w": "w"}[v[2].Text()]
		args := []int{max(0, int(v[1].Int()))}
		c.Functions = append(c.Functions, function{Name: v[0].Text(), Args: args, Returns: typeByName["any"].OID, Kind: kind})
		return nil
	})
}

// returned has the types of the functions' answers.
var returned = sync.OnceValue(func() map[string]uint32 {
	m := map[string]uint32{}
	for _, f := range (&Catalogue{}).list() {
		if f.Returns != typeByName["any"].OID { // it goes by the arguments
			m[f.Name] = f.Returns
		}
	}
	return m
})

// Returns returns the type of a function's answer, or 0 if there is no such function or its answer goes by the arguments.
func Returns(function string) uint32 { return returned()[function] }

func oidOf(v any) uint32 { return uint32(pgfunc.Whole(v)) }

// register registers the functions on a connection.
func (c *Catalogue) register(conn *sqlite.Conn) error {
	lib := sqlite.Library{}
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Kind != "" {
			continue
		}
		flags := sqlite.Flags(0)
		if f.pure {
			flags = sqlite.Deterministic
		}
		if f.Name == lastCost {
			flags = sqlite.Innocuous // a view calls it
		}
		lib.Scalars = append(lib.Scalars, sqlite.Scalar{Name: f.Name, Args: f.Args, Flags: flags, Call: func(call *sqlite.Call) error {
			a := make([]any, call.Len())
			for i := range a {
				if a[i] = call.Arg(i).Copy(); a[i] == nil && f.strict {
					call.ResultNull(0)
					return nil
				}
			}
			v, err := f.call(a)
			if err != nil {
				return err
			}
			pgfunc.Result(call, 0, v)
			return nil
		}})
	}
	lib.Aggregates, lib.Tables = pgfunc.Aggregates(), pgfunc.Tables()
	return conn.Register(lib)
}

// find returns the relation that a name calls, such as public."Reading".
func (c *Catalogue) find(name string) *relation {
	parts := names(name)
	if len(parts) == 0 {
		return nil
	}
	last, schemas := parts[len(parts)-1], []string{"public", "pg_catalog"}
	if len(parts) > 1 {
		schemas = parts[len(parts)-2 : len(parts)-1]
	}
	for _, schema := range schemas {
		is := func(r *relation) bool { return r.Schema == schema && strings.EqualFold(r.Name, last) }
		if i := slices.IndexFunc(c.Relations, is); i >= 0 {
			return c.Relations[i]
		}
	}
	return nil
}

// names returns the names of a dotted name.
func names(s string) (list []string) {
	for t := range sqltext.PostgreSQL.Tokens(s) {
		if n := t.Name(); n != "" {
			list = append(list, n)
		}
	}
	return list
}

// A kind is a kind of objects with OIDs. A cast to it turns a name into the OID, an OID into the name.
type kind struct {
	cast, what, code string
	oid              func(name string) any // nil if there is none
	name             func(oid uint32) string
}

// call returns the function of the cast.
func (k kind) call(a []any) (any, error) {
	if s, ok := a[0].(string); ok {
		if n, ok := pgfunc.Typed(s).(int64); ok {
			return n, nil
		}
		if s == "-" {
			return int64(0), nil
		}
		if found := k.oid(s); found != nil {
			return found, nil
		}
		return nil, &pgfunc.Error{Code: k.code, Message: fmt.Sprintf("%s %q does not exist", k.what, s)}
	}
	if n := oidOf(a[0]); n != 0 {
		return k.name(n), nil
	}
	return "-", nil
}

// An object is a schema or a role.
type object struct {
	oid  uint32
	name string
}

var schemas = []object{{catalogOID, "pg_catalog"}, {publicOID, "public"}, {schemaOID, "information_schema"}, {geosqlOID, "geosql"}}

// roles returns the roles that a session sees.
func (c *Catalogue) roles() []object { return []object{{userOID, c.db.User()}, {ownerOID, ownerName}} }

// kindOf returns a kind of few objects.
func kindOf(cast, what, code string, objects func() []object) kind {
	return kind{cast, what, code,
		func(name string) any {
			for _, o := range objects() {
				if o.name == strings.Join(names(name), ".") {
					return o.oid
				}
			}
			return nil
		},
		func(oid uint32) string {
			for _, o := range objects() {
				if o.oid == oid {
					return o.name
				}
			}
			return fmt.Sprint(oid)
		}}
}

// kinds returns the kinds of objects.
func (c *Catalogue) kinds() []kind {
	return []kind{
		{"regclass", "relation", pgfunc.CodeNoTable, func(s string) any {
			if r := c.find(s); r != nil {
				return r.OID
			}
			return nil
		}, c.relationName},
		{"regtype", "type", pgfunc.CodeNoObject, c.typeOID, c.formatType},
		{"regproc", "function", pgfunc.CodeNoFunction, func(s string) any {
			name, _, _ := strings.Cut(s, "(")
			if parts := names(name); len(parts) > 0 {
				if i := slices.IndexFunc(c.Functions, func(f function) bool { return f.Name == parts[len(parts)-1] }); i >= 0 {
					return firstFunctionOID + i
				}
			}
			return nil
		}, func(oid uint32) string {
			if f := c.signature(oid); f != nil {
				return f.Name
			}
			return fmt.Sprint(oid)
		}},
		kindOf("regnamespace", "schema", pgfunc.CodeNoSchema, func() []object { return schemas }),
		kindOf("regrole", "role", pgfunc.CodeNoObject, c.roles),
		kindOf("regother", "object", pgfunc.CodeNoObject, func() []object { return nil }),
	}
}

// typeOID returns the OID of a type by its name.
func (c *Catalogue) typeOID(name string) any {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "(")
	element, array := strings.CutSuffix(strings.TrimSpace(name), "[]")
	parts := names(element)
	if len(parts) > 1 && slices.ContainsFunc(schemas, func(s object) bool { return s.name == parts[0] }) {
		parts = parts[1:]
	}
	base := strings.Join(parts, " ")
	if t := typeByName[base]; t != nil {
		if array {
			return t.Array
		}
		return t.OID
	}
	if t := typeByName[strings.TrimPrefix(base, "_")]; t != nil {
		return t.Array
	}
	if base == "sealed" {
		return SealedOID
	}
	for _, r := range c.Relations {
		if r.Schema == "public" && r.Kind != "i" && strings.EqualFold(r.Name, base) {
			return r.OID + 1
		}
	}
	return nil
}

// formatType returns how a type is shown.
func (c *Catalogue) formatType(oid uint32) string {
	switch {
	case oid == 0:
		return "-"
	case oid == SealedOID:
		return "sealed"
	case typeByOID[oid] != nil:
		return typeByOID[oid].SQL
	case arrayOf[oid] != nil:
		return arrayOf[oid].SQL + "[]"
	}
	if r := c.byOID[oid-1]; r != nil && r.Schema == "public" {
		return ident(r.Name)
	}
	return "???"
}

func (c *Catalogue) relationName(oid uint32) string {
	r := c.byOID[oid]
	switch {
	case r == nil:
		return fmt.Sprint(oid)
	case r.isHidden():
		return r.Schema + "." + ident(r.Name)
	}
	return ident(r.Name)
}

// signature returns the function with an OID, or nil.
func (c *Catalogue) signature(oid uint32) *function {
	if i := int(oid) - firstFunctionOID; i >= 0 && i < len(c.Functions) {
		return &c.Functions[i]
	}
	return nil
}
