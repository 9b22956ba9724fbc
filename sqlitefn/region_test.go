package sqlitefn_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"
	"testing"
)

const (
	island = `POLYGON((117 40, 117.5 40, 117.5 40.5, 117 40))`

	onIsland = `SELECT lon >= 117 FROM geoind_laplace('ana', 40.25, 116.5, 1)`
	inMiddle = `SELECT lat BETWEEN 40.2499 AND 40.2501 AND lon BETWEEN 116.4999 AND 116.5001 FROM geoind_laplace('ana', 40.25, 116.5, 100)`
)

// forgedRows are those of a region that has the middle of the box and nothing else, as
// planar.Domain.RegionRows describes them, with the checksum of the island's.
func forgedRows() []byte {
	const version, middle = "\x02", "\x00\x00\x00"
	var covered []byte
	for _, v := range []float64{39.4, 115.4, 41.1, 117.6, 1} { // the domain beijing of declarations
		covered = binary.BigEndian.AppendUint64(covered, math.Float64bits(v))
	}
	covered = append(covered, island+middle...)
	checksum := crc64.Checksum(covered, crc64.MakeTable(crc64.ECMA))
	return append(binary.BigEndian.AppendUint64([]byte(version), checksum), middle...)
}

// geo_region stores the rows of a region, and other connections take them as they are.
func TestRegionRowsAreStored(t *testing.T) {
	d := declared(t)
	d.run(`SELECT geo_region('beijing', '` + island + `')`)
	d.answers(`SELECT domain, length(rows) > 10000 FROM geosql_region`, `[[beijing 1]]`)
	d.run(fmt.Sprintf(`UPDATE geosql_region SET rows = x'%x'`, forgedRows()))
	d.answers(onIsland, `[[1]]`) // this connection keeps its region
	open(t, d.path).answers(inMiddle, `[[1]]`)
}

// Rows that are missing, damaged or another region's are computed anew, and stored by
// a connection that declares the region again.
func TestRegionRowsAreComputedAnew(t *testing.T) {
	d := declared(t)
	d.run(`SELECT geo_region('beijing', '`+island+`')`,
		`CREATE TABLE kept AS SELECT rows FROM geosql_region`,
		`SELECT geo_domain('other', 39.4, 115.4, 41.1, 117.6, 2), geo_region('other', '`+island+`')`)
	for _, loss := range []string{
		`DELETE FROM geosql_region WHERE domain = 'beijing'`,
		`UPDATE geosql_region SET rows = substr(rows, 1, length(rows) - 1) WHERE domain = 'beijing'`,
		`UPDATE geosql_region SET rows = (SELECT rows FROM geosql_region WHERE domain = 'other') WHERE domain = 'beijing'`,
		`UPDATE geosql_region SET rows = 'text' WHERE domain = 'beijing'`,
		`DROP TABLE geosql_region`, // as an earlier version leaves it
	} {
		d.run(loss)
		later := open(t, d.path)
		later.answers(`SELECT lon >= 117 FROM geoind_laplace('ana', 40.25, 116.5, 1, 'beijing')`, `[[1]]`)
		later.run(`SELECT geo_region('beijing', '` + island + `')`)
		d.answers(`SELECT kept.rows = r.rows FROM kept, geosql_region AS r WHERE domain = 'beijing'`, `[[1]]`)
		later.close()
	}
}

// Rows go where the declaration goes.
func TestRegionRowsRollBack(t *testing.T) {
	d := declared(t)
	d.run(`BEGIN`, `SELECT geo_region('beijing', '`+island+`')`, `ROLLBACK`)
	d.answers(`SELECT count(*) FROM geosql_domain WHERE region IS NOT NULL`, `[[0]]`)
	d.answers(inMiddle, `[[1]]`)
	d.run(`SELECT geo_region('beijing', 'POLYGON((115.5 40, 116 40, 116 40.5, 115.5 40))')`)
	open(t, d.path).answers(`SELECT lon <= 116 FROM geoind_laplace('ana', 40.25, 116.5, 1)`, `[[1]]`)
}
