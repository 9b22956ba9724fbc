package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/planar"
)

var (
	argTrainTrace = &argument{name: "trace", is: "TEXT or INTEGER: the trace that the point belongs to", kind: kindAccount}
	argTrainTime  = &argument{name: "t", is: "time of the point, seconds since 1970 or ISO 8601 text", kind: orNull(kindTime)}
	argTrainLat   = &argument{name: "lat", is: "latitude, degrees (**public** from now on)", kind: orNull(kindLatitude)}
	argTrainLon   = &argument{name: "lon", is: "longitude, degrees (**public** from now on)", kind: orNull(kindLongitude)}
	argCell       = &argument{name: "cell_m", is: "side of a square cell, metres: a multiple of the domain's step; at most 1048576 cells", kind: kindNumber, setting: true}
	argPeriod     = &argument{name: "period_seconds", is: "duration of one transition", kind: kindPositive, setting: true}

	argModelName = &argument{name: "name", is: "TEXT", kind: kindName}
	argModel     = &argument{name: "model", is: "BLOB that markov_train returned", kind: answerOf("markov_train", "there was nothing to train it on")}
	argModelOf   = &argument{name: "name", is: "name of a model", kind: kindName}
)

var modelFunctions = []*function{
	&function{
		name: "markov_train", section: declared, flags: ownerOnly, reads: true,
		args: []*argument{argTrainTrace, argTrainTime, argTrainLat, argTrainLon, argDomainOrNull, argCell, argPeriod},
		does: "Trains a Markov chain, a model of how people move on a grid of cells, from public traces; returns a BLOB for markov_store.",
		notes: "**A model is public, and training adds no noise: training it on secrets releases them.** " +
			"Each trace is divided into slots of one period, starting at its first point. The first point in a slot counts as a visit to its cell; two consecutive slots that both have points make a transition. " +
			"The order of rows does not matter. A row whose location or time is NULL contributes nothing; if there is no other row, the result is NULL. " +
			"domain, cell_m and period_seconds must be constant within a group. A cell without transitions gets transitions to its neighbours, and no transition has probability 0. Charges nothing.",
		example: []string{
			"WITH fix(trace, t, lat, lon) AS (VALUES ('tram', 0, 39.95, 116.25), ('tram', 60, 39.96, 116.26), ('tram', 120, 39.97, 116.27), ('tram', 180, 39.96, 116.26))\n" +
				"SELECT typeof(markov_train(trace, t, lat, lon, 'haidian', 1000, 60)) FROM fix",
		},
		aggregate: newTrainGroup,
	},
	&function{
		name: "markov_store", section: declared, flags: ownerOnly,
		args: []*argument{argModelName, argModel},
		does: "Stores a model under a name, for policies of mechanism pim and for markov_info.",
		notes: "Returns one line. **A model is public**: its counts can be read, and pim_step uses them. " +
			"A model cannot change; storing it again unchanged is harmless.",
		example: []string{
			"WITH fix(trace, t, lat, lon) AS (VALUES ('tram', 0, 39.95, 116.25), ('tram', 60, 39.96, 116.26), ('tram', 120, 39.97, 116.27), ('tram', 180, 39.96, 116.26))\n" +
				"SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'haidian', 1000, 60)) FROM fix",
		},
		scalar: markovStore,
	},
	&function{
		name: "markov_info", section: free,
		args:    []*argument{argModelOf},
		does:    "Describes a model, as a JSON object.",
		notes:   "Keys: name, domain, cell_m, period_seconds, width, height and cells (of the grid), traces (that it was trained on), visits, visited_cells, transitions, and nonzero (the pairs of cells that have transitions).",
		example: []string{"SELECT markov_info('popular')", "SELECT markov_info('popular') ->> 'transitions'"},
		scalar:  markovInfo,
	},
}

// trainGroup trains a model. Nothing is charged or drawn, since the model makes what it is
// trained on public.
type trainGroup struct {
	trainer *markov.Trainer
	points  bool
}

func newTrainGroup(*session) group { return new(trainGroup) }

func (g *trainGroup) begin(c call) error {
	domain, err := c.domain(argDomainOrNull)
	if err != nil {
		return err
	}
	grid, err := markov.NewGrid(domain, c.number(argCell))
	if err != nil {
		return err
	}
	period, err := markov.PeriodOf(c.number(argPeriod))
	if err != nil {
		return c.argErrorf(argPeriod, "%v", err)
	}
	g.trainer = markov.NewTrainer(grid, period)
	return nil
}

func (g *trainGroup) row(c call) error {
	lat, lon, absent := c.location(argTrainLat, argTrainLon)
	if absent || !c.given(argTrainTime) {
		return nil
	}
	g.trainer.Add(c.text(argTrainTrace), c.time(argTrainTime).UnixMicro(), lat, lon)
	g.points = true
	return nil
}

// final answers the model, or NULL if no row had a time and a location.
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

// markovStore stores a model under a name.
func markovStore(c call) error {
	s, name, data := c.session, c.text(argModelName), c.bytes(argModel)
	model, err := markov.ParseModel(data, s.resolveDomain)
	if err != nil {
		return c.argErrorf(argModel, "cannot be used: %v", err)
	}
	if err := storedModels.store(s, name, data); err != nil {
		return err
	}
	info := model.Info()
	c.ResultString(0, fmt.Sprintf("model '%s': %d x %d cells of %s m in domain '%s', a transition in %s s, %d visits of %d traces; "+
		"it is public: training it on secrets releases them",
		name, info.Width, info.Height, formatNumber(info.CellMetres), info.Domain, formatNumber(info.Period.Seconds()), info.Visits, info.Traces))
	return nil
}

var storedModels = blobs{kind: "model", table: "geosql_markov", column: "model"}

var models = newMemo[string, *markov.Model]()

// modelNamed returns the model of that name, nil if none is stored.
func (s *session) modelNamed(name string) (*markov.Model, error) {
	data, err := storedModels.read(s, name)
	if err != nil || data == nil {
		return nil, err
	}
	m, err := parseStored(s, models, data, markov.ParseModel, func(m *markov.Model) *planar.Domain { return m.Grid().Domain() })
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", quoted(name), err)
	}
	return m, nil
}

// policyModel returns the model that a policy names.
func (s *session) policyModel(name string) (*markov.Model, error) {
	m, err := s.modelNamed(name)
	if err == nil && m == nil {
		err = fmt.Errorf("model %s is not stored; store one: SELECT markov_store(NAME, MODEL)", quoted(name))
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

func markovInfo(c call) error {
	name := c.text(argModelOf)
	m, err := c.session.modelNamed(name)
	if err == nil && m == nil {
		err = c.undeclared(argModelOf, "markov")
	}
	if err != nil {
		return err
	}
	info := m.Info()
	return c.resultJSON(modelInfo{
		Name: name, Domain: info.Domain, CellM: info.CellMetres, PeriodSeconds: info.Period.Seconds(),
		Width: info.Width, Height: info.Height, Cells: info.Width * info.Height,
		Traces: info.Traces, Visits: info.Visits, VisitedCells: info.VisitedCells,
		Transitions: info.Transitions, Nonzero: info.Nonzero,
	})
}
