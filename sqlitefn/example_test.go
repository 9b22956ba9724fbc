//go:build !geosql_loadable

package sqlitefn_test

import (
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/sqlitefn"
)

// A program that is refused learns which account is short, and of how much.
func ExampleRefusedError() {
	db := sql.OpenDB(sqlitefn.Connector(":memory:"))
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection to :memory: has a database of its own
	for _, statement := range []string{
		`SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh')`,
		`SELECT budget_limit('*', 'kWh', 2)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			log.Fatal(err)
		}
	}
	var kWh float64
	err := db.QueryRow(`SELECT dx_value('meter 17', 0.214, 2.5, 'halfhour')`).Scan(&kWh)
	var refused *sqlitefn.RefusedError
	if errors.As(err, &refused) {
		fmt.Printf("%s has %v of %v per %s, %v short\n", refused.Account, refused.Left, refused.Asked, refused.Unit, refused.Short)
	}
	// Output: meter 17 has 2 of 2.5 per kWh, 0.5 short
}

// The owner of a database declares where locations lie and how much may be spent on each
// person. Locations are then released, with noise, until that is spent.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	db := sql.OpenDB(sqlitefn.Connector(filepath.Join(folder, "city.db"))) // the ledger is city.db-ledger
	defer db.Close()

	for _, statement := range []string{
		`CREATE TABLE position(person TEXT, lat REAL, lon REAL)`,
		`INSERT INTO position VALUES ('ana', 48.8566, 2.3522), ('bo', 48.8606, 2.3376)`,
		`SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.47, 1)`,
		`SELECT budget_limit('*', 'm', 0.05)`,
		`CREATE TABLE released AS
			SELECT p.person, g.lat, g.lon FROM position AS p, geoind_laplace(p.person, p.lat, p.lon, 0.01) AS g`,
	} {
		if _, err := db.Exec(statement); err != nil {
			log.Fatal(err)
		}
	}
	var within float64
	if err := db.QueryRow(`SELECT geoind_radius(0.01, 0.95, 'paris')`).Scan(&within); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("95 of 100 released locations are at most %.0f m off\n", within)

	// A release that ana's budget does not cover is refused.
	err = db.QueryRow(`SELECT geoind_laplace('ana', 48.8566, 2.3522, 0.1)`).Scan(new(string))
	fmt.Println(err)

	rows, err := db.Query(`SELECT account, spent, remaining FROM ledger_balance WHERE account <> '*' ORDER BY account`)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var account string
		var spent, remaining float64
		if err := rows.Scan(&account, &spent, &remaining); err != nil {
			log.Fatal(err)
		}
		fmt.Println(account, "spent", spent, "and has", remaining, "left")
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 95 of 100 released locations are at most 475 m off
	// geoind_laplace: account 'ana' has 0.04/m left of 0.05/m, 0.10/m asked, 0.06/m short
	// ana spent 0.01 and has 0.04 left
	// bo spent 0.01 and has 0.04 left
}

// The accuracy of a sum, and the accounts that it will charge, are known before it is asked for. A
// dry run charges and draws nothing.
func Example_cost() {
	db := sql.OpenDB(sqlitefn.Connector(":memory:"))
	defer db.Close()
	db.SetMaxOpenConns(1) // another connection would have another database in memory

	for _, statement := range []string{
		`CREATE TABLE reading(meter TEXT, kwh REAL)`,
		`INSERT INTO reading VALUES ('m1', 0.412), ('m1', 0.388), ('m2', 1.207)`,
		`SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh')`,
		`SELECT budget_limit('*', 'kWh', 5)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			log.Fatal(err)
		}
	}
	var within float64
	if err := db.QueryRow(`SELECT dx_radius('sum', 0.95, 2, 'halfhour')`).Scan(&within); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the sum will be off by at most", within, "kWh with probability 0.95")

	rows, err := db.Query(`SELECT account, epsilon, remaining
		FROM budget_cost('SELECT dx_sum(meter, kwh, 2, ''halfhour'') FROM reading') ORDER BY account`)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var account string
		var epsilon, remaining float64
		if err := rows.Scan(&account, &epsilon, &remaining); err != nil {
			log.Fatal(err)
		}
		fmt.Println(account, "would be charged", epsilon, "of", remaining)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// the sum will be off by at most 1.498 kWh with probability 0.95
	// m1 would be charged 2 of 5
	// m2 would be charged 2 of 5
}
