package main

import (
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/geosql/geosql/sqlitefn"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Position is a row of the table positions.
type Position struct {
	Person   string
	Lat, Lon float64
}

// Released is where somebody is said to be.
type Released struct {
	Person   string
	Lat, Lon float64
}

func main() {
	pool := sql.OpenDB(sqlitefn.Connector("city.db")) // all of its connections have the functions
	defer pool.Close()
	db, err := gorm.Open(sqlite.Dialector{Conn: pool}, &gorm.Config{Logger: logger.Discard, TranslateError: true})
	check(err)
	check(db.AutoMigrate(&Position{}))
	check(db.Create([]Position{{"ana", 48.8566, 2.3522}, {"bo", 48.8606, 2.3376}}).Error)
	check(db.Exec(`SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.47, 1)`).Error)
	check(db.Exec(`SELECT budget_limit('*', 'm', 0.05)`).Error)

	var released []Released
	check(db.Table("positions AS p, geoind_laplace(p.person, p.lat, p.lon, ?) AS g", 0.01).
		Select("p.person, g.lat, g.lon").Scan(&released).Error)
	for _, r := range released {
		fmt.Println(r.Person, r.Lat, r.Lon)
	}

	err = db.Raw(`SELECT geoind_laplace(?, lat, lon, ?) FROM positions`, "ana", 0.1).Scan(new(string)).Error
	fmt.Println(err) // refused: all of it is asked of ana, who has 0.04 left
	var refused *sqlitefn.RefusedError
	if errors.As(err, &refused) {
		fmt.Println(refused.Account, "needs", refused.Short, "more per", refused.Unit)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
