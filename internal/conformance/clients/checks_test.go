package clients

import "testing"

// A program that reports nothing, or less than it says, has not passed.
func TestChecks(t *testing.T) {
	for out, want := range map[string]struct {
		checks, failed int
		err            bool
	}{
		"ok - a\nnot ok - b\n# got 1\n# want 2\n1..2\n": {2, 1, false},
		"ok - a\n":              {1, 0, true}, // it has ended before its end
		"ok - a\n1..2\n":        {1, 0, true},
		"1..0\n":                {0, 0, true},
		"":                      {0, 0, true},
		"ok - a\nhello\n1..1\n": {1, 0, true},
	} {
		list, err := checks(out)
		failed := 0
		for _, c := range list {
			if !c.ok {
				failed++
			}
		}
		if len(list) != want.checks || failed != want.failed || (err != nil) != want.err {
			t.Errorf("%q: %v, %v", out, list, err)
		}
	}
}
