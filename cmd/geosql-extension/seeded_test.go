package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// forTests is geosql_test.so, as everybody builds it.
var forTests = artefact{name: "geosql_test.so", make: func(path string) *exec.Cmd {
	return exec.Command("make", "-C", "../..", "test-extension", "BUILD="+filepath.Dir(path))
}}

// The build for tests gives the same answers in every process and host, warns once for each connection that releases something,
// and does not share a ledger with the real one.
func TestForTests(t *testing.T) {
	const warning = "geosql: this is the build for tests: answers can be predicted and are not private\n"
	real, path := declared(t, 1)
	if err := release(real); err != nil {
		t.Fatal(err)
	}
	real.Close()
	var answers string
	for _, h := range hosts(t) {
		folder := t.TempDir()
		cmd := h.script(t, forTests.path(t), "seeded.py", filepath.Join(folder, "one.db"), filepath.Join(folder, "two.db"), path, sqlitefn.Version)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", h.name, err, &said)
		}
		if got := said.String(); got != strings.Repeat(warning, 5) {
			t.Errorf("%s: says\n%s", h.name, got)
		}
		if answers != "" && out.String() != answers {
			t.Errorf("%s answers %s, and another %s", h.name, &out, answers)
		}
		answers = out.String()
		// The real one, after it.
		_, got, err := shell(t, filepath.Join(folder, "one.db"), `SELECT geoind_laplace('ana', 39.9, 116.3, 0.25);`)
		if err == nil || !strings.Contains(got, ", and a test made that ledger: its answers could be predicted, and only a test may use it") {
			t.Errorf("%v, %s", err, got)
		}
	}
}

// A copy of it under the real name is not loaded, and the real one has nothing of it.
func TestForTestsIsNotTheRealOne(t *testing.T) {
	needTools(t, "sqlite3")
	for library, has := range map[*artefact]bool{&library: false, &forTests: true} {
		content, err := os.ReadFile(library.path(t))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte("sqlitefntest")) != has || bytes.Contains(content, []byte("GEOSQL_TEST_SEED")) != has {
			t.Errorf("%s: not as it has to be", library.name)
		}
		if !has {
			continue
		}
		renamed := filepath.Join(t.TempDir(), "geosql.so")
		if err := os.WriteFile(renamed, content, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sqlite3", ":memory:", ".load "+renamed).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "sqlite3_geosql_init") {
			t.Errorf("%v, %s", err, out)
		}
	}
}
