package gappa

import (
	"fmt"
	"os/exec"
	"strings"
)

// A Script claims a bound on the results of functions.
type Script struct {
	Name string

	// Of are the functions, in order: their definitions follow each other.
	Of []Function

	// Before and After are Gappa's definitions before and after those of the functions:
	// the facts about the unknowns, and the exact values.
	Before, After string

	// Claim is Gappa's logical formula. @F@ in it stands for a factor, 1 unless it is asked
	// how much smaller the bound could be.
	Claim string

	// Hints are rewriting rules and splittings. Gappa checks that a rule is an identity. It only warns where
	// it takes a denominator for nonzero that no condition of the rule names.
	Hints string
}

// A Function is a function to translate.
type Function struct {
	Name   string            // "f" or "T.f"
	Prefix string            // of the names of its variables
	Bound  map[string]string // names of unknowns
	Only   []string          // the definitions that are used, if not all
}

// maxVariants bounds the combinations of fused operations of a script.
const maxVariants = 4096

// Texts returns the text of the script for every way to compute the functions: the first
// without fused multiply-add, and all others, which differ, with it.
func (c *Script) Texts(s *Source, factor string) ([]string, error) {
	var translations []*translation
	for _, f := range c.Of {
		t, err := s.function(f.Name, f.Prefix, f.Bound)
		if err != nil {
			return nil, err
		}
		if len(f.Only) > 0 {
			t.keep(f.Only)
		}
		translations = append(translations, t)
	}
	var texts []string
	seen := map[string]bool{}
	for v := (&variant{}); ; {
		var b strings.Builder
		fmt.Fprintf(&b, "@rnd = float<ieee_64, ne>;\n%s\n", c.Before)
		for _, t := range translations {
			t.print(&b, v)
		}
		fmt.Fprintf(&b, "%s\n{ %s }\n%s\n", c.After, strings.ReplaceAll(c.Claim, "@F@", factor), c.Hints)
		if text := b.String(); !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
		if len(texts) > maxVariants {
			return nil, fmt.Errorf("%s: more than %d ways to fuse operations", c.Name, maxVariants)
		}
		if !v.advance() {
			return texts, nil
		}
	}
}

// keep drops the definitions on which none of some variables depends.
func (t *translation) keep(names []string) {
	used := map[string]bool{}
	for _, n := range names {
		used[n] = true
	}
	var mark func(n *node)
	mark = func(n *node) {
		if n.op == variable {
			used[n.name] = true
		}
		for _, a := range n.args {
			mark(a)
		}
	}
	var kept []definition
	for i := len(t.definitions) - 1; i >= 0; i-- {
		if d := t.definitions[i]; used[d.name] {
			mark(d.value)
			kept = append([]definition{d}, kept...)
		}
	}
	t.definitions = kept
}

// Prove runs Gappa on a script, and returns an error with Gappa's output unless it proves the claim.
func Prove(text string) error {
	run := exec.Command("gappa", "-Eno-auto-dichotomy")
	run.Stdin = strings.NewReader(text)
	out, err := run.CombinedOutput()
	if err != nil {
		return fmt.Errorf("gappa: %w\n%s\n%s", err, out, text)
	}
	if strings.Contains(string(out), "not trivially equal") { // a wrong hint would prove anything
		return fmt.Errorf("gappa does not follow a hint\n%s\n%s", out, text)
	}
	return nil
}
