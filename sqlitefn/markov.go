package sqlitefn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/markov"
)

// Positions of markov_train's arguments.
const (
	trainTrace = iota
	trainTime
	trainLat
	trainLon
	trainDomain
	trainCell
	trainPeriod
)

// trainGroup trains a model. Nothing is charged or drawn: what it is trained on is
// public from then on.
type trainGroup struct {
	session *session
	trainer *markov.Trainer // nil before the first row
	points  bool

	domain       []byte // as given; nil for the only one
	cell, period float64
}

func newTrainGroup(s *session, _ *function) group { return &trainGroup{session: s} }

func (g *trainGroup) step(c call) error {
	if err := g.parameters(c); err != nil {
		return err
	}
	var room [20]byte
	trace, err := c.account(trainTrace, &room)
	if err != nil {
		return err
	}
	var at time.Time
	if !c.null(trainTime) {
		if at, err = c.time(trainTime); err != nil {
			return err
		}
	}
	lat, lon, null, err := c.location(trainLat)
	if err != nil || null || c.null(trainTime) {
		return err
	}
	g.trainer.Add(string(trace), at.UnixMicro(), lat, lon)
	g.points = true
	return nil
}

// parameters are the same in all rows of a group.
func (g *trainGroup) parameters(c call) error {
	switch {
	case g.trainer == nil:
		return g.begin(c)
	case !c.isText(trainDomain, g.domain):
		return c.changes(trainDomain)
	case !c.isNumber(trainCell, g.cell):
		return c.changes(trainCell)
	case !c.isNumber(trainPeriod, g.period):
		return c.changes(trainPeriod)
	}
	return nil
}

func (g *trainGroup) begin(c call) error {
	domain, err := g.session.domain(c, trainDomain)
	if err != nil {
		return err
	}
	if c.given(trainDomain) {
		g.domain = slices.Clone(c.Arg(trainDomain).Bytes())
	}
	if g.cell, err = c.number(trainCell); err != nil {
		return err
	}
	grid, err := markov.NewGrid(domain, g.cell)
	if err != nil {
		return err
	}
	if g.period, err = c.epsilon(trainPeriod); err != nil {
		return err
	}
	period, err := markov.PeriodOf(g.period)
	if err != nil {
		return c.bad(trainPeriod, "%v", err)
	}
	g.trainer = markov.NewTrainer(grid, period)
	return nil
}

// final answers the model, NULL where no row had a time and a location.
func (g *trainGroup) final(c call) error {
	if !g.points {
		return nil
	}
	model, err := g.trainer.Model()
	if err != nil {
		return err
	}
	data, err := model.AppendBinary(nil)
	if err != nil {
		return err
	}
	c.ResultBlob(0, data)
	return nil
}

// markovStore keeps a model under a name.
func markovStore(s *session, c call) error {
	name, err := c.name(0)
	if err != nil {
		return err
	}
	if c.null(1) {
		return c.bad(1, "is NULL: there was nothing to train it on")
	}
	v := c.Arg(1)
	if v.Type() != sqlite.Blob {
		return c.bad(1, "must be BLOB, as markov_train answers, got %s", v.Type())
	}
	data := v.Bytes()
	model, err := markov.ParseModel(data, s.domainOf)
	if err != nil {
		return c.bad(1, "cannot be used: %v", err)
	}
	earlier, err := declare(s, func() ([]byte, bool, error) {
		stored, err := s.readModel(name)
		return stored, stored != nil, err
	}, `INSERT OR IGNORE INTO main.geosql_markov(name, model) VALUES(?,?)`, name, data)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, earlier) {
		return fmt.Errorf("model '%s' is stored already and cannot change; take another name", name)
	}
	info := model.Info()
	c.ResultString(0, fmt.Sprintf("model '%s': %d x %d cells of %s m in domain '%s', a transition in %s s, %d visits of %d traces; "+
		"it is public: training it on secrets releases them",
		name, info.Width, info.Height, plain(info.CellMetres), info.Domain, plain(info.Period.Seconds()), info.Visits, info.Traces))
	return nil
}

// readModel is what is stored under a name, nil for nothing.
func (s *session) readModel(name string) (data []byte, err error) {
	err = s.read(`SELECT model FROM main.geosql_markov WHERE name = ?`, func(st *sqlite.Stmt) {
		data = columnBlob(st, 0)
	}, name)
	return data, err
}

// model is the model of that name, nil where none is stored. What was parsed is
// remembered by its content, and by that of its domain.
func (s *session) model(name string) (*markov.Model, error) {
	data, err := s.readModel(name)
	if err != nil || data == nil {
		return nil, err
	}
	if m := s.models[string(data)]; m != nil {
		domain, err := s.domainOf(m.Grid().Domain().Name())
		if err != nil {
			return nil, err
		}
		if domain == m.Grid().Domain() {
			return m, nil
		}
	}
	m, err := markov.ParseModel(data, s.domainOf)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", quoted([]byte(name)), err)
	}
	remember(s.models, string(data), m)
	return m, nil
}

// modelOf is the model that a policy names.
func (s *session) modelOf(name string) (*markov.Model, error) {
	m, err := s.model(name)
	if err == nil && m == nil {
		err = fmt.Errorf("model %s is not stored; store one: SELECT markov_store(NAME, MODEL)", quoted([]byte(name)))
	}
	return m, err
}

// modelInfo is the JSON object that markov_info answers.
type modelInfo struct {
	Name          string  `json:"name"`
	Domain        string  `json:"domain"`
	CellM         float64 `json:"cell_m"`
	PeriodSeconds float64 `json:"period_seconds"`
	Width         int     `json:"width"`
	Height        int     `json:"height"`
	Cells         int     `json:"cells"`
	Traces        int64   `json:"traces"`
	Visits        int64   `json:"visits"`
	VisitedCells  int     `json:"visited_cells"`
	Transitions   int64   `json:"transitions"`
	Nonzero       int     `json:"nonzero"`
}

func markovInfo(s *session, c call) error {
	name, err := c.name(0)
	if err != nil {
		return err
	}
	m, err := s.model(name)
	if err == nil && m == nil {
		err = c.undeclared(s, 0, "markov")
	}
	if err != nil {
		return err
	}
	info := m.Info()
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(modelInfo{
		Name: name, Domain: info.Domain, CellM: info.CellMetres, PeriodSeconds: info.Period.Seconds(),
		Width: info.Width, Height: info.Height, Cells: info.Width * info.Height,
		Traces: info.Traces, Visits: info.Visits, VisitedCells: info.VisitedCells,
		Transitions: info.Transitions, Nonzero: info.Nonzero,
	}); err != nil {
		return err
	}
	c.ResultString(0, strings.TrimSuffix(text.String(), "\n"))
	return nil
}
