package release

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/printable"
)

// A plan assigns roles to the columns of the input. The columns that are read are numbered
// in the order of the input.
type plan struct {
	fields  []dataset.Field // the columns that are read
	read    []int           // their numbers in the input
	account int             // the column of the accounts; -1 if all rows have the same account
	weight  int             // the column of the weights; -1 if there is none
	points  []dataset.Point
	whole   bool // a row has all of its locations or none
	formats formats
	output  []output
	schema  dataset.Schema
}

// An output is a column of the output: a kept column, or a coordinate of a location.
type output struct {
	column int // the number of the column that is read
	point  int // the location that it belongs to; -1 for a kept column
	lon    bool
}

func (o output) kept() bool { return o.point < 0 }

// newPlan returns the plan for the columns that the spec names.
func newPlan(s *Spec, fields []dataset.Field, formats formats) (*plan, error) {
	if err := s.checkColumns(); err != nil {
		return nil, err
	}
	p := &plan{account: -1, weight: -1, formats: formats, whole: s.MaxRows > 0}
	number := map[string]int{}
	for i, f := range fields {
		if s.reads(f.Name) {
			number[f.Name] = len(p.read)
			p.read = append(p.read, i)
			p.fields = append(p.fields, f)
		}
	}
	for _, name := range s.columns() {
		if _, found := number[name]; !found {
			return nil, fmt.Errorf("%s has no column %s: it has %s", s.In, printable.Text(name), names(fields))
		}
	}
	if _, constant := s.constant(); !constant {
		if p.account = number[s.Account]; p.fields[p.account].Kind == dataset.Real {
			return nil, fmt.Errorf("column %s has REAL numbers; an account must be TEXT or INTEGER", printable.Text(s.Account))
		}
	}
	if s.Weight != "" {
		p.weight = number[s.Weight]
	}
	for k := range s.Lat {
		p.points = append(p.points, dataset.Point{Lat: number[s.Lat[k]], Lon: number[s.Lon[k]]})
	}
	p.setOutput(s)
	return p, nil
}

// secret reports for each column that is read whether it is a coordinate.
func (p *plan) secret() []bool {
	secret := make([]bool, len(p.fields))
	for _, point := range p.points {
		secret[point.Lat], secret[point.Lon] = true, true
	}
	return secret
}

// setOutput sets the columns of the output and its schema, in the order of the input.
func (p *plan) setOutput(s *Spec) {
	p.schema = dataset.Schema{Name: layerName(s.Out), Points: make([]dataset.Point, len(p.points)), EscapeFormulas: s.EscapeFormulas}
	for column, f := range p.fields {
		o := output{column: column, point: -1}
		for k, point := range p.points {
			switch column {
			case point.Lat:
				o.point = k
				p.schema.Points[k].Lat = len(p.output)
			case point.Lon:
				o.point, o.lon = k, true
				p.schema.Points[k].Lon = len(p.output)
			}
		}
		if !o.kept() {
			f.Kind = dataset.Real
		} else if !slices.Contains(s.Keep, f.Name) {
			continue
		}
		p.output = append(p.output, o)
		p.schema.Fields = append(p.schema.Fields, f)
	}
}

// checkColumns refuses columns that are named twice or contradict each other.
func (s *Spec) checkColumns() error {
	if len(s.Lat) == 0 || len(s.Lat) != len(s.Lon) {
		return fmt.Errorf("%d columns of latitudes and %d columns of longitudes do not form pairs", len(s.Lat), len(s.Lon))
	}
	account, constant := s.constant()
	if constant && (account == "" || account == everyone) {
		return errors.New("the account after const: is empty or '*'")
	}
	seen := map[string]bool{}
	for _, name := range slices.Concat(s.Lat, s.Lon) {
		if seen[name] {
			return fmt.Errorf("column %s is named as two coordinates", printable.Text(name))
		}
		seen[name] = true
	}
	if !constant && seen[s.Account] {
		return fmt.Errorf("column %s is a coordinate and cannot be the account", printable.Text(s.Account))
	}
	if s.Weight != "" && (seen[s.Weight] || s.Weight == s.Account || slices.Contains(s.Keep, s.Weight)) {
		return fmt.Errorf("column %s is the weight, and each released row stands for one: it cannot be a coordinate, the account or kept", printable.Text(s.Weight))
	}
	for i, name := range s.Keep {
		if slices.ContainsFunc(slices.Concat(s.Lat, s.Lon), func(c string) bool { return strings.EqualFold(c, name) }) {
			return fmt.Errorf("column %s is a released coordinate and cannot be kept", printable.Text(name))
		}
		if slices.Contains(s.Keep[:i], name) {
			return fmt.Errorf("column %s is kept twice", printable.Text(name))
		}
	}
	return nil
}

// columns returns the names of all columns that are read.
func (s *Spec) columns() []string {
	all := slices.Concat(s.Lat, s.Lon, s.Keep)
	if _, constant := s.constant(); !constant {
		all = append(all, s.Account)
	}
	if s.Weight != "" {
		all = append(all, s.Weight)
	}
	return all
}

func (s *Spec) reads(name string) bool { return slices.Contains(s.columns(), name) }

func names(fields []dataset.Field) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = printable.Text(f.Name)
	}
	return strings.Join(all, ", ")
}
