package release

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

// crowded is a data set of n rows of users. A few of them have most of the rows. Some rows have no
// location. It returns the ids of the rows that are kept if an account may have k, and how many of
// them are charged to each account.
func crowded(n, k int) (text string, kept []string, charged map[string]budget.Amount) {
	rng := rand.New(rand.NewPCG(7, 9))
	var b strings.Builder
	b.WriteString("id,user,lat,lon\n")
	rows := map[string]int{}
	charged = map[string]budget.Amount{}
	for i := range n {
		user := fmt.Sprintf("u%d", int(rng.ExpFloat64()*5))
		switch {
		case rng.IntN(10) == 0:
			fmt.Fprintf(&b, "%d,%s,,2.35\n", i, user)
		default:
			fmt.Fprintf(&b, "%d,%s,48.85,2.35\n", i, user)
			if rows[user]++; k > 0 && rows[user] > k {
				continue
			}
			charged[user] += cost
		}
		kept = append(kept, fmt.Sprint(i))
	}
	return b.String(), kept, charged
}

// ids returns the first cells of the rows of CSV files, without their headers.
func ids(t testing.TB, paths ...string) (all []string) {
	t.Helper()
	for _, path := range paths {
		for _, row := range readCSV(t, path)[1:] {
			all = append(all, row[0])
		}
	}
	return all
}

// The first rows of every account are kept and charged, in the order of the input, and no other.
func TestMaxRows(t *testing.T) {
	for _, k := range []int{1, 3, 40, 100000} {
		dir := t.TempDir()
		text, kept, charged := crowded(3000, k)
		write(t, filepath.Join(dir, "in.csv"), text)
		l, s := openLedger(t, dir), newSpec(dir)
		s.MaxRows, s.Keep = k, []string{"id"}
		f, err := dryRun(s, l)
		check(t, err)
		sum, err := attempt(s, small, l)
		check(t, err)
		if got := ids(t, s.Out); !slices.Equal(got, kept) {
			t.Errorf("at most %d rows: kept %d rows, want %d", k, len(got), len(kept))
		}
		got := spent(t, l)
		if fmt.Sprint(got) != fmt.Sprint(charged) {
			t.Errorf("at most %d rows: charged %v, want %v", k, got, charged)
		}
		if sum.Dropped != int64(3000-len(kept)) || sum.Rows != int64(len(kept)) || f.Dropped != sum.Dropped || f.Locations != sum.Locations {
			t.Errorf("at most %d rows: %+v, %+v", k, sum, f)
		}
		again, err := attempt(s, small, l)
		if err != nil || !again.Repeated {
			t.Errorf("%+v, %v", again, err)
		}
		s.MaxRows++
		s.ID, s.Out = sum.ID, filepath.Join(dir, "other.csv")
		if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "has other settings") {
			t.Errorf("got %v", err)
		}
	}
}

// All rows that may be kept cost the same, and rows of one account may be limited too.
func TestMaxRowsOfSeveralLocations(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "id,user,lat,lon,lat2,lon2\n1,ana,48.85,2.35,48.86,2.36\n2,ana,,,,\n3,ana,48.85,2.35,,\n4,ben,48.85,2.35,48.86,2.36\n5,ana,48.85,2.35,48.86,2.36\n")
	l, s := openLedger(t, dir), newSpec(dir)
	s.MaxRows, s.Keep = 1, []string{"id"}
	s.Lat, s.Lon = []string{"lat", "lat2"}, []string{"lon", "lon2"}
	if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "line 4, it has only 1 of its 2 locations") {
		t.Errorf("got %v", err)
	}
	s.Rejects = filepath.Join(dir, "bad.csv")
	sum, err := attempt(s, small, l)
	check(t, err)
	if got := ids(t, s.Out); !slices.Equal(got, []string{"1", "2", "4"}) || sum.Invalid != 1 || sum.Dropped != 1 || sum.Locations != 4 {
		t.Errorf("kept %v, %+v", got, sum)
	}
	if got := fmt.Sprint(spent(t, l)); got != fmt.Sprint(map[string]budget.Amount{"ana": 2 * cost, "ben": 2 * cost}) {
		t.Errorf("charged %v", got)
	}
	s.Account, s.Rejects, s.Lat, s.Lon, s.Out = "const:all", "", s.Lat[:1], s.Lon[:1], filepath.Join(dir, "one.csv")
	if _, err = attempt(s, small, l); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, s.Out); !slices.Equal(got, []string{"1", "2"}) || spent(t, l)["all"] != cost {
		t.Errorf("kept %v, charged %v", got, spent(t, l))
	}
}
