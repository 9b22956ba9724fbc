package declare

import (
	"fmt"

	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argTrainTrace = &frame.Arg{Name: "trace", Is: "TEXT or INTEGER: the trace that the point belongs to", Kind: frame.Account}
	argTrainTime  = &frame.Arg{Name: "t", Is: "time of the point, seconds or milliseconds since 1970, or ISO 8601 text", Kind: frame.OrNull(frame.Time)}
	argTrainLat   = &frame.Arg{Name: "lat", Is: "latitude, degrees (**public** from now on)", Kind: frame.OrNull(frame.Latitude)}
	argTrainLon   = &frame.Arg{Name: "lon", Is: "longitude, degrees (**public** from now on)", Kind: frame.OrNull(frame.Longitude)}
	argCell       = &frame.Arg{Name: "cell_m", Is: "side of a square cell, metres: a multiple of the domain's step; at most 1048576 cells", Kind: frame.Number, Setting: true}
	argPeriod     = &frame.Arg{Name: "period_seconds", Is: "duration of one transition", Kind: frame.Positive, Setting: true}

	argModelName = &frame.Arg{Name: "name", Is: "TEXT", Kind: frame.Name}
	argModel     = &frame.Arg{Name: "model", Is: "BLOB that markov_train returned", Kind: frame.AnswerOf("markov_train", "there was nothing to train it on")}
	argModelOf   = &frame.Arg{Name: "name", Is: "name of a model", Kind: frame.Name}
)

var modelFunctions = []*frame.Function{
	{
		Name: "markov_train", Section: frame.DeclaredByOwner, Returns: "BLOB", Flags: frame.OwnerOnly, Reads: true,
		Args: []*frame.Arg{argTrainTrace, argTrainTime, argTrainLat, argTrainLon, frame.ArgDomainOrNull, argCell, argPeriod},
		Does: "Trains a Markov chain, a model of how people move on a grid of cells, from public traces; returns a BLOB for markov_store.",
		Notes: "**A model is public, and training adds no noise: training it on secrets releases them.** " +
			"Each trace is divided into slots of one period, starting at its first point. The first point in a slot counts as a visit to its cell; two consecutive slots that both have points make a transition. " +
			"The order of rows does not matter. A row with NULL as location or time contributes nothing; if there is no other row, the result is NULL. " +
			"domain, cell_m and period_seconds must be constant within a group. A cell without transitions gets transitions to its neighbours, and no transition has probability 0.",
		Examples: []string{
			"WITH fix(trace, t, lat, lon) AS (VALUES ('tram', 0, 39.95, 116.25), ('tram', 60, 39.96, 116.26), ('tram', 120, 39.97, 116.27), ('tram', 180, 39.96, 116.26))\n" +
				"SELECT typeof(markov_train(trace, t, lat, lon, 'haidian', 1000, 60)) FROM fix",
		},
		Aggregate: newTrainGroup,
	},
	{
		Name: "markov_store", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argModelName, argModel},
		Does: "Stores a model under a name, for policies of mechanism pim and for markov_info.",
		Notes: "Returns one line. **A model is public**: its counts can be read, and pim_step uses them. " +
			"A model cannot change; storing it again unchanged is harmless.",
		Examples: []string{
			"WITH fix(trace, t, lat, lon) AS (VALUES ('tram', 0, 39.95, 116.25), ('tram', 60, 39.96, 116.26), ('tram', 120, 39.97, 116.27), ('tram', 180, 39.96, 116.26))\n" +
				"SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'haidian', 1000, 60)) FROM fix",
		},
		Scalar: markovStore,
	},
	{
		Name: "markov_info", Section: frame.Free, Returns: "TEXT",
		Args:     []*frame.Arg{argModelOf},
		Does:     "Describes a model, as a JSON object.",
		Notes:    "Keys: name, domain, cell_m, period_seconds, width, height and cells (of the grid), traces (that it was trained on), visits, visited_cells, transitions, and nonzero (the pairs of cells that have transitions).",
		Examples: []string{"SELECT markov_info('popular')", "SELECT markov_info('popular') ->> 'transitions'"},
		Scalar:   markovInfo,
	},
}

// trainGroup trains a model. Nothing is charged or drawn, since the model makes its training
// data public.
type trainGroup struct {
	trainer *markov.Trainer
	points  bool
}

func newTrainGroup(*frame.Session) frame.Group { return new(trainGroup) }

func (g *trainGroup) Begin(c frame.Call) error {
	domain, err := declared.Domain(c, frame.ArgDomainOrNull)
	if err != nil {
		return err
	}
	grid, err := markov.NewGrid(domain, c.Number(argCell))
	if err != nil {
		return err
	}
	period, err := markov.PeriodOf(c.Number(argPeriod))
	if err != nil {
		return c.Errorf(argPeriod, "%v", err)
	}
	g.trainer = markov.NewTrainer(grid, period)
	return nil
}

func (g *trainGroup) Row(c frame.Call) error {
	lat, lon, absent := c.Location(argTrainLat, argTrainLon)
	if absent || !c.Given(argTrainTime) {
		return nil
	}
	g.trainer.Add(c.Text(argTrainTrace), c.Time(argTrainTime).UnixMicro(), lat, lon)
	g.points = true
	return nil
}

// Final answers the model, or NULL if no row had a time and a location.
func (g *trainGroup) Final(c frame.Call) error {
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
func markovStore(c frame.Call) error {
	s, name, data := c.Session, c.Text(argModelName), c.Bytes(argModel)
	model, err := markov.ParseModel(data, declared.DomainResolver(s))
	if err != nil {
		return c.Errorf(argModel, "cannot be used: %v", err)
	}
	if err := declared.Models.Store(s, name, data); err != nil {
		return err
	}
	info := model.Info()
	c.ResultString(0, fmt.Sprintf("model '%s': %d x %d cells of %s m in domain '%s', a transition in %s s, %d visits of %d traces; "+
		"it is public: training it on secrets releases them",
		name, info.Width, info.Height, frame.FormatNumber(info.CellMetres), info.Domain, frame.FormatNumber(info.Period.Seconds()), info.Visits, info.Traces))
	return nil
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

func markovInfo(c frame.Call) error {
	name := c.Text(argModelOf)
	m, err := declared.ModelNamed(c.Session, name)
	if err == nil && m == nil {
		err = declared.Undeclared(c, argModelOf, "markov")
	}
	if err != nil {
		return err
	}
	info := m.Info()
	return c.ResultJSON(modelInfo{
		Name: name, Domain: info.Domain, CellM: info.CellMetres, PeriodSeconds: info.Period.Seconds(),
		Width: info.Width, Height: info.Height, Cells: info.Width * info.Height,
		Traces: info.Traces, Visits: info.Visits, VisitedCells: info.VisitedCells,
		Transitions: info.Transitions, Nonzero: info.Nonzero,
	})
}
