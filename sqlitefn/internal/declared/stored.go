package declared

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var Priors = Blobs{kind: "prior", table: "geosql_prior", column: "prior"}

var priors = frame.NewMemo[string, *planar.Prior]()

// Prior returns the prior that an argument names.
func Prior(c frame.Call, a *frame.Arg) (*planar.Prior, error) {
	data, err := Priors.read(c.Session, c.Text(a))
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, Undeclared(c, a, "prior")
	}
	p, err := parseStored(c.Session, priors, data, planar.ParsePrior, (*planar.Prior).Domain)
	if err != nil {
		return nil, fmt.Errorf("prior %s: %w", frame.Quoted(c.Bytes(a)), err)
	}
	return p, nil
}

var Models = Blobs{kind: "model", table: "geosql_markov", column: "model"}

var models = frame.NewMemo[string, *markov.Model]()

// ModelNamed returns the model of that name, nil if none is stored.
func ModelNamed(s *frame.Session, name string) (*markov.Model, error) {
	data, err := Models.read(s, name)
	if err != nil || data == nil {
		return nil, err
	}
	m, err := parseStored(s, models, data, markov.ParseModel, func(m *markov.Model) *planar.Domain { return m.Grid().Domain() })
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", frame.Quoted(name), err)
	}
	return m, nil
}

// Model returns the model that a policy names.
func Model(s *frame.Session, name string) (*markov.Model, error) {
	m, err := ModelNamed(s, name)
	if err == nil && m == nil {
		err = fmt.Errorf("model %s is not stored; store one: SELECT markov_store(NAME, MODEL)", frame.Quoted(name))
	}
	return m, err
}

// ParseOptimal parses the answer of optql_build.
func ParseOptimal(data []byte, domain func(name string) (*planar.Domain, error)) (*optimal.PlaceMechanism, error) {
	m, err := optimal.ParsePlaceMechanism(data, domain)
	if errors.Is(err, optimal.ErrPlaceForm) {
		return nil, errors.New("not a result of optql_build")
	}
	return m, err
}

var Optimals = Blobs{kind: "mechanism", table: "geosql_optimal", column: "mechanism"}

var optimals = frame.NewMemo[string, *optimal.PlaceMechanism]()

// OptimalNamed returns the mechanism of that name, nil if none is stored.
func OptimalNamed(s *frame.Session, name string) (*optimal.PlaceMechanism, error) {
	data, err := Optimals.read(s, name)
	if err != nil || data == nil {
		return nil, err
	}
	o, err := parseStored(s, optimals, data, ParseOptimal, (*optimal.PlaceMechanism).Domain)
	if err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", frame.Quoted(name), err)
	}
	return o, nil
}

// Optimal returns the mechanism that an argument names.
func Optimal(c frame.Call, a *frame.Arg) (*optimal.PlaceMechanism, error) {
	o, err := OptimalNamed(c.Session, c.Text(a))
	if err == nil && o == nil {
		err = Undeclared(c, a, "optimal")
	}
	return o, err
}
