package release_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/release"
)

// A file of homes is published with noise in every location. The ledger charges each person
// for the locations that are theirs.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	homes := filepath.Join(folder, "homes.csv")
	const rows = "person,lat,lon,year\nana,48.8566,2.3522,2025\nbo,48.8606,2.3376,2025\nana,48.8529,2.3500,2026\n"
	if err := os.WriteFile(homes, []byte(rows), 0o600); err != nil {
		log.Fatal(err)
	}
	l, err := file.Open(filepath.Join(folder, "ledger"), true)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	limit := budget.One
	summary, err := release.Run(context.Background(), release.Spec{
		In: homes, Out: filepath.Join(folder, "released.csv"),
		Account: "person", Lat: []string{"lat"}, Lon: []string{"lon"}, Keep: []string{"year"},
		Epsilon: big.NewRat(1, 100), // per metre
		Box:     release.Box{South: 48.80, West: 2.22, North: 48.91, East: 2.47}, Step: 1,
		Limit: &limit, // for everybody who has none
	}, l)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Locations, "locations of", summary.Accounts, "accounts in", filepath.Base(summary.Out))
	fmt.Printf("%.0f m off in the mean, at most %.0f m in 95 of 100 cases\n", summary.Mean, summary.Within95)
	ana, err := l.Balance("ana", budget.Metre)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ana spent", ana.Spent, "and has", ana.Remaining(), "left")
	// Output:
	// 3 locations of 2 accounts in released.csv
	// 201 m off in the mean, at most 475 m in 95 of 100 cases
	// ana spent 0.02 and has 0.98 left
}
