// Seal is seal.wasm of the npm package geosql-device: it seals rows for an owner's database on somebody's device, as package
// sealed/batch says.
//
// The key of a session is in the module's memory only, from the encapsulation until the lines of a batch are done, and is
// neither stored nor handed out. The collector's key is the caller's to keep.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"syscall/js"

	"github.com/geosql/geosql/cmd/geosql-device/internal/bridge"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/batch"
)

func main() {
	bridge.Serve(map[string]any{
		"collectorKey": bridge.Function(func([]js.Value) (any, error) { return collectorKey() }),
		"publicKey":    bridge.Function(func(args []js.Value) (any, error) { return publicKey(args[0]) }),
		"seal":         bridge.Function(seal),
	})
}

// collectorKey makes a key, in base64. It is a secret of the device.
func collectorKey() (any, error) {
	key, err := sealed.GenerateKey()
	if err != nil {
		return nil, err
	}
	b, err := key.Bytes()
	return base64.StdEncoding.EncodeToString(b), err
}

// privateKey reads a key that collectorKey has made.
func privateKey(text js.Value) (*sealed.PrivateKey, error) {
	b, err := base64.StdEncoding.DecodeString(text.String())
	if err != nil {
		return nil, err
	}
	return sealed.NewPrivateKey(b)
}

// publicKey returns the public half of a private key, both in base64.
func publicKey(private js.Value) (any, error) {
	key, err := privateKey(private)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString(key.Public().Bytes()), nil
}

// seal returns a sealer for arguments: the owner's public key, a declaration, a table, and the collector's private key. Keys are
// in base64: the package reads their files, for which there is no room here.
func seal(args []js.Value) (any, error) {
	b, err := base64.StdEncoding.DecodeString(args[0].String())
	if err != nil {
		return nil, err
	}
	owner, err := sealed.NewPublicKey(b)
	if err != nil {
		return nil, err
	}
	signer, err := privateKey(args[3])
	if err != nil {
		return nil, err
	}
	d := declaration(args[1])
	if id := d.ID(); hex.EncodeToString(id[:]) != args[1].Get("database").String() {
		return nil, errChanged
	}
	s, err := batch.New(owner, signer, d, args[2].String())
	if err != nil {
		return nil, err
	}
	columns := make([]any, s.Columns())
	for i := range columns {
		name, kind := s.Column(i)
		columns[i] = map[string]any{"name": name, "kind": int(kind)}
	}
	return map[string]any{
		"columns": columns,
		"row":     bridge.Function(func(args []js.Value) (any, error) { return s.Len() + 1, add(s, args[0].String(), args[1]) }),
		"lines":   bridge.Function(func([]js.Value) (any, error) { return s.Seal() }),
	}, nil
}

// errChanged tells early of a declaration that was changed: the owner's database would refuse its lines.
var errChanged = errors.New("the declaration differs from the one that 'geosql collector OUT declaration' has printed")

// add adds a row of cells: undefined for NULL, a number for a reading, an array of latitude and longitude, the JSON of a public cell.
func add(s *batch.Sealer, account string, cells js.Value) error {
	r := s.NewRow(account)
	for i := range s.Columns() {
		c := cells.Index(i)
		if c.IsUndefined() {
			continue
		}
		switch _, kind := s.Column(i); kind {
		case batch.Reading:
			r.SetReading(i, c.Float())
		case batch.Location:
			r.SetLocation(i, c.Index(0).Float(), c.Index(1).Float())
		case batch.Public:
			r.SetPublic(i, c.String())
		}
	}
	return s.Add(r)
}

// declaration reads a declaration as 'geosql collector OUT declaration' prints it, after JSON.parse.
func declaration(v js.Value) *sealed.Declaration {
	text := func(v js.Value, name string) string { return v.Get(name).String() }
	number := func(v js.Value, name string) float64 { return v.Get(name).Float() }
	salt, _ := base64.StdEncoding.DecodeString(text(v, "salt")) // another salt has another id
	d := &sealed.Declaration{Salt: salt}
	for c := range bridge.Elements(v.Get("columns")) {
		column := sealed.Column{Number: uint32(c.Get("number").Int()), Table: text(c, "table"), Name: text(c, "column"), Account: text(c, "account")}
		if u := c.Get("universe"); u.Truthy() {
			column.Universe = &sealed.Universe{Name: text(u, "name"), Lo: number(u, "lo"), Hi: number(u, "hi"), Step: number(u, "step"), Unit: text(u, "unit")}
		}
		if o := c.Get("domain"); o.Truthy() {
			column.Domain = &sealed.Domain{Name: text(o, "name"), South: number(o, "south"), West: number(o, "west"),
				North: number(o, "north"), East: number(o, "east"), StepM: number(o, "step_m")}
			if o.Get("region").Truthy() {
				column.Domain.Region = text(o, "region")
			}
		}
		d.Columns = append(d.Columns, column)
	}
	for t := range bridge.Elements(v.Get("tables")) {
		table := sealed.Table{Name: text(t, "table")}
		for c := range bridge.Elements(t.Get("columns")) {
			table.Columns = append(table.Columns, sealed.TableColumn{Name: text(c, "name"), Type: text(c, "type")})
		}
		d.Tables = append(d.Tables, table)
	}
	return d
}
