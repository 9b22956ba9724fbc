package declare

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argOptimalName = &frame.Arg{Name: "name", Is: "TEXT", Kind: frame.Name}
	argOptimal     = &frame.Arg{Name: "mechanism", Is: "BLOB that optql_build returned", Kind: frame.AnswerOf("optql_build", "there were no places to build it on")}
	argOptimalOf   = &frame.Arg{Name: "name", Is: "name of a mechanism", Kind: frame.Name}
)

var optimalFunctions = []*frame.Function{
	{
		Name: "optql_store", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argOptimalName, argOptimal},
		Does: "Stores a mechanism under a name, for geoind_optimal, geoind_remap and optql_report.",
		Notes: "Returns one line. A mechanism is certified before it is stored and each time it is read, so a BLOB that was altered is either refused or still satisfies its epsilon. " +
			"**Its places, weights and matrix are public.** " +
			"A mechanism cannot change; storing another one built from the same places, outputs, weights, metric, quality, epsilon and dilation is harmless and keeps the first. " +
			"If the metric needs a unit of its own, that unit is m:NAME, with the name of the mechanism.",
		Examples: []string{
			"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT optql_store('homes', optql_build(lat, lon, people, 0.0004, 1, 'haidian')) FROM home",
			"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT optql_store('blocks', optql_build(lat, lon, people, 0.0004, 1, 'haidian', 'manhattan')) FROM home",
		},
		Scalar: optqlStore,
	},
	{
		Name: "optql_report", Section: frame.Free, Returns: "TEXT",
		Args: []*frame.Arg{argOptimalOf},
		Does: "Describes a mechanism, as a JSON object.",
		Notes: "Keys: name, domain, places and outputs (how many there are), metric ('euclid', 'manhattan' or 'given'), quality (of the losses: 'euclid', 'manhattan', 'squared', 'binary' or 'given'), unit (in which a release is charged: m or m:NAME), epsilon, certified_epsilon (the value that the matrix was checked for: epsilon as a float, rounded down), " +
			"dilation, true_dilation (of the spanner), constraints, gap (the share of its loss that a better solution could save), " +
			"quality_loss (average loss of a release: metres of the domain's frame, which may be longer than metres along the Earth by the kappa that geo_domain returns, their squares if the quality is 'squared', a probability if it is 'binary', and the loss in the rows if it is 'given'), adv_error (the same after someone who knows the weights has made the best of each release, as geoind_remap does), " +
			"largest_snap (the greatest distance from a location to its place, in metres of the domain's frame), seconds (the time that the solution took).",
		Examples: []string{"SELECT round(optql_report('homes') ->> 'quality_loss'), round(optql_report('homes') ->> 'largest_snap')"},
		Scalar:   optqlReport,
	},
}

// optqlStore stores a mechanism under a name.
func optqlStore(c frame.Call) error {
	s, name, data := c.Session, c.Text(argOptimalName), c.Bytes(argOptimal)
	o, err := declared.ParseOptimal(data, declared.DomainResolver(s))
	if err != nil {
		return c.Errorf(argOptimal, "cannot be used: %v", err)
	}
	earlier, err := declared.Declare(s, func() (*optimal.PlaceMechanism, bool, error) {
		stored, err := declared.OptimalNamed(s, name)
		return stored, stored != nil, err
	}, declared.Optimals.Insert(), name, data)
	if err != nil {
		return err
	}
	if earlier == nil || !o.SameRequest(earlier) {
		return declared.Optimals.ErrStored(name)
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

func optqlReport(c frame.Call) error {
	o, err := declared.Optimal(c, argOptimalOf)
	if err != nil {
		return err
	}
	name, info := c.Text(argOptimalOf), o.Info()
	return c.ResultJSON(optimalReport{
		Name: name, Domain: info.Domain, Places: info.Places, Outputs: info.Outputs, Metric: info.Metric.String(), Quality: info.Quality.String(), Unit: o.Unit(name),
		Epsilon: info.Epsilon, CertifiedEpsilon: info.CertifiedEpsilon, Dilation: info.Dilation, TrueDilation: info.TrueDilation,
		Constraints: info.Constraints, Gap: info.Gap, QualityLoss: info.Loss, AdvError: info.AdversaryError,
		LargestSnap: info.Farthest, Seconds: info.Seconds,
	})
}
