package settings

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzParse reads texts as settings. A text without an error is JSON, with the values that encoding/json finds in it,
// and an error is a line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{}`, `{"steps": 5, "name": "a"}`, `{"steps": 5, "steps": 5}`, `{"Steps": 5}`, `{"steps": null}`, `{"steps": 1e400}`, `{"steps": 5} {}`, `{"steps": {"steps": [1, 2`, `[]`, ``, `{"steps": -0, "name": "\ud800"}`, `{"name": 1}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		check := func(err error) {
			if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: %q", text, err)
			}
		}
		v, err := Parse([]byte(text), `{"steps": 5}`, "steps", "name")
		if err != nil {
			check(err)
			return
		}
		var want struct {
			Steps *int64  `json:"steps"`
			Name  *string `json:"name"`
		}
		wrong := json.Unmarshal([]byte(text), &want)
		var steps int64
		var name string
		hasSteps, hasName := v.Has("steps"), v.Has("name")
		v.Read("steps", &steps)
		v.Read("name", &name)
		if err := v.Finish(); err != nil {
			check(err)
			return
		}
		if wrong != nil || hasSteps != (want.Steps != nil) || hasName != (want.Name != nil) || hasSteps && steps != *want.Steps || hasName && name != *want.Name {
			t.Errorf("%q: %d, %q; want %+v, %v", text, steps, name, want, wrong)
		}
	})
}
