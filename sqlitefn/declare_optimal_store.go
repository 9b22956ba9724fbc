package sqlitefn

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

var (
	argOptimalName = &argument{name: "name", is: "TEXT", kind: kindName}
	argOptimal     = &argument{name: "mechanism", is: "BLOB that optql_build returned", kind: answerOf("optql_build", "there were no places to build it on")}
	argOptimalOf   = &argument{name: "name", is: "name of a mechanism", kind: kindName}
)

var optimalFunctions = []*function{
	&function{
		name: "optql_store", section: declared, flags: ownerOnly,
		args: []*argument{argOptimalName, argOptimal},
		does: "Stores a mechanism under a name, for geoind_optimal, geoind_remap and optql_report.",
		notes: "Returns one line. A mechanism is certified before it is stored and each time it is read, so a BLOB that was altered is either refused or still satisfies its epsilon. " +
			"**Its places, weights and matrix are public.** " +
			"A mechanism cannot change; storing another one built from the same places, outputs, weights, metric, quality, epsilon and dilation is harmless and keeps the first. " +
			"If the metric needs a unit of its own, that unit is m:NAME, with the name of the mechanism.",
		example: []string{
			"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT optql_store('homes', optql_build(lat, lon, people, 0.0004, 1, 'haidian')) FROM home",
			"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT optql_store('blocks', optql_build(lat, lon, people, 0.0004, 1, 'haidian', 'manhattan')) FROM home",
		},
		scalar: optqlStore,
	},
	&function{
		name: "optql_report", section: free,
		args: []*argument{argOptimalOf},
		does: "Describes a mechanism, as a JSON object.",
		notes: "Keys: name, domain, places and outputs (how many there are), metric ('euclid', 'manhattan' or 'given'), quality (of the losses: 'euclid', 'manhattan', 'squared', 'binary' or 'given'), unit (in which a release is charged: m or m:NAME), epsilon, certified_epsilon (the value that the matrix was checked for: epsilon as a float, rounded down), " +
			"dilation, true_dilation (of the spanner), constraints, gap (the share of its loss that a better solution could save), " +
			"quality_loss (average loss of a release: metres of the domain's frame, which may be longer than those along the Earth by the kappa that geo_domain says, their squares if the quality is 'squared', a probability if it is 'binary', and what the rows say if it is 'given'), adv_error (the same after someone who knows the weights has made the best of each release, as geoind_remap does), " +
			"largest_snap (the greatest distance from a location to its place, in metres of the domain's frame), seconds (the time that the solution took).",
		example: []string{"SELECT optql_report('homes') ->> 'quality_loss', optql_report('homes') ->> 'largest_snap'"},
		scalar:  optqlReport,
	},
}

// optqlStore stores a mechanism under a name.
func optqlStore(c call) error {
	s, name, data := c.session, c.text(argOptimalName), c.bytes(argOptimal)
	o, err := parseOptimal(data, s.resolveDomain)
	if err != nil {
		return c.argErrorf(argOptimal, "cannot be used: %v", err)
	}
	earlier, err := declare(s, func() (*optimal.PlaceMechanism, bool, error) {
		stored, err := s.optimal(name)
		return stored, stored != nil, err
	}, storedOptimals.insert(), name, data)
	if err != nil {
		return err
	}
	if earlier == nil || !o.SameRequest(earlier) {
		return storedOptimals.errStored(name)
	}
	o = earlier
	c.ResultString(0, fmt.Sprintf("mechanism '%s': %d places in domain '%s', %s/%s a release, %s lost on average; its places, weights and matrix are public",
		name, o.Len(), o.Domain().Name(), o.Cost(), o.Unit(name), formatLoss(o)))
	return nil
}

// formatLoss formats a mechanism's average loss.
func formatLoss(o *optimal.PlaceMechanism) string {
	if unit := o.LossUnit(); unit != "" {
		return fmt.Sprintf("%.0f %s", o.Loss(), unit)
	}
	return fmt.Sprintf("%.3g", o.Loss())
}

// parseOptimal parses what optql_build answers.
func parseOptimal(data []byte, domain func(name string) (*planar.Domain, error)) (*optimal.PlaceMechanism, error) {
	m, err := optimal.ParsePlaceMechanism(data, domain)
	if errors.Is(err, optimal.ErrPlaceForm) {
		return nil, errors.New("not a result of optql_build")
	}
	return m, err
}

var storedOptimals = blobs{kind: "mechanism", table: "geosql_optimal", column: "mechanism"}

var optimals = newMemo[string, *optimal.PlaceMechanism]()

// optimal returns the mechanism of that name, nil if none is stored.
func (s *session) optimal(name string) (*optimal.PlaceMechanism, error) {
	data, err := storedOptimals.read(s, name)
	if err != nil || data == nil {
		return nil, err
	}
	o, err := parseStored(s, optimals, data, parseOptimal, (*optimal.PlaceMechanism).Domain)
	if err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", quoted(name), err)
	}
	return o, nil
}

// optimal returns the mechanism that an argument names.
func (c call) optimal(a *argument) (*optimal.PlaceMechanism, error) {
	o, err := c.session.optimal(c.text(a))
	if err == nil && o == nil {
		err = c.undeclared(a, "optimal")
	}
	return o, err
}

// optimalReport is the JSON object that optql_report answers.
type optimalReport struct {
	Name             string      `json:"name"`
	Domain           string      `json:"domain"`
	Places           int         `json:"places"`
	Outputs          int         `json:"outputs"`
	Metric           string      `json:"metric"`
	Quality          string      `json:"quality"`
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

func optqlReport(c call) error {
	o, err := c.optimal(argOptimalOf)
	if err != nil {
		return err
	}
	name, info := c.text(argOptimalOf), o.Info()
	return c.resultJSON(optimalReport{
		Name: name, Domain: info.Domain, Places: info.Places, Outputs: info.Outputs, Metric: info.Metric.String(), Quality: info.Quality.String(), Unit: o.Unit(name),
		Epsilon: info.Epsilon, CertifiedEpsilon: info.CertifiedEpsilon, Dilation: info.Dilation, TrueDilation: info.TrueDilation,
		Constraints: info.Constraints, Gap: info.Gap, QualityLoss: info.Loss, AdvError: info.AdversaryError,
		LargestSnap: info.Farthest, Seconds: info.Seconds,
	})
}
