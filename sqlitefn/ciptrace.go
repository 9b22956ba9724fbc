package sqlitefn

import (
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
// The variance of the noise follows from the times and the policy, which are public. A
// policy's radius is along the ellipsoid; two locations of the box that are so far
// apart have images that are at most [planar.Domain.Apart] from each other, which is
// the radius that the variance is for. The noise is normal and added to the images as
// they are; that the sum is then rounded is post-processing. So the loss is at most
// the policy's epsilon, for locations in the frame with the conditional prior that the
// policy assumes, to someone who sees no other release of them. Losses of two traces of
// an account do not add up under such a prior, which is why there is one at the most
// under a policy; the owner, who declares another one and sets a limit for it, decides
// on more.
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

// perSecond is the unit in which times are exact; those of a policy are seconds.
const perSecond = 1_000_000

// maxSpan is how many of it a float64 counts, some 285 years.
const maxSpan = 1 << 53

// times are since the first point. Seconds would not be exact: of points near each other
// and far from the first, time would differ from what is released, and the loss with it.
func (g *cipGroup) times() ([]float64, error) {
	times := make([]float64, len(g.fixes))
	first := g.fixes[0].at.UnixMicro()
	for i, f := range g.fixes {
		t := f.at.UnixMicro() - first
		times[i] = float64(t)
		switch {
		case t > maxSpan:
			return nil, fmt.Errorf("t spans more than %d seconds", maxSpan/perSecond)
		case i > 0 && times[i] == times[i-1]:
			return nil, fmt.Errorf("t %s is there twice", f.seconds())
		}
	}
	return times, nil
}

// seconds prints the time since 1970.
func (f cipFix) seconds() string {
	return plain(float64(f.at.UnixMicro()) / perSecond)
}

// noise is nil for a trace without points.
func (g *cipGroup) noise() (*planar.Gaussian, error) {
	if len(g.fixes) == 0 {
		return nil, nil
	}
	times, err := g.times()
	if err != nil {
		return nil, err
	}
	policy := g.policy.Finer(perSecond)
	policy.Radius = g.domain.Apart(policy.Radius)
	variance, err := g.session.smallestSigma2(policy, times)
	if err != nil {
		return nil, err
	}
	return g.domain.Gaussian(variance)
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
