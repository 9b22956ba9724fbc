package cip

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/settings"
)

// The kernels, as named in a policy's text: the correlation of a person's coordinates at
// two times dt apart.
const (
	RBF         = "rbf"         // exp(-dt^2/(2 l^2)), the paper's
	Exponential = "exponential" // exp(-|dt|/l)
	Periodic    = "periodic"    // exp(-2 sin^2(pi dt/period)/l^2), where l is a plain number
)

// A Policy states the assumed knowledge of an adversary, and the facts protected from that
// adversary. All of it is public. [ParsePolicy] reads one; the text's keys are in
// parentheses.
type Policy struct {
	Kernel string // RBF, Exponential or Periodic (kernel); required

	// Variance is that of each of a location's two coordinates, or of a reading, in
	// the square of their unit (variance); required.
	Variance float64

	// LengthScale is the kernel's l, in the unit of the times (length_scale). If it is 0,
	// all length scales above 0 up to LengthScaleMax are possible (length_scale_max). One
	// of the two is required.
	LengthScale, LengthScaleMax float64

	Period float64 // of the kernel, in the unit of the times (period); only for Periodic

	// Radius is the distance, in metres or a reading's unit, up to which two values of one
	// point are protected from being told apart (radius); Euclidean for locations;
	// required.
	Radius float64

	Lambda float64 // order of the Rényi divergence, above 1 (lambda); required

	// Family names the sets of points that are protected (family): EveryOther,
	// Singles, or Windows with a number. If it is empty they are in Sets, as indices
	// into the times in ascending order, from 0. One of the two is required.
	Family string
	Sets   [][]int

	Epsilon budget.Amount // the largest loss of a trace that SmallestSigma2 allows (epsilon)
	Sigma2  float64       // variance of the noise in each coordinate (sigma2); not used here
	Domain  string        // name of the domain of the locations (domain); not used here
}

// withTimesIn returns the policy for times in a smaller unit. The policy's unit
// is the given number of these.
func (p Policy) withTimesIn(parts float64) Policy {
	p.Period *= parts
	if p.Kernel != Periodic { // its length scale is a plain number
		p.LengthScale *= parts
		p.LengthScaleMax *= parts
	}
	return p
}

// String describes the protected sets and the prior in one line.
func (p Policy) String() string {
	scale := "length scale " + decimal.Format(p.LengthScale)
	if p.LengthScaleMax > 0 {
		scale = "length scales up to " + decimal.Format(p.LengthScaleMax)
	}
	family := p.Family
	if family == "" {
		family = fmt.Sprintf("%d listed sets", len(p.Sets))
	}
	return fmt.Sprintf("%s within %s of each point, for priors of kernel %s, %s, variance %s",
		family, decimal.Format(p.Radius), p.Kernel, scale, decimal.Format(p.Variance))
}

var policyKeys = []string{"kernel", "variance", "length_scale", "length_scale_max", "period",
	"radius", "lambda", "family", "epsilon", "sigma2", "domain"}

// ParsePolicy reads a policy from a JSON object with the keys of [Policy]. If epsilon,
// sigma2 and domain are missing, they are 0 or empty. Errors name the key.
func ParsePolicy(text string) (Policy, error) {
	const example = `{"kernel": "rbf", "variance": 1, "length_scale": 1, "radius": 1, "lambda": 2, "family": "every-other"}`
	v, err := settings.Parse([]byte(text), example, policyKeys...)
	if err != nil {
		return Policy{}, err
	}
	var p Policy
	v.Require("kernel", &p.Kernel)
	v.Require("variance", &p.Variance)
	if v.Has("length_scale") == v.Has("length_scale_max") {
		v.Fail("give either length_scale, or length_scale_max for all up to it")
	}
	readPositive(v, "length_scale", &p.LengthScale)
	readPositive(v, "length_scale_max", &p.LengthScaleMax)
	readPositive(v, "period", &p.Period)
	v.Require("radius", &p.Radius)
	v.Require("lambda", &p.Lambda)
	var family json.RawMessage
	v.Require("family", &family)
	p.readFamily(v, family)
	if v.Has("epsilon") {
		v.Amount("epsilon", &p.Epsilon)
		if p.Epsilon <= 0 {
			v.Fail("epsilon must be at least 0.000000000001")
		}
	}
	readPositive(v, "sigma2", &p.Sigma2)
	v.Read("domain", &p.Domain)
	if err := v.Finish(); err != nil {
		return Policy{}, err
	}
	return p, p.check()
}

// readPositive reads a positive number, if it is given.
func readPositive(v *settings.Values, key string, target *float64) {
	given := v.Has(key)
	v.Read(key, target)
	if given && !(*target > 0) {
		v.Fail("%s must be above 0, not %v", key, *target)
	}
}

func (p *Policy) readFamily(v *settings.Values, family json.RawMessage) {
	if json.Unmarshal(family, &p.Family) == nil && p.Family != "" {
		return
	}
	var sets [][]*int // null would be taken for 0
	err := json.Unmarshal(family, &sets)
	for _, set := range sets {
		var indices []int
		for _, i := range set {
			if i == nil {
				err = errors.New("null")
				break
			}
			indices = append(indices, *i)
		}
		p.Sets = append(p.Sets, indices)
	}
	if err != nil || len(sets) == 0 {
		v.Fail("family must be %s, or lists of indices such as [[0, 1], [2]], not %.40q", families, family)
	}
}

// check returns an error that names the key at fault.
func (p *Policy) check() error {
	if err := p.checkKernel(); err != nil {
		return err
	}
	if err := checkNumber("radius", p.Radius); err != nil {
		return err
	}
	if !(p.Lambda > 1) {
		return fmt.Errorf("lambda must be above 1, not %v", p.Lambda)
	}
	if err := checkNumber("lambda", p.Lambda); err != nil {
		return err
	}
	return p.checkFamily()
}

func (p *Policy) checkKernel() error {
	switch p.Kernel {
	case RBF, Exponential:
		if p.Period != 0 {
			return fmt.Errorf("period is for the kernel %q, not for %q", Periodic, p.Kernel)
		}
	case Periodic:
		if err := checkNumber("period", p.Period); err != nil {
			return err
		}
	default:
		return fmt.Errorf("kernel must be one of %s, %s, %s, not %q", RBF, Exponential, Periodic, p.Kernel)
	}
	if err := checkNumber("variance", p.Variance); err != nil {
		return err
	}
	switch {
	case p.LengthScale != 0 && p.LengthScaleMax != 0:
		return errors.New("give either length_scale, or length_scale_max for all up to it")
	case p.LengthScaleMax != 0:
		return checkNumber("length_scale_max", p.LengthScaleMax)
	default:
		return checkNumber("length_scale", p.LengthScale)
	}
}

// maxNumber and its inverse bound numbers in policies, so that products of a few of them
// neither overflow nor vanish.
const maxNumber = 1e30

func positive(x float64) bool { return 1/maxNumber <= x && x <= maxNumber && !math.IsNaN(x) }

// checkNumber returns an error if the value of a key is not positive.
func checkNumber(key string, x float64) error {
	switch {
	case positive(x):
		return nil
	case x > maxNumber:
		return fmt.Errorf("%s must be at most %v, not %v", key, maxNumber, x)
	case x > 0:
		return fmt.Errorf("%s must be at least %v, not %v", key, 1/maxNumber, x)
	default:
		return fmt.Errorf("%s must be above 0, not %v", key, x)
	}
}
