package trace

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

func TestParsePolicyDefaults(t *testing.T) {
	for _, c := range []struct {
		mechanism, text string
		want            Policy
	}{
		{Predictive, `{"epsilon": 0.02302585092, "steps": 30}`, Policy{
			Mechanism: Predictive, Epsilon: 23_025_850_920, Manager: FixedRate, Steps: 30,
			Eta: 0.6, Gamma: 0.8, PredictionRate: 0.75, Predictor: Parrot, After: AfterStop,
		}},
		{Predictive, `{"epsilon": 0.1, "alpha": 3000}`, Policy{
			Mechanism: Predictive, Epsilon: 100_000_000_000, Manager: FixedUtility, Alpha: 3000,
			Eta: 0.5, Gamma: 0.8, Predictor: Parrot, After: AfterStop,
		}},
		{Independent, `{"epsilon": 1e-12, "steps": 1, "domain": "paris"}`, Policy{
			Mechanism: Independent, Domain: "paris", Epsilon: 1, Manager: FixedRate, Steps: 1,
		}},
		{Independent, `{"epsilon": 2, "alpha": 0.5, "universe": "halfhour"}`, Policy{
			Mechanism: Independent, Universe: "halfhour", Epsilon: 2e12, Manager: FixedUtility, Alpha: 0.5,
		}},
		{Independent, `{"alpha": 10, "epsilon": 1, "manager": "fixed-utility"}`, Policy{
			Mechanism: Independent, Epsilon: 1e12, Manager: FixedUtility, Alpha: 10,
		}},
		{Predictive, ` {"domain":"d","epsilon":9e6,"manager":"fixed-rate","steps":1000000000,"eta":1,"gamma":1,` +
			`"prediction_rate":0,"skip_speed":8.3333,"predictor":"mixture","after":"predict"} `, Policy{
			Mechanism: Predictive, Domain: "d", Epsilon: budget.Max, Manager: FixedRate, Steps: 1e9,
			Eta: 1, Gamma: 1, SkipSpeed: 8.3333, Predictor: Mixture, After: AfterPredict,
		}},
	} {
		if got := parse(t, c.mechanism, c.text); got != c.want {
			t.Errorf("%s\n got %+v\nwant %+v", c.text, got, c.want)
		}
	}
}

