package sqlitefn

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/cip"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// Positions of cip_trace's arguments.
const (
	cipAccount = iota
	cipTime
	cipLat
	cipLon
	cipName
)

// maxTrace bounds the points of a trace before anything is computed.
const maxTrace = 256

// cipFix is a point of a trace. Its location is secret, its time is not.
type cipFix struct {
	at       time.Time
	lat, lon float64
}

// cipGroup is a trace that is released as a whole. Nothing is charged or drawn before
// it is complete.
type cipGroup struct {
	session *session
	account string
	name    string // of the policy; "" before the first row
	policy  cip.Policy
	domain  *planar.Domain
	fixes   []cipFix
}

func newCIPGroup(s *session, _ *function) group { return &cipGroup{session: s} }

func (g *cipGroup) step(c call) error {
	if err := g.parameters(c); err != nil {
		return err
	}
	lat, lon, absent, err := c.location(cipLat)
	if err != nil || absent && c.null(cipAccount) {
		return err
	}
	at, err := c.time(cipTime)
	if err != nil {
		return err
	}
	var room [20]byte
	account, err := c.account(cipAccount, &room)
	if err != nil || absent {
		return err
	}
	switch {
	case len(g.fixes) == 0:
		g.account = string(account)
	case g.account != string(account):
		return c.changes(cipAccount)
	case len(g.fixes) == maxTrace:
		return fmt.Errorf("a trace has at most %d points", maxTrace)
	}
	g.fixes = append(g.fixes, cipFix{at, lat, lon})
	return nil
}

// parameters are the same in all rows of a group.
func (g *cipGroup) parameters(c call) (err error) {
	if g.name != "" {
		if !c.isText(cipName, []byte(g.name)) {
			return c.changes(cipName)
		}
		return nil
	}
	name, policy, err := g.session.cipNamed(c, cipName)
	if err != nil {
		return err
	}
	if policy.Epsilon == 0 {
		return errNoEpsilon
	}
	g.domain, err = g.session.domainOf(policy.Domain)
	g.name, g.policy = name, policy
	return err
}

// final chooses the noise, charges, and draws.
//
// # Privacy
//
// The loss is at most the policy's epsilon, as [cip.Policy.Noise] proves, to someone who
// sees no other release of the locations. Losses of two traces of an account do not add
// up under such a prior, which is why there is one at the most under a policy; the owner,
// who declares another one and sets a limit for it, decides on more.
func (g *cipGroup) final(c call) error {
	slices.SortStableFunc(g.fixes, func(a, b cipFix) int { return a.at.Compare(b.at) })
	noise, err := g.noise()
	if err != nil {
		return err
	}
	paid, err := g.pay(c.f)
	if err != nil {
		return err
	}
	c.ResultText(0, g.release(noise, paid))
	return nil
}

// seconds prints the time since 1970.
func (f cipFix) seconds() string { return plain(float64(f.at.UnixMicro()) / 1e6) }

// noise is nil for a trace without points.
func (g *cipGroup) noise() (noise *planar.Gaussian, err error) {
	if len(g.fixes) == 0 {
		return nil, nil
	}
	times := make([]time.Time, len(g.fixes))
	for i, f := range g.fixes {
		times[i] = f.at
	}
	err = g.session.untilInterrupted(func(ctx context.Context) (err error) {
		noise, err = g.policy.Noise(ctx, g.domain, times)
		return err
	})
	return noise, err
}

// pay pays for the trace, which costs nothing without points.
func (g *cipGroup) pay(f *function) (hand, error) {
	if len(g.fixes) == 0 {
		return hand{}, nil
	}
	return g.session.payer.once(f, g.account, budget.Price{Unit: cipUnit(g.name), Amount: g.policy.Epsilon})
}

// release is a JSON array of the points in the order of time. The stand-in for each of
// them is the domain's centre.
func (g *cipGroup) release(noise *planar.Gaussian, paid hand) []byte {
	lat, lon := g.domain.Centre()
	centre := [2]float64{lat, lon}
	b := []byte{'['}
	for i, f := range g.fixes {
		z := drawn(paid, func(source *exact.Source) [2]float64 {
			lat, lon := noise.Draw(source, f.lat, f.lon)
			return [2]float64{lat, lon}
		}, centre)
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"t":`...)
		b = append(b, f.seconds()...)
		b = append(b, `,"lat":`...)
		b = strconv.AppendFloat(b, z[0], 'f', 7, 64)
		b = append(b, `,"lon":`...)
		b = strconv.AppendFloat(b, z[1], 'f', 7, 64)
		b = append(b, '}')
	}
	return append(b, ']')
}
