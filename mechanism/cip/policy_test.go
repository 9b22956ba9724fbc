package cip

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const example = `{"kernel":"rbf","variance":1,"length_scale":1,"radius":1,"lambda":2,"family":"every-other","sigma2":1}`

func TestParsePolicy(t *testing.T) {
	for text, want := range map[string]Policy{
		example: {Kernel: RBF, Variance: 1, LengthScale: 1, Radius: 1, Lambda: 2, Family: EveryOther, Sigma2: 1},
		`{"kernel":"periodic","variance":2.5,"length_scale_max":3,"period":86400,"radius":100,"lambda":1.5,
			"family":[[1,0],[2]],"epsilon":0.5,"domain":"city"}`: {Kernel: Periodic, Variance: 2.5, LengthScaleMax: 3,
			Period: 86400, Radius: 100, Lambda: 1.5, Sets: [][]int{{1, 0}, {2}}, Epsilon: one / 2, Domain: "city"},
	} {
		got, err := ParsePolicy(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// A policy with one change is refused, and the error says why.
func TestParsePolicyRefuses(t *testing.T) {
	for _, c := range []struct{ from, to, about string }{
		{`"kernel":"rbf",`, ``, "kernel is missing"},
		{`"rbf"`, `"gauss"`, "kernel must be one of rbf, exponential, periodic"},
		{`"rbf"`, `"periodic"`, "period must be above 0"},
		{`"rbf"`, `"rbf","period":2`, `period is for the kernel "periodic"`},
		{`"rbf"`, `"rbf","period":0`, "period must be above 0"},
		{`"variance":1`, `"variance":0`, "variance must be above 0"},
		{`"variance":1`, `"variance":"1"`, "variance must be a number"},
		{`"variance":1`, `"variance":1e31`, "variance must be at most 1e+30, not 1e+31"},
		{`"variance":1`, `"variance":1e-31`, "variance must be at least 1e-30, not 1e-31"},
		{`"length_scale":1`, `"length_scale":-1`, "length_scale must be above 0"},
		{`"length_scale":1`, `"length_scale_max":0`, "length_scale_max must be above 0"},
		{`"length_scale":1`, `"length_scale":1,"length_scale_max":2`, "give either length_scale"},
		{`"length_scale":1,`, ``, "give either length_scale"},
		{`"radius":1,`, ``, "radius is missing"},
		{`"radius":1`, `"radius":-1`, "radius must be above 0"},
		{`"lambda":2`, `"lambda":1`, "lambda must be above 1"},
		{`"lambda":2`, `"lambda":1e31`, "lambda must be at most 1e+30"},
		{`"sigma2":1`, `"sigma2":0`, "sigma2 must be above 0"},
		{`"sigma2":1`, `"epsilon":0`, "epsilon must be at least 0.000000000001"},
		{`"sigma2":1`, `"epsilon":-1`, "epsilon must not be below 0"},
		{`"sigma2":1`, `"domain":1`, "domain must be a text"},
		{`"sigma2"`, `"sigma"`, `key "sigma" is unknown`},
		{`"sigma2":1`, `"radius":1`, "radius is given twice"},
		{`"every-other"`, `"all"`, "family must be"},
		{`"every-other"`, `""`, "family must be"},
		{`"every-other"`, `[]`, "family must be"},
		{`"every-other"`, `[[]]`, "family has an empty set"},
		{`"every-other"`, `[[0],[1,2,1]]`, "family has a set with the index 1 twice"},
		{`"every-other"`, `[[-1]]`, "family has the index -1"},
		{`"every-other"`, `[[0.5]]`, "family must be"},
		{`"every-other"`, `[[null]]`, "family must be"},
		{`"every-other"`, `"windows:0"`, "family must be"},
		{`"every-other"`, `"windows:"`, "family must be"},
		{`"every-other"`, `"windows:+3"`, "family must be"},
		{`"every-other"`, `"windows:03"`, "family must be"},
	} {
		text := strings.Replace(example, c.from, c.to, 1)
		if p, err := ParsePolicy(text); err == nil || !strings.Contains(err.Error(), c.about) {
			t.Errorf("%s: %+v, %v, not %q", text, p, err, c.about)
		}
	}
}

func TestFamilies(t *testing.T) {
	for family, want := range map[string]string{
		EveryOther:     "[[0 2 4]]",
		Singles:        "[[0] [1] [2] [3] [4]]",
		"windows:1":    "[[0] [1] [2] [3] [4]]",
		"windows:2":    "[[0] [1] [2] [3] [4] [0 1] [1 2] [2 3] [3 4]]",
		"windows:1000": "15",
	} {
		p := base(1)
		p.Family = family
		sets, err := p.sets(5)
		if got := fmt.Sprint(sets); err != nil || got != want && fmt.Sprint(len(sets)) != want {
			t.Errorf("%s: %s, %v", family, got, err)
		}
	}
	if got := rest([]int{1, 3}, 5); !reflect.DeepEqual(got, []int{0, 2, 4}) {
		t.Errorf("%v", got)
	}
}

func TestLossRefuses(t *testing.T) {
	large := base(1)
	large.Family = "windows:200"
	many := base(1)
	many.Family = "windows:60"
	day := base(1)
	day.Kernel, day.Period = Periodic, 2
	for _, c := range []struct {
		p      Policy
		times  []float64
		sigma2 float64
		about  string
	}{
		{base(1), nil, 1, "there must be 1 to 256 times, not 0"},
		{base(1), seq(257), 1, "there must be 1 to 256 times, not 257"},
		{base(1), []float64{1, 2, 1}, 1, "time 1 is there twice"},
		{base(1), []float64{1e31}, 1, "time 1e+31 is out of range"},
		{base(1), seq(3), 0, "sigma2 must be above 0"},
		{base(0), seq(3), 1, "length_scale must be above 0"},
		{withSets(base(1), []int{3}), seq(3), 1, "family has the index 3, but there are only 3 times"},
		{large, seq(256), 1, "more than 10000"},
		{many, seq(160), 1, "too much work"},
		{day, seq(3), 1, "times 0 and 2 are in one set, but whole periods apart"},
		{upTo(base(1), maxNumber), []float64{0, 1e-29}, 1, "too far above"},
	} {
		_, err := c.p.Loss(t.Context(), c.times, c.sigma2)
		if err == nil || !strings.Contains(err.Error(), c.about) {
			t.Errorf("%v, not %q", err, c.about)
		}
	}
}

// A point a whole period from another is the same one: its noisy value is as good
// as the point's own.
func TestWholePeriods(t *testing.T) {
	p := withSets(base(0.01), []int{0})
	p.Kernel, p.Period = Periodic, 2
	if loss := mustLoss(t, p, seq(3), 0.5); !near(loss.Alpha, 2, 1e-9) {
		t.Errorf("%v", loss)
	}
	if loss := mustLoss(t, upTo(p, 0.01), seq(3), 0.5); !near(loss.Alpha, 2, 3e-6) {
		t.Errorf("%v", loss)
	}
}

func TestSmallestSigma2Refuses(t *testing.T) {
	p := base(1)
	if _, err := p.SmallestSigma2(t.Context(), seq(3)); err == nil || !strings.Contains(err.Error(), "epsilon is missing") {
		t.Error(err)
	}
	p.Epsilon, p.Radius, p.Lambda = 1, 1e15, 1e30
	if _, err := p.SmallestSigma2(t.Context(), seq(3)); err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Error(err)
	}
}

func TestParseTimes(t *testing.T) {
	if times, err := ParseTimes(`[3, 1e2, -2.5]`); err != nil || !reflect.DeepEqual(times, []float64{-2.5, 3, 100}) {
		t.Errorf("%v, %v", times, err)
	}
	for text, about := range map[string]string{
		``:          "times must be a JSON array of numbers",
		`null`:      "times must be a JSON array of numbers",
		`{}`:        "times must be a JSON array of numbers",
		`[1, "2"]`:  "times must be a JSON array of numbers",
		`[1, null]`: "times must be numbers, not null",
		`[1] 2`:     "times must be a JSON array of numbers",
		`[1e400]`:   "times must be a JSON array of numbers",
		`[]`:        "there must be 1 to 256 times, not 0",
		`[1, 2, 1]`: "time 1 is there twice",
	} {
		if times, err := ParseTimes(text); err == nil || !strings.Contains(err.Error(), about) {
			t.Errorf("%s: %v, %v", text, times, err)
		}
	}
}

// Policies that are read can be used.
func FuzzParsePolicy(f *testing.F) {
	f.Add(example)
	f.Add(`{"kernel":"periodic","variance":1,"length_scale_max":1,"period":5,"radius":1,"lambda":2,"family":[[0,1],[2]],"epsilon":1}`)
	f.Add(`{"kernel":"exponential","variance":1,"length_scale":1,"radius":1,"lambda":2,"family":"windows:2"}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePolicy(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		loss, err := p.Loss(t.Context(), seq(3), 1)
		if err == nil && !(loss.Loss >= loss.Independent && loss.Alpha >= 0 && len(loss.Set) > 0) {
			t.Errorf("%s: %v", text, loss)
		}
	})
}

func FuzzParseTimes(f *testing.F) {
	f.Add(`[0, 1, 2.5]`)
	f.Add(`[1e30, -0, 0]`)
	f.Fuzz(func(t *testing.T, text string) {
		times, err := ParseTimes(text)
		if err != nil {
			return
		}
		for i := range times[1:] {
			if !(times[i] < times[i+1]) {
				t.Errorf("%s: %v", text, times)
			}
		}
	})
}

func TestPolicyString(t *testing.T) {
	for text, want := range map[string]string{
		`{"kernel": "rbf", "variance": 10000, "length_scale": 60, "radius": 10, "lambda": 2, "family": "windows:2"}`:          "windows:2 within 10 of each point, for priors of kernel rbf, length scale 60, variance 10000",
		`{"kernel": "exponential", "variance": 1e7, "length_scale_max": 0.5, "radius": 1, "lambda": 2, "family": [[0], [1]]}`: "2 listed sets within 1 of each point, for priors of kernel exponential, length scales up to 0.5, variance 10000000",
	} {
		p, err := ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.String(); got != want {
			t.Errorf("%s\nis %q, want %q", text, got, want)
		}
	}
}