// Errors are one line and name the key.
func TestParsePolicyRefuses(t *testing.T) {
	for _, c := range []struct{ mechanism, text, about string }{
		{"predictiv", `{"epsilon": 1, "steps": 1}`, "mechanism must be one of predictive, independent"},
		{Predictive, ``, "settings must be one JSON object"},
		{Predictive, `[]`, "settings must be one JSON object"},
		{Predictive, `null`, "settings must be one JSON object"},
		{Predictive, `{"epsilon": 1, "steps": 1`, "settings must be one JSON object"},
		{Predictive, `{"epsilon": 1, "steps": 1}}`, "settings must be one JSON object"},
		{Predictive, `{"epsilon": 1, "steps": 1} {}`, "settings must be one JSON object"},
		{Predictive, `{"epsilon": 1, "steps" 1}`, "steps has no JSON value"},
		{Predictive, `{"epsilon": 1 "steps": 1}`, "settings must be one JSON object"},
		{Predictive, `{}`, "epsilon is missing"},
		{Predictive, `{"epsilon": 1}`, "steps is missing, or alpha for a fixed utility"},
		{Predictive, `{"epsilon": 1, "manager": "fixed-rate"}`, "steps is missing"},
		{Predictive, `{"epsilon": 1, "manager": "fixed-utility"}`, "alpha is missing"},
		{Predictive, `{"epsilon": 1, "manager": "fixed-utility", "steps": 1}`, "alpha is missing"},
		{Predictive, `{"epsilon": 1, "steps": 1, "alpha": 1}`, "manager is missing"},
		{Predictive, `{"epsilon": 1, "steps": 1, "alpha": "1", "manager": "fixed-rate"}`, "alpha must be a number"},
		{Predictive, `{"epsilon": 1, "steps": 1, "alfa": 1}`, `key "alfa" is unknown`},
		{Predictive, `{"epsilon": 1, "Steps": 1}`, `key "Steps" is unknown`},
		{Predictive, `{"epsilon": 1, "steps": 1, "epsilon": 2}`, "epsilon is given twice"},
		{Predictive, `{"epsilon": null, "steps": 1}`, "epsilon must be a number"},
		{Predictive, `{"epsilon": "1", "steps": 1}`, "epsilon must be a number"},
		{Predictive, `{"epsilon": 1e400, "steps": 1}`, "epsilon must be a number"},
		{Predictive, `{"epsilon": 1, "steps": 1, "domain": "d", "universe": "u"}`, "universe is for readings and domain for locations"},
		{Predictive, `{"epsilon": 1, "steps": 1, "universe": 1}`, "universe must be a text"},
		{Predictive, `{"epsilon": 1, "steps": 1, "universe": ""}`, "universe must have a name"},
		{Predictive, `{"epsilon": 0, "steps": 1}`, "epsilon must be above 0"},
		{Predictive, `{"epsilon": 9e-13, "steps": 1}`, "epsilon must be above 0"},
		{Predictive, `{"epsilon": -1, "steps": 1}`, "epsilon must not be below 0"},
		{Predictive, `{"epsilon": 9000001, "steps": 1}`, "epsilon must be at most"},
		{Predictive, `{"epsilon": 1, "steps": 0}`, "steps must be between"},
		{Predictive, `{"epsilon": 1, "steps": 1.5}`, "steps must be a whole number"},
		{Predictive, `{"epsilon": 1, "steps": 1e10}`, "steps must be"},
		{Predictive, `{"epsilon": 1, "steps": 10000000000}`, "steps must be between"},
		{Predictive, `{"epsilon": 1, "alpha": -3}`, "alpha must be above 0"},
		{Predictive, `{"epsilon": 1, "manager": "fixed", "alpha": 3}`, "manager must be one of"},
		{Predictive, `{"epsilon": 1, "manager": 7, "alpha": 3}`, "manager must be a text"},
		{Predictive, `{"epsilon": 1, "steps": 1, "eta": 0}`, "eta must be"},
		{Predictive, `{"epsilon": 1, "steps": 1, "eta": 1.1}`, "eta must be"},
		{Predictive, `{"epsilon": 1, "steps": 1, "gamma": -1}`, "gamma must be"},
		{Predictive, `{"epsilon": 1, "steps": 1, "prediction_rate": 1.01}`, "prediction_rate must be"},
		{Predictive, `{"epsilon": 1, "alpha": 1, "prediction_rate": "high"}`, "prediction_rate must be a number"},
		{Predictive, `{"epsilon": 1, "steps": 1, "skip_speed": -1}`, "skip_speed must not"},
		{Predictive, `{"epsilon": 1, "steps": 1, "predictor": "parot"}`, "predictor must be one of"},
		{Predictive, `{"epsilon": 1, "steps": 1, "after": "go on"}`, "after must be one of"},
		{Predictive, "{\"epsilon\": 1, \"steps\": 1, \"after\": [\n1,\n2]}", "after must be a text"},
		{Independent, `{"epsilon": 1, "steps": 1, "eta": true}`, "eta must be a number"},
		{Independent, `{"epsilon": 1, "steps": 1, "predictor": 1}`, "predictor must be a text"},
	} {
		p, err := ParsePolicy(c.mechanism, []byte(c.text))
		if err == nil {
			t.Errorf("%s: accepted as %+v", c.text, p)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.about) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", c.text, err)
		}
	}
}

