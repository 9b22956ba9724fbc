package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                          "module a",
		"b/b_test.go":                     "package b\n\nfunc FuzzB(f *testing.F) {\n}\n\nfunc FuzzA(fuzz *testing.F) {\n}\n",
		"b/b.go":                          "package b\n\nfunc FuzzNot(f *testing.F) {\n}\n",
		"b/helper_test.go":                "package b\n\nfunc fuzzNot(f *testing.F) {\n}\n\nfunc FuzzOther(n int) {\n}\n// func FuzzComment(f *testing.F) {\n",
		"b/testdata/c/c_test.go":          "package c\n\nfunc FuzzNot(f *testing.F) {\n}\n",
		".git/c_test.go":                  "package c\n\nfunc FuzzNot(f *testing.F) {\n}\n",
		"module/go.mod":                   "module m",
		"module/c/c_test.go":              "package c\n\nfunc FuzzC(f *testing.F) {\n}\n",
		"module/node_modules/c/c_test.go": "package c\n\nfunc FuzzNot(f *testing.F) {\n}\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	names := func(only string) (all []string) {
		targets, err := find(".", regexp.MustCompile(only))
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			all = append(all, target.String())
		}
		return all
	}
	if got, want := strings.Join(names(""), " "), "b/FuzzB b/FuzzA module/c/FuzzC"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if got := names("^b/FuzzB"); !slices.Equal(got, []string{"b/FuzzB"}) {
		t.Errorf("found %s", got)
	}
	targets, _ := find(".", regexp.MustCompile("FuzzC"))
	if want := (target{"module", "c", "FuzzC"}); len(targets) != 1 || targets[0] != want {
		t.Errorf("found %+v, want %+v", targets, want)
	}
}

// The last line of progress has the result of a run.
func TestProgress(t *testing.T) {
	const output = `fuzz: elapsed: 0s, gathering baseline coverage: 0/19 completed
fuzz: elapsed: 0s, gathering baseline coverage: 19/19 completed, now fuzzing with 1 workers
fuzz: elapsed: 3s, execs: 13703 (6637/sec), new interesting: 2 (total: 21)
fuzz: elapsed: 4s, execs: 20000 (6637/sec), new interesting: 5 (total: 24)
PASS
`
	var r result
	r.read([]byte(output))
	if r.executions != 20000 || r.interesting != 5 || r.seeds != 19 {
		t.Errorf("%+v", r)
	}
	if text := r.String(); strings.Contains(text, "seeds") {
		t.Error(text)
	}
	r = result{}
	r.read([]byte(output[:62]))
	if text := r.String(); !strings.Contains(text, "not all seeds") {
		t.Error(text)
	}
}

// The end of the time is no failure, an input that fails is one.
func TestRanOut(t *testing.T) {
	const begin = "fuzz: elapsed: 0s, gathering baseline coverage: 4/4 completed, now fuzzing with 1 workers\n--- FAIL: FuzzA (8.10s)\n"
	for output, want := range map[string]bool{
		begin + "    context deadline exceeded\nFAIL\nexit status 1\n":                                                                     true,
		begin + "    --- FAIL: FuzzA (0.00s)\n        a_test.go:7: context deadline exceeded\n    \n    Failing input written to testdata": false,
		begin + "    fuzzing process hung or terminated unexpectedly: exit status 2\n    Failing input written to testdata":                false,
		"# package\na_test.go:7: undefined: x\nFAIL\n":                                                                                     false,
	} {
		var r result
		r.read([]byte(output))
		if got := r.ranOut(); got != want {
			t.Errorf("%q: %v", output, got)
		}
	}
}
