//go:build !geosql_loadable

package sqlitefn_test

import (
	"database/sql"
	"fmt"
	"log"

	"github.com/geosql/geosql/sqlitefn"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// A program that has a driver of its own calls Register in its ConnectHook, beside other work.
func init() {
	sql.Register("sqlite3_private", &sqlite3.SQLiteDriver{
		ConnectHook: func(conn *sqlite3.SQLiteConn) error { return sqlitefn.Register(conn) },
	})
}

func ExampleRegister() {
	db, err := sql.Open("sqlite3_private", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	var line string
	if err := db.QueryRow(`SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh')`).Scan(&line); err != nil {
		log.Fatal(err)
	}
	fmt.Println(line)
	// Output: halfhour: 0 to 10 in steps of 0.001 kWh, 10001 values
}