// An object of a host is the policy that its text in JSON is, or refused with the same words.
func TestNewPolicy(t *testing.T) {
	for text, object := range map[string]map[string]any{
		`{"epsilon": 0.02302585092, "steps": 30}`:                {"epsilon": 0.02302585092, "steps": 30.0},
		`{"epsilon": 0.1, "alpha": 3000, "predictor": "linear"}`: {"epsilon": 0.1, "alpha": 3000.0, "predictor": "linear"},
		`{"epsilon": 1, "steps": 1, "alfa": 1}`:                  {"epsilon": 1.0, "steps": 1.0, "alfa": 1.0},
		`{"epsilon": "1", "steps": 1}`:                           {"epsilon": "1", "steps": 1.0},
		`{"epsilon": 1, "steps": 1.5}`:                           {"epsilon": 1.0, "steps": 1.5},
		`{"epsilon": 1, "steps": 1, "after": 7}`:                 {"epsilon": 1.0, "steps": 1.0, "after": 7.0},
		`{"epsilon": 1, "steps": 1, "eta": true}`:                {"epsilon": 1.0, "steps": 1.0, "eta": true},
		`{"epsilon": 1}`:                                         {"epsilon": 1.0},
	} {
		want, refused := ParsePolicy(Predictive, []byte(text))
		got, err := NewPolicy(Predictive, object)
		if got != want || fmt.Sprint(err) != strings.Replace(fmt.Sprint(refused), `\"1\"`, "1", 1) {
			t.Errorf("%s: %+v, %v; want %+v, %v", text, got, err, want, refused)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if p, err := NewPolicy(Predictive, map[string]any{"epsilon": x, "steps": 1.0}); err == nil {
			t.Errorf("epsilon %v is %+v", x, p)
		}
	}
}

// Some policies are refused by the space.
func TestNewRefuses(t *testing.T) {
	good := parse(t, Predictive, `{"epsilon": 1, "steps": 30}`)
	for about, change := range map[string]func(*Policy){
		"mechanism must":      func(p *Policy) { p.Mechanism = "" },
		"epsilon must":        func(p *Policy) { p.Epsilon = 0 },
		"steps must":          func(p *Policy) { p.Steps = 0 },
		"eta must":            func(p *Policy) { p.Eta = math.NaN() },
		"eta 1 and gamma 0.8": func(p *Policy) { p.Eta = 1 }, // ln 5/ln 10*2.25 > 1
		"skip_speed must":     func(p *Policy) { p.SkipSpeed = math.Inf(1) },
		"alpha must":          func(p *Policy) { p.Manager, p.Alpha = FixedUtility, math.Inf(1) },
		"alpha 1 costs more":  func(p *Policy) { p.Manager, p.Alpha = FixedUtility, 1 },
		"manager must":        func(p *Policy) { p.Manager = "" },
	} {
		p := good
		change(&p)
		if _, err := New(meter, p); err == nil || !strings.HasPrefix(err.Error(), about) {
			t.Errorf("%s: %v", about, err)
		}
	}
	good.Eta = 1
	if _, err := New(NewPlane(beijing), good); err != nil {
		t.Errorf("eta 1 on a plane: %v", err)
	}
}

// FuzzParsePolicy demands that an accepted policy passes its own check and that
// errors are one line.
func FuzzParsePolicy(f *testing.F) {
	f.Add(true, []byte(`{"epsilon": 0.02302585092, "steps": 30, "skip_speed": 8.3}`))
	f.Add(false, []byte(`{"epsilon": 1, "alpha": 3, "manager": "fixed-utility"}`))
	f.Add(true, []byte(`{"epsilon": 1e-12, "steps": 1, "after": [{}], "gamma": {"a": "}"}}`))
	f.Fuzz(func(t *testing.T, predictive bool, text []byte) {
		mechanism := Independent
		if predictive {
			mechanism = Predictive
		}
		p, err := ParsePolicy(mechanism, text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") || err.Error() == "" {
				t.Fatalf("%q", err)
			}
			return
		}
		if err := p.check(); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
	})
}

// One object serves all mechanisms and managers: settings that they do not use change
// nothing.
func TestParsePolicyIgnores(t *testing.T) {
	const all = `{"epsilon": 1, "steps": 5, "alpha": 7, "eta": 0.5, "gamma": 0.7, "prediction_rate": 0.5, "skip_speed": 3,
		"predictor": "linear", "after": "predict", "manager": `
	for _, c := range []struct{ mechanism, text, same string }{
		{Predictive, all + `"fixed-rate"}`, `{"epsilon": 1, "steps": 5, "eta": 0.5, "gamma": 0.7, "prediction_rate": 0.5, "skip_speed": 3,
			"predictor": "linear", "after": "predict"}`},
		{Predictive, all + `"fixed-utility"}`, `{"epsilon": 1, "alpha": 7, "eta": 0.5, "gamma": 0.7, "skip_speed": 3,
			"predictor": "linear", "after": "predict"}`},
		{Independent, all + `"fixed-utility"}`, `{"epsilon": 1, "alpha": 7}`},
	} {
		got, err := ParsePolicy(c.mechanism, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := ParsePolicy(c.mechanism, []byte(c.same)); err != nil || got != want {
			t.Errorf("got %+v, want %+v, %v", got, want, err)
		}
	}
}
