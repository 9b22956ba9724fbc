package release

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Forecast describes a release before it is done. It is for the owner of the raw data only, since it
// shows where the true locations lie.
type Forecast struct {
	Refused error // why the release would not begin; nil if it would

	Rows      int64 // of the input
	Invalid   int64 // of them
	Dropped   int64 // of the valid ones, since their accounts have more than may be kept
	Locations int64

	Unit     budget.Unit           // of all budgets
	Epsilon  budget.Amount         // for each location
	Accounts int64                 // that pay
	Already  int64                 // of them, that an earlier attempt has charged
	Most     budget.Amount         // that one of the others pays
	Shortage Shortage              // of the others
	Earlier  []ledger.NamedRelease // as in a [Summary]
	Complete bool                  // an earlier attempt has drawn everything; the release would only name its files
	Repeated bool                  // the release is complete; it would do nothing

	Outside                int64     // locations outside the box
	Allowed                float64   // share that may lie outside
	Median, Within95, Mean float64   // distance in metres of released locations: not exceeded by half of them, by 95 of 100, and expected
	Gridded                []Gridded // pairs of columns on a grid that the noise does not hide
	Pairs                  []Whereabouts
}

// Whereabouts says where the locations of a pair of columns lie.
type Whereabouts struct {
	Lat, Lon      string // names of the columns
	Locations     int64
	Sides         [directions]int64 // by Direction
	OutsideRegion int64             // in the box, but outside the region
	Cause         string            // the likely cause of locations outside; "" if none is apparent
	Middle        [2]float64        // latitude and longitude of the mean of the locations
	Away          float64           // distance in metres from there to the middle of the box
	Map           []string          // a map of the box in characters, from north to south
	Key           string            // of the map
}

// DryRun reads the data set as a release would and forecasts the release. It charges and
// reserves nothing, and changes neither files nor the ledger. It returns an error if the
// settings or the input are such that there is nothing to say.
//
// It does not find out whether the output's folder may be written and has room, nor the effect of
// other processes meanwhile.
func DryRun(ctx context.Context, spec Spec, l Ledger) (*Forecast, error) {
	return (&run{spec: &spec, sizes: defaultSizes, ledger: l, dry: true}).forecast(ctx)
}

func (r *run) forecast(ctx context.Context) (*Forecast, error) {
	defer r.close()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if err := r.limitRows(ctx); err != nil {
		return nil, err
	}
	f := &Forecast{
		Rows: r.found.rows, Invalid: r.found.invalid, Dropped: r.found.dropped, Locations: r.found.locations,
		Unit: r.mechanism.Price().Unit, Epsilon: r.mechanism.Price().Amount, Accounts: r.found.payers, Allowed: r.spec.Outside,
	}
	if err := r.setAccuracy(f); err != nil {
		return nil, err
	}
	for k, s := range r.found.surveyors {
		f.Outside += s.valid.outside()
		f.Pairs = append(f.Pairs, s.whereabouts(r.spec.Lat[k], r.spec.Lon[k]))
	}
	var err error
	if f.Gridded, err = r.gridded(); err != nil {
		return nil, err
	}
	invalid := r.found.checkInvalid(r.spec)
	if err := r.find(); err != nil {
		f.Refused = cmp.Or(invalid, err)
		return f, nil
	}
	if f.Earlier, err = r.earlier(); err != nil {
		return nil, err
	}
	f.Already = r.release.Charged()
	if published := r.release.Published(); published != nil {
		if f.Refused = invalid; invalid == nil {
			f.Complete, f.Refused = r.completes(published)
			f.Repeated = f.Refused == nil && !f.Complete
		}
		return f, nil
	}
	d, payment := r.demand(r.charges(ctx))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.Most, f.Shortage = d.most, d.shortage
	if payment == nil {
		payment = r.checkShortage(d.shortage)
	}
	f.Refused = cmp.Or(invalid, r.checkFiles(), r.checkOutside(), payment, r.tryReport())
	return f, nil
}

// completes reports whether the release would only name the files that an earlier attempt sealed.
func (r *run) completes(p *ledger.Published) (bool, error) {
	sealed, _, err := r.leftSealed(p)
	if err == nil && len(sealed) > 0 {
		_, err = r.sealedFiles(sealed)
	}
	return len(sealed) > 0 && err == nil, err
}

func (r *run) setAccuracy(f *Forecast) (err error) {
	var median error
	f.Median, median = r.mechanism.Accuracy().Radius(0.5)
	f.Mean, f.Within95, err = r.accuracy()
	return errors.Join(err, median)
}

// whereabouts returns the findings of the surveyor of a dry run.
func (s *surveyor) whereabouts(lat, lon string) Whereabouts {
	t, k := &s.valid, s.sketch
	w := Whereabouts{Lat: lat, Lon: lon, Locations: t.total(), Sides: t.sides, OutsideRegion: k.outsideRegion, Cause: t.cause()}
	if w.Cause == "" && t.outside() > 0 {
		w.Cause = t.boxCause()
	}
	if n := float64(t.total()); n > 0 {
		middle := math.Remainder(s.box.West+s.width/2, 360)
		w.Middle = [2]float64{k.middleLat + k.north/n, math.Remainder(middle+k.east/n, 360)}
		w.Away = planar.Distance(k.middleLat, middle, w.Middle[0], w.Middle[1])
	}
	w.Map, w.Key = k.grid.Characters()
	return w
}
