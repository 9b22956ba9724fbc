package trace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/geosql/geosql/mechanism/cip"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argWholeTime   = &frame.Arg{Name: "t", Is: "time of the point, seconds or milliseconds since 1970, or ISO 8601 text; no two may be equal", Kind: frame.OrNull(frame.Time)}
	argWholePolicy = &frame.Arg{Name: "policy", Is: "name of a policy that cip_policy has declared", Kind: frame.Name, Setting: true}
)

var cipTraceFunctions = []*frame.Function{
	{
		Name: "cip_trace", Section: frame.ReleasedValues, Returns: "TEXT",
		Args:     []*frame.Arg{frame.ArgContributor, argWholeTime, frame.ArgLat, frame.ArgLon, argWholePolicy},
		Does:     "Releases a whole trace with Gaussian noise of a variance that follows from the times and the policy; returns a JSON array of objects with t, lat and lon, in the order of time.",
		Accuracy: "noise of variance cip_sigma(times, policy) in each coordinate, or a little more",
		Charges:  "the policy's epsilon in unit cip:NAME to the account, **once**: a second trace of an account under the same policy is refused, whatever its limit",
		Notes: "Take any set of points in the policy's family and any two assumptions about their locations, in which each location is within the radius of its counterpart. Under the policy's prior, the Rényi divergence between the released traces is at most epsilon. " +
			"The variance is a little above that of cip_sigma, because the radius is measured along the ellipsoid and the frame may stretch it. " +
			"The times, and which locations are NULL, are public; points without a location are left out. A trace has at most 256 points, all of one account. " +
			"Losses of several traces of an account do not simply add up under such a prior, so no second trace is released, even if a crash or a rollback lost the first. " +
			"**The promise holds against someone who sees this release of the account's locations and no other**: " +
			"traces under other policies, and releases of other functions, have budgets of their own, and their sum bounds nothing here.",
		Examples:  []string{"SELECT cip_trace('ana', t, lat, lon, 'day') FROM (SELECT 0 AS t, 39.984 AS lat, 116.318 AS lon UNION ALL SELECT 300, 39.99, 116.32 UNION ALL SELECT 600, 39.99, 116.33)"},
		Aggregate: newCIPGroup,
	},
}

// maxTrace is the greatest number of points in a trace.
const maxTrace = 256

// cipGroup is a trace that is released as a whole. Nothing is charged or drawn before
// it is complete.
type cipGroup struct {
	session *frame.Session
	account string
	name    string // of the policy
	policy  cip.Policy
	domain  *planar.Domain
	fixes   []cip.Fix
}

func newCIPGroup(s *frame.Session) frame.Group { return &cipGroup{session: s} }

func (g *cipGroup) Begin(c frame.Call) (err error) {
	g.name = c.Text(argWholePolicy)
	if g.policy, err = cipNamed(c, argWholePolicy); err != nil {
		return err
	}
	if g.policy.Epsilon == 0 {
		return errNoEpsilon
	}
	g.domain, err = declared.ResolveDomain(g.session, g.policy.Domain)
	return err
}

func (g *cipGroup) Row(c frame.Call) error {
	lat, lon, absent := c.Location(frame.ArgLat, frame.ArgLon)
	account, whose := c.Bytes(frame.ArgContributor), c.Given(frame.ArgContributor)
	switch {
	case absent && !whose:
		return nil
	case !c.Given(argWholeTime):
		return c.NullError(argWholeTime)
	case absent:
		return nil
	case !whose:
		return c.NullError(frame.ArgContributor)
	case len(g.fixes) == 0:
		g.account = string(account)
	case g.account != string(account):
		return c.Errorf(frame.ArgContributor, "changes within a group")
	case len(g.fixes) == maxTrace:
		return fmt.Errorf("a trace has at most %d points", maxTrace)
	}
	g.fixes = append(g.fixes, cip.Fix{Time: c.Time(argWholeTime), Lat: lat, Lon: lon})
	return nil
}

// Final answers the released trace.
//
// # Privacy
//
// The loss is at most the policy's epsilon against someone who sees no other release of the
// locations, as [cip.Policy.Noise] proves. Losses of two traces of an account do not add up
// under such a prior, so an account has at most one trace per policy. An owner who wants
// more declares another policy and sets a limit for it.
func (g *cipGroup) Final(c frame.Call) error {
	slices.SortStableFunc(g.fixes, func(a, b cip.Fix) int { return a.Time.Compare(b.Time) })
	released := g.fixes
	if len(released) > 0 { // a trace without points costs nothing
		var err error
		if released, err = g.release(c); err != nil {
			return err
		}
	}
	c.ResultText(0, cip.AppendTrace(nil, released))
	return nil
}

// release chooses the noise, pays, and draws the trace.
func (g *cipGroup) release(c frame.Call) ([]cip.Fix, error) {
	noise, err := g.noise()
	if err != nil {
		return nil, err
	}
	paid, err := c.PayOnce(g.account, g.policy.Price(g.name))
	if err != nil {
		return nil, err
	}
	return frame.Draw(paid, func(source *exact.Source) []cip.Fix { return cip.Draw(source, noise, g.fixes) }, g.standIn()), nil
}

// noise returns the noise that the policy requires for the times of the trace.
func (g *cipGroup) noise() (noise *planar.Gaussian, err error) {
	times := make([]time.Time, len(g.fixes))
	for i, f := range g.fixes {
		times[i] = f.Time
	}
	err = g.session.Interruptibly(func(ctx context.Context) (err error) {
		noise, err = g.policy.Noise(ctx, g.domain, times)
		return err
	})
	return noise, err
}

// standIn returns a trace that stays at the domain's centre.
func (g *cipGroup) standIn() []cip.Fix {
	fixes := slices.Clone(g.fixes)
	for i := range fixes {
		fixes[i].Lat, fixes[i].Lon = g.domain.Centre()
	}
	return fixes
}
