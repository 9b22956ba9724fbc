package cli

import (
	"math/big"
	"strings"
	"testing"
)

// FuzzRational reads texts as decimals: the number that package big reads too, or an error of one line.
func FuzzRational(f *testing.F) {
	for _, text := range []string{"", "0", "-1.5", "+.5e3", "1e400", "1e-400", "ln 4", "ln(4)", "ln4", "0x10", "1/3", "1_000", "NaN", "inf", " 2 ", "1e999999999", "ln 1e308", "ln 0", "5e-324"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) (*big.Rat, error){Rational, RationalLevel} {
			got, err := read(text)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\r") {
					t.Errorf("%q: %q", text, err)
				}
				continue
			}
			if want, ok := new(big.Rat).SetString(strings.TrimSpace(text)); ok && got.Cmp(want) != 0 {
				t.Errorf("%q is %v, want %v", text, got, want)
			}
			if near, err := Level(text); err != nil || !strings.HasPrefix(strings.TrimSpace(text), "ln") {
				continue
			} else if x, _ := got.Float64(); x > near {
				t.Errorf("%q is %v, above %v", text, x, near)
			}
		}
	})
}
