package sqlitefn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/optimal"
)

// parseOptimal reads what optql_build answers.
func (s *session) parseOptimal(data []byte) (*optimal.PlaceMechanism, error) {
	m, err := optimal.ParsePlaceMechanism(data, s.domainOf)
	if errors.Is(err, optimal.ErrPlaceForm) {
		return nil, errors.New("not what optql_build answers")
	}
	return m, err
}

// optqlStore keeps a mechanism under a name.
func optqlStore(s *session, c call) error {
	name, err := c.name(0)
	if err != nil {
		return err
	}
	if c.null(1) {
		return c.bad(1, "is NULL: there were no places to build it on")
	}
	v := c.Arg(1)
	if v.Type() != sqlite.Blob {
		return c.bad(1, "must be BLOB, as optql_build answers, got %s", v.Type())
	}
	data := v.Bytes()
	o, err := s.parseOptimal(data)
	if err != nil {
		return c.bad(1, "cannot be used: %v", err)
	}
	earlier, err := declare(s, func() (*optimal.PlaceMechanism, bool, error) {
		stored, err := s.optimal(name)
		return stored, stored != nil, err
	}, `INSERT OR IGNORE INTO main.geosql_optimal(name, mechanism) VALUES(?,?)`, name, data)
	if err != nil {
		return err
	}
	if earlier == nil || !o.SameRequest(earlier) {
		return fmt.Errorf("mechanism '%s' is stored already and cannot change; take another name", name)
	}
	o = earlier
	c.ResultString(0, fmt.Sprintf("mechanism '%s': %d places in domain '%s', %s/%s a release, %.0f m lost on average; its places, weights and matrix are public",
		name, o.Len(), o.Domain().Name(), o.Cost(), o.Unit(name), o.Loss()))
	return nil
}

// optimal is the mechanism of that name, nil where none is stored. What was parsed is
// remembered by its content, and by that of its domain.
func (s *session) optimal(name string) (*optimal.PlaceMechanism, error) {
	var data []byte
	err := s.read(`SELECT mechanism FROM main.geosql_optimal WHERE name = ?`, func(st *sqlite.Stmt) {
		data = columnBlob(st, 0)
	}, name)
	if err != nil || data == nil {
		return nil, err
	}
	if o := s.optimals[string(data)]; o != nil {
		domain, err := s.domainOf(o.Domain().Name())
		if err != nil {
			return nil, err
		}
		if domain == o.Domain() {
			return o, nil
		}
	}
	o, err := s.parseOptimal(data)
	if err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", quoted([]byte(name)), err)
	}
	remember(s.optimals, string(data), o)
	return o, nil
}

// optimalNamed is the mechanism that argument i names.
func (s *session) optimalNamed(c call, i int) (*optimal.PlaceMechanism, error) {
	name, err := c.name(i)
	if err != nil {
		return nil, err
	}
	o, err := s.optimal(name)
	if err == nil && o == nil {
		err = c.undeclared(s, i, "optimal")
	}
	return o, err
}

// optimalReport is the JSON object that optql_report answers.
type optimalReport struct {
	Name             string      `json:"name"`
	Domain           string      `json:"domain"`
	Places           int         `json:"places"`
	Metric           string      `json:"metric"`
	Unit             budget.Unit `json:"unit"`
	Epsilon          float64     `json:"epsilon"`
	CertifiedEpsilon float64     `json:"certified_epsilon"`
	Dilation         float64     `json:"dilation"`
	TrueDilation     float64     `json:"true_dilation"`
	Constraints      int64       `json:"constraints"`
	Gap              float64     `json:"gap"`
	QualityLoss      float64     `json:"quality_loss"`
	AdvError         float64     `json:"adv_error"`
	LargestSnap      float64     `json:"largest_snap"`
	Seconds          float64     `json:"seconds"`
}

func optqlReport(s *session, c call) error {
	o, err := s.optimalNamed(c, 0)
	if err != nil {
		return err
	}
	name, info := c.Arg(0).Text(), o.Info()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(optimalReport{
		Name: name, Domain: info.Domain, Places: info.Places, Metric: info.Metric.String(), Unit: o.Unit(name),
		Epsilon: info.Epsilon, CertifiedEpsilon: info.CertifiedEpsilon, Dilation: info.Dilation, TrueDilation: info.TrueDilation,
		Constraints: info.Constraints, Gap: info.Gap, QualityLoss: info.Loss, AdvError: info.AdversaryError,
		LargestSnap: info.Farthest, Seconds: info.Seconds,
	}); err != nil {
		return err
	}
	c.ResultString(0, strings.TrimSuffix(text.String(), "\n"))
	return nil
}
