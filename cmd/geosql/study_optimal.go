package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/geosql/geosql/study/optimal"
	"github.com/geosql/geosql/study/track"
)

// An optimalStudy measures optimal mechanisms on a set of places.
type optimalStudy struct {
	places   string   // file
	columns  []string // lat, lon, weight; in the plane x, y, weight
	settings optimal.Settings
	unit     string // of distances, losses, and epsilon is per unit
	plane    bool
	out      string // directory of the figures; "": none
}

// unitMetres are the units of length that there are.
var unitMetres = map[string]float64{"m": 1, "km": 1000}

func (s *optimalStudy) register(fs *flag.FlagSet) {
	*s = optimalStudy{
		columns:  []string{"lat", "lon", "weight"},
		unit:     "km",
		settings: optimal.Settings{Dilations: []float64{1, 1.05, 1.1, 1.2, 1.5, 2}, Gap: 1e-4},
	}
	fs.StringVar(&s.places, "places", "", "")
	fs.StringVar(&s.unit, "unit", s.unit, "")
	fs.StringVar(&s.out, "out", "", "")
	boolFlag(fs, "plane", func() { s.plane = true })
	wordsFlag(fs, "columns", &s.columns)
	numberFlag(fs, "epsilon", &s.settings.Epsilon)
	numberFlag(fs, "gap", &s.settings.Gap)
	numbersFlag(fs, "dilation", &s.settings.Dilations)
}

func (s *optimalStudy) check() error {
	switch {
	case s.places == "":
		return usageError("study: no file of places given: -places FILE")
	case len(s.columns) != 3:
		return usageError("study: -columns names lat,lon,weight, or with -plane x,y,weight")
	case unitMetres[s.unit] == 0:
		return usageError("study: -unit must be m or km, not " + s.unit)
	case s.settings.Epsilon <= 0:
		return usageError("study: -epsilon must be given, above 0, per " + s.unit)
	}
	if err := s.settings.Check(); err != nil {
		return usageError("study: " + err.Error())
	}
	return nil
}

func (s *optimalStudy) run(ctx context.Context) error {
	places, err := s.read(ctx)
	if err != nil {
		return err
	}
	study, err := optimal.New(s.settings, places)
	if err != nil {
		return fmt.Errorf("%s: %w", s.places, err)
	}
	if err := makeFigureDir(s.out); err != nil {
		return err
	}
	rows, err := s.print(ctx, study)
	if err != nil || s.out == "" {
		return err
	}
	return s.draw(ctx, study, rows)
}

// read reads the places, none of them twice.
func (s *optimalStudy) read(ctx context.Context) (places []optimal.Place, err error) {
	file, err := openCSV(s.places)
	if err != nil {
		return nil, err
	}
	defer file.close()
	var first, second, weight int
	if err := findColumns(file, s.columns, []*int{&first, &second, &weight}); err != nil {
		return nil, err
	}
	lines := map[[2]float64]int{}
	_, err = file.each(ctx, "reading", func(cells []string) error {
		a, b, err := s.coordinates(cells[first], cells[second])
		if err != nil {
			return inLine(file, err)
		}
		w, err := number(cells[weight])
		if err == nil && w <= 0 {
			err = fmt.Errorf("the weight must be above 0, not %v", w)
		}
		if err == nil && lines[[2]float64{a, b}] > 0 {
			err = fmt.Errorf("the place of line %d again", lines[[2]float64{a, b}])
		}
		if err != nil {
			return inLine(file, err)
		}
		lines[[2]float64{a, b}], _ = file.reader.FieldPos(0)
		places = append(places, optimal.Place{X: b, Y: a, Weight: w})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.plane {
		for k, p := range places {
			places[k].X, places[k].Y = p.Y, p.X
		}
		return places, nil
	}
	return places, s.project(places)
}

// coordinates reads latitude and longitude, or in the plane x and y.
func (s *optimalStudy) coordinates(firstText, secondText string) (a, b float64, err error) {
	if !s.plane {
		return location(firstText, secondText)
	}
	if a, err = number(firstText); err == nil {
		b, err = number(secondText)
	}
	return a, b, err
}

// projectionStep, in metres, is what projected places are rounded to.
const projectionStep = 0.001

// project turns longitudes and latitudes into units to the east and to the north, in
// a domain around the places.
func (s *optimalStudy) project(places []optimal.Place) error {
	if len(places) == 0 {
		return nil
	}
	var all track.Track
	for _, p := range places {
		all.Fixes = append(all.Fixes, track.Fix{Lat: p.Y, Lon: p.X})
	}
	box := around([]track.Track{all})
	box[4] = projectionStep
	d, err := newDomain(box)
	if err != nil {
		return fmt.Errorf("%s: around the places, %w", s.places, err)
	}
	step := projectionStep / unitMetres[s.unit]
	for k, p := range places {
		c := d.Cell(p.Y, p.X)
		places[k].X, places[k].Y = float64(c.I)*step, float64(c.J)*step
	}
	return nil
}

// optimalHead names the columns of optimalRow.
const optimalHead = "mechanism,dilation,true_dilation,edges,constraints,quality_loss,adv_error,remapped_loss,gap,certified_epsilon,seconds"

func optimalRow(r optimal.Row) string {
	dilation, trueDilation, edges, constraints, gap := "", "", "", "", ""
	if f := r.Solved; f != nil {
		dilation, trueDilation = rounded(f.Dilation, 9), rounded(f.TrueDilation, 12)
		edges, constraints = strconv.Itoa(f.Edges), strconv.Itoa(f.Constraints)
		gap = decimal(f.Gap, 10)
	}
	return strings.Join([]string{
		r.Mechanism, dilation, trueDilation, edges, constraints,
		decimal(r.Loss, 9), decimal(r.AdversaryError, 9), decimal(r.RemappedLoss, 9), gap,
		strconv.FormatFloat(r.CertifiedEpsilon, 'f', -1, 64), decimal(r.Took.Seconds(), 3),
	}, ",")
}

// print runs a study and prints its rows.
func (s *optimalStudy) print(ctx context.Context, study *optimal.Study) (rows []optimal.Row, err error) {
	table, err := newStudyTable(optimalHead)
	if err != nil {
		return nil, err
	}
	defer table.line.clear()
	study.Progress = table.progress
	err = study.Run(ctx, func(r optimal.Row) error {
		rows = append(rows, r)
		return table.put(optimalRow(r))
	})
	return rows, err
}

// draw writes the figures: the spanner of the least dilation above 1, or of 1 alone.
func (s *optimalStudy) draw(ctx context.Context, study *optimal.Study, rows []optimal.Row) error {
	dilation := math.Inf(1)
	for _, x := range s.settings.Dilations {
		if x > 1 {
			dilation = min(dilation, x)
		}
	}
	if math.IsInf(dilation, 1) {
		dilation = 1
	}
	figure, err := study.Spanner(dilation, unitMetres[s.unit])
	if err != nil {
		return err
	}
	if err := writeFigure(s.out, "spanner", figure); err != nil {
		return err
	}
	if figure, err = optimal.OverDilation(s.unit, rows); err != nil {
		return err
	}
	if err := writeFigure(s.out, "dilation", figure); err != nil {
		return err
	}
	line := newTerminalLine()
	defer line.clear()
	study.Progress = func(done, total int) { line.show("other epsilons: %.1f %%", 100*float64(done)/float64(total)) }
	sweep, err := study.Sweep(ctx)
	if err != nil {
		return err
	}
	line.clear()
	if figure, err = optimal.OverEpsilon(s.unit, sweep); err != nil {
		return err
	}
	return writeFigure(s.out, "epsilon", figure)
}
