package release

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	_ "github.com/geosql/geosql/dataset/sqlite" // tables of SQLite in, GeoPackages out
	"github.com/geosql/geosql/ledger"
	ledgerfile "github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/release/internal/accounts"
)

// isPrivate reports whether a file is for its owner alone. Windows has no modes that could say so.
func isPrivate(info os.FileInfo) bool { return info.Mode() == 0o600 || runtime.GOOS == "windows" }

// failer is the common interface of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
}

func check(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// city is a domain of 10 m steps, and cost is the cost of a location in these tests.
var city = Box{South: 48.80, West: 2.22, North: 48.91, East: 2.48}

const cost budget.Amount = 0.01e12

// small are sizes that make a data set of some thousand rows a large one.
var small = sizes{batch: 100, accounts: accounts.Limits{Tally: 10, Merge: 3}, charge: 20}

// newSpec is a release of the file in.csv of a folder to out.csv.
func newSpec(dir string) Spec {
	limit := 1000 * cost
	return Spec{
		In: filepath.Join(dir, "in.csv"), Out: filepath.Join(dir, "out.csv"),
		Account: "user", Lat: []string{"lat"}, Lon: []string{"lon"},
		Epsilon: big.NewRat(1, 100), Box: city, Step: 10,
		Limit: &limit, Workers: 3,
	}
}

func openLedger(t testing.TB, dir string) ledger.Ledger {
	t.Helper()
	l, err := ledgerfile.Open(filepath.Join(dir, "ledger"), true)
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func attempt(s Spec, z sizes, l ledger.Ledger) (*Summary, error) {
	return (&run{spec: &s, sizes: z, ledger: l}).run(context.Background())
}

func write(t testing.TB, path, text string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), 0o600))
}

// people is a data set of n rows of so many users, in the middle of the city.
func people(n, users int) string {
	var b strings.Builder
	b.WriteString("id,user,lat,lon\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,u%d,%.5f,%.5f\n", i, i%users, 48.85+float64(i%7)/1000, 2.35-float64(i%11)/1000)
	}
	return b.String()
}

// readCSV reads a file of csv; the first row is the header.
func readCSV(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	check(t, err)
	return rows
}

func float(t testing.TB, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	check(t, err)
	return x
}

// inFolder are the names of the files in a folder, but for the ledger's.
func inFolder(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "ledger") {
			names = append(names, e.Name())
		}
	}
	return names
}

func wantFolder(t testing.TB, dir string, want ...string) {
	t.Helper()
	if got := inFolder(t, dir); !slices.Equal(got, want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

// spent returns the spending of every account, per metre.
func spent(t testing.TB, l ledger.Ledger) map[string]budget.Amount {
	t.Helper()
	all := map[string]budget.Amount{}
	for b, err := range ledger.AllBalances(l) {
		check(t, err)
		if b.Reserved != 0 || b.Unit != budget.Metre {
			t.Errorf("balance %+v", b)
		}
		if b.Spent != 0 {
			all[b.Account] = b.Spent
		}
	}
	return all
}
