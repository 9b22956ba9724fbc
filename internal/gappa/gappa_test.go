package gappa

import (
	"math"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

func load(t *testing.T) *Source {
	need.Program(t, "go") // which finds the packages that a source imports
	s, err := Load("testdata/filters")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// texts returns the scripts of one function, with a claim.
func texts(t *testing.T, s *Source, name, claim string) []string {
	script := Script{Name: name, Of: []Function{{Name: name}}, Claim: claim}
	texts, err := script.Texts(s, "1")
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestTranslation(t *testing.T) {
	s := load(t)
	for _, test := range []struct {
		name string
		want []string // the last definition of each way
	}{
		{"product", []string{"result = rnd((x) * (y));"}},
		{"line.at", []string{
			"result = rnd((rnd((l_slope) * (x))) + (l_start));",
			"result = rnd((((l_slope) * (x))) + (l_start));",
		}},
		{"converted", []string{"result = rnd((rnd(rnd((x) * (y)))) + (z));"}},
		{"named", []string{
			"result = rnd((z) - (p));",
			"result = rnd((z) - (((x) * (y))));",
		}},
		{"inlined", []string{
			"result = rnd((product_of) + (z));",
			"result = rnd((((x) * (y))) + (z));",
		}},
		{"residue", []string{
			"result = rnd((rnd((x) * (y))) - (rnd((x) * (y))));",
			"result = rnd((((x) * (y))) - (rnd((x) * (y))));",
			"result = rnd((rnd((x) * (y))) - (((x) * (y))));",
		}},
		{"unknowns", []string{"result = rnd((sum4) * (3602879701896397b-55));"}},
		{"integers", []string{"result = rnd(((n) * (m)) + (1));"}},
	} {
		var got []string
		for _, text := range texts(t, s, test.name, "") {
			body, _, _ := strings.Cut(text, "\n\n{")
			lines := strings.Split(strings.TrimSpace(body), "\n")
			got = append(got, lines[len(lines)-1])
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s is\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

// A variable that a branch may have assigned is unknown after it.
func TestBranchesAreForgotten(t *testing.T) {
	text := texts(t, load(t), "compares", "")[0]
	for _, want := range []string{"z = rnd((x) + (y));", "left1 = z;", "right1 = 1b0;", "Abs_1 = rnd((z3) - (", "left2 = |Abs_1|;", "right2 = rnd((3b0) * (y));"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestKeep(t *testing.T) {
	script := Script{Of: []Function{{Name: "compares", Only: []string{"left1"}}}}
	all, err := script.Texts(load(t), "1")
	if err != nil || len(all) != 1 || strings.Contains(all[0], "right") || !strings.Contains(all[0], "z = rnd(") {
		t.Errorf("%q, %v", all, err)
	}
}

func TestProve(t *testing.T) {
	need.Program(t, "gappa")
	s := load(t)
	for _, test := range []struct {
		name, claim string
		proved      string // for each way, y or n
	}{
		// Half a unit in the last place of a product below 4.
		{"product", "x in [1, 2] /\\ y in [1, 2] -> |result - x * y| <= 1b-52", "y"},
		{"product", "x in [1, 2] /\\ y in [1, 2] -> |result - x * y| <= 1b-53", "n"},
		// Two roundings, or one.
		{"line.at", "l_slope in [0, 1] /\\ x in [0, 1] /\\ l_start in [0, 0.9] -> |result - (l_slope * x + l_start)| <= 3b-54", "yy"},
		{"line.at", "l_slope in [0, 1] /\\ x in [0, 0.4] /\\ l_start in [0, 0.5] -> |result - (l_slope * x + l_start)| <= 1b-54", "ny"},
		// A fused product is off from the other by the rounding error of the other.
		{"residue", "x in [1, 2] /\\ y in [1, 2] -> |result| <= 0", "ynn"},
		{"residue", "x in [1, 2] /\\ y in [1, 2] -> |result| <= 1b-52", "yyy"},
		{"integers", "@FIX(n, 0) /\\ @FIX(m, 0) /\\ n in [0, 1b20] /\\ m in [0, 1b20] -> result - (n * m + 1) in [0, 0]", "y"},
	} {
		got := ""
		for _, text := range texts(t, s, test.name, test.claim) {
			if Prove(text) == nil {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != test.proved {
			t.Errorf("%s: %s: proved %s, want %s", test.name, test.claim, got, test.proved)
		}
	}
}

// A hint that is not an identity would prove anything.
func TestWrongHintsProveNothing(t *testing.T) {
	need.Program(t, "gappa")
	err := Prove("@rnd = float<ieee_64, ne>; z = rnd(x); { x in [1, 2] -> z - x in [0, 0] }\nz - x -> x - x;")
	if err == nil {
		t.Error("proved by a hint that is wrong")
	}
}

func TestEdit(t *testing.T) {
	s := load(t)
	edited, err := s.Edit("filters.go", "const tenth = 0.1", "const tenth = 0.5")
	if err != nil {
		t.Fatal(err)
	}
	if text := texts(t, edited, "unknowns", "")[0]; !strings.Contains(text, "(1b-1)") {
		t.Errorf("the edit is not in\n%s", text)
	}
	if text := texts(t, s, "unknowns", "")[0]; strings.Contains(text, "(1b-1)") {
		t.Errorf("the edit is in the original:\n%s", text)
	}
	if _, err := s.Edit("filters.go", "x * y", "x"); err == nil {
		t.Error("a text that occurs several times was replaced")
	}
	if _, err := s.Edit("filters.go", "const tenth = 0.1", `const tenth = "a"`); err == nil {
		t.Error("an edit that does not compile was accepted")
	}
}

func TestUnknownFunction(t *testing.T) {
	script := Script{Of: []Function{{Name: "missing"}}}
	if _, err := script.Texts(load(t), "1"); err == nil {
		t.Error("a function that does not exist was translated")
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1b0", -3: "-3b0", 0.1: "3602879701896397b-55", math.MaxFloat64: "9007199254740991b971", 0x1p-1074: "1b-1074",
	} {
		if got := Number(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}
