package main_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/emulate"
)

// ownHost is a host with the SQLite of the static build in it.
func ownHost(name, compiler string) *artefact {
	return &artefact{name: name, make: func(path string) *exec.Cmd {
		return exec.Command("sh", "-c", `sqlite=$(go list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)
			"$1" -w -O0 -I"$sqlite" -o "$0" testdata/shell.c "$sqlite/sqlite3-binding.c" -lm -ldl -lpthread`, path, compiler)
	}}
}

// A host for linux/arm64 that loads the extension built for it gets the answers, errors and charges that one here
// gets, to the last bit of what is not drawn. Both are built anew, which takes minutes: GEOSQL_ARM64 asks for it.
func TestARM64(t *testing.T) {
	if os.Getenv("GEOSQL_ARM64") == "" {
		t.Skip("GEOSQL_ARM64 is not set: it builds the extension for another platform")
	}
	platform, err := emulate.Named("linux/arm64")
	if err != nil {
		t.Fatal(err)
	}
	if missing := platform.Missing(); missing != "" {
		t.Skipf("%s is not installed", missing)
	}
	foreign := artefact{name: "linux-arm64/geosql.so", make: func(path string) *exec.Cmd {
		return exec.Command("make", "-C", "..", "linux-arm64", "BUILD="+filepath.Dir(filepath.Dir(path)))
	}}
	statements := []string{
		`SELECT geo_domain('city', 39.8, 116.2, 40.1, 116.6, 10)`,
		`SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh')`,
		`SELECT budget_limit('ana', 'm', 0.01), budget_limit('ana', 'kWh', 3)`,
		`SELECT printf('%!.17g %!.17g %!.17g', geoind_radius(0.005, 0.95, 'city'), geoind_confidence(0.005, 700), lbs_radius(0.005, 0.9, 300, 'city'))`,
		`SELECT printf('%!.17g %!.17g', dx_radius('sum', 0.95, 0.3, 'halfhour'), geoind_delta(0.0001, 100, 1))`,
		`SELECT geo_cell(39.91, 116.31, 250, 'city')`,
		`SELECT geoind_laplace('ana', 39.9, 116.3, 0.005) LIKE 'POINT(116.%'`,
		`SELECT dx_sum('ana', x, 1, 'halfhour') >= 0 FROM (SELECT 1.5 AS x UNION ALL SELECT 2)`,
		`SELECT geoind_laplace('ana', 39.9, 116.3, 0.0051)`,
		`SELECT geoind_laplace('bo', 39.9, 116.3, 0.001)`,
		`SELECT geoind_laplace('ana', 99, 116.3, 0.001)`,
		`SELECT account, unit, spent, remaining FROM ledger_balance ORDER BY unit`,
	}
	says := func(cmd *exec.Cmd) string {
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
		return string(out)
	}
	arguments := func(library string) []string {
		return append([]string{library, filepath.Join(t.TempDir(), "city.db")}, statements...)
	}
	want := says(exec.Command(ownHost("shell", "gcc").path(t), arguments(library.path(t))...))
	host, err := platform.Command(context.Background(), ownHost("shell-arm64", platform.Compiler).path(t), arguments(foreign.path(t))...)
	if err != nil {
		t.Fatal(err)
	}
	got := says(host)
	t.Logf("both say\n%s", want)
	if got != want {
		t.Errorf("linux/arm64 says\n%s\nand this machine\n%s", got, want)
	}
	for _, part := range []string{"ana|kWh|1.0|2.0", "ana|m|0.005|0.005", "account 'ana' has 0.0050/m left"} {
		if !strings.Contains(want, part) {
			t.Errorf("no %q in what both say", part)
		}
	}
}
