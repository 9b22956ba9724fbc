package settings

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

func TestValues(t *testing.T) {
	v, err := Parse([]byte(`{"epsilon": 0.1, "name": "a", "n": 3, "after": "stop"}`), `{}`, "epsilon", "name", "n", "after")
	if err != nil {
		t.Fatal(err)
	}
	var epsilon budget.Amount
	var name string
	var n int
	v.Amount("epsilon", &epsilon)
	v.Require("name", &name)
	v.Read("n", &n)
	if err := v.Finish("after"); err != nil || epsilon != 100_000_000_000 || name != "a" || n != 3 {
		t.Errorf("%v %v %v, %v", epsilon, name, n, err)
	}
}

// Errors name the key; the first one counts.
func TestRefuses(t *testing.T) {
	for text, about := range map[string]string{
		`{"b": 1}`:         `key "b" is unknown: there are a`,
		`{"A": 1}`:         `key "A" is unknown`,
		`{"a": 1, "a": 2}`: "a is given twice",
		`{"a": -1}`:        "a must not be below 0",
		`{"a": 1e7}`:       "a must be at most 9000000",
		`{"a": "1"}`:       `a must be a number, not "\"1\""`,
		`{"a": 1} 2`:       `settings must be one JSON object, such as {"a": 1}`,
		`[1]`:              "settings must be one JSON object",
	} {
		v, err := Parse([]byte(text), `{"a": 1}`, "a")
		if err == nil {
			var a budget.Amount
			v.Amount("a", &a)
			v.Fail("a later error")
			err = v.Finish()
		}
		if err == nil || !strings.Contains(err.Error(), about) {
			t.Errorf("%s: %v, not %q", text, err, about)
		}
	}
}
