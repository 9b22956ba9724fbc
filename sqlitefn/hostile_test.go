package sqlitefn_test

import (
	"context"
	"strings"
	"testing"
	"time"
)

// hostileReads are statements that read each of the tables that geosql keeps in a database.
var hostileReads = map[string]string{
	"geosql_ledger":         `SELECT dx_value('ana', 1, 1, 'u')`,
	"geosql_universe":       `SELECT dx_value('ana', 1, 1, 'u')`,
	"geosql_domain":         `SELECT geoind_laplace('ana', 39.9, 116.3, 1)`,
	"geosql_region":         hostileRegion,
	"geosql_optimal":        `SELECT optql_report('homes')`,
	"geosql_prior":          `SELECT geoind_remap(39.9, 116.3, 'squares', 0.001, 'beijing')`,
	"geosql_markov":         `SELECT markov_info('taxis')`,
	"geosql_cip":            `SELECT cip_sigma('[0, 1, 2]', 'ten')`,
	"geosql_trace":          `SELECT trace_policy('bus', 'ana', 'predictive', '{"epsilon": 1, "steps": 5}')`,
	"geosql_sealed":         `SELECT dx_value(kwh, 1) FROM s`,
	"geosql_sealed_session": `SELECT dx_value(kwh, 1) FROM s`,
	"geosql_sealed_account": `SELECT dx_value(kwh, 1) FROM s`,
}

const hostileRegion = `SELECT geo_region('beijing', 'POLYGON((115.5 39.5, 117.5 39.5, 117.5 41, 115.5 41, 115.5 39.5))')`

// hostileWays put something else in the place of TABLE, which was renamed to kept. CALL stands for a call of a function.
var hostileWays = map[string][]string{
	"view":              {`CREATE VIEW TABLE AS SELECT * FROM kept`},
	"endless view":      {`CREATE VIEW TABLE AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT kept.* FROM r, kept WHERE i < 0`},
	"view that calls":   {`CREATE VIEW TABLE AS SELECT * FROM kept WHERE CALL IS NOT NULL`},
	"virtual table":     {`CREATE VIRTUAL TABLE TABLE USING rtree(id, low, high)`},
	"generated column":  {`CREATE TABLE TABLE(COLUMNS, extra AS (1))`},
	"default":           {`CREATE TABLE TABLE(COLUMNS, extra DEFAULT (abs(1)))`},
	"check":             {`CREATE TABLE TABLE(COLUMNS, CHECK (abs(1)))`},
	"collation":         {`CREATE TABLE TABLE(COLUMNS, extra TEXT COLLATE NOCASE)`},
	"comment":           {`CREATE TABLE TABLE(COLUMNS /* CHECK */)`},
	"trigger":           {`CREATE TABLE TABLE(COLUMNS)`, `CREATE TRIGGER hook BEFORE INSERT ON TABLE BEGIN SELECT 1; END`},
	"expression index":  {`CREATE TABLE TABLE(COLUMNS)`, `CREATE INDEX hook ON TABLE(abs(FIRST))`},
	"conditional index": {`CREATE TABLE TABLE(COLUMNS)`, `CREATE INDEX hook ON TABLE(FIRST) WHERE abs(FIRST)`},
}

// hostileDatabase returns a database in which all of geosql's tables are in use.
func hostileDatabase(t *testing.T) *sealedDatabase {
	d := newSealed(t, sealedRows)
	d.run(declarations[3:]...)
	d.run(hostileRegion,
		`SELECT markov_store('taxis', markov_train('tram', id, 39.9, 116.3, 'beijing', 20000, 60)) FROM p`,
		`SELECT cip_policy('ten', '{"kernel": "rbf", "variance": 1, "length_scale": 1, "radius": 1, "lambda": 2, "family": "every-other", "sigma2": 1, "epsilon": 100}')`,
		`SELECT trace_policy('bus', 'ana', 'predictive', '{"epsilon": 1, "steps": 5}')`)
	return d
}

// Nothing in the place of a table of geosql's is evaluated: it does not spin, call the function that reads it, or charge an
// account that the statement does not name.
func TestHostileTables(t *testing.T) {
	t.Parallel()
	for table, read := range hostileReads {
		d := hostileDatabase(t)
		d.again().run(read)
		charged := d.evaluations()
		var columns []string
		for _, row := range d.rows(`SELECT name FROM pragma_table_info(?)`, table) {
			columns = append(columns, row[0].(string))
		}
		d.run(`ALTER TABLE ` + table + ` RENAME TO kept`)
		for way, statements := range hostileWays {
			for _, call := range []string{`(` + read + `)`, `dx_value('bo', 1, 1, 'bit')`} {
				t.Run(table+"/"+way, func(t *testing.T) {
					d := &sealedDatabase{database: d.with(t), key: d.key}
					t.Cleanup(func() { d.try(`DROP TABLE ` + table); d.try(`DROP VIEW ` + table) })
					for _, sql := range statements {
						d.run(strings.NewReplacer("TABLE TABLE", "TABLE "+table, "VIEW TABLE", "VIEW "+strings.ToUpper(table), "ON TABLE", "ON "+table,
							"COLUMNS", strings.Join(columns, ", "), "FIRST", columns[0], "CALL", call).Replace(sql))
					}
					d.again().failsSoon(read, table)
				})
			}
		}
		d.run(`ALTER TABLE kept RENAME TO ` + table)
		if now := d.evaluations(); now != charged {
			t.Errorf("%s: %d evaluations were charged", table, now-charged)
		}
		d.again().run(read)
	}
}

// failsSoon checks that a statement fails, and does not have to be interrupted for that.
func (d *database) failsSoon(query string, parts ...string) {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var got any
	err := d.conn.QueryRowContext(ctx, query).Scan(&got)
	if err == nil || ctx.Err() != nil {
		d.Fatalf("%s\nanswers %v, %v", query, got, err)
	}
	d.mentions(err, parts...)
}

// A temporary trigger is the connection's own, and not in the file. Still it does not call functions while geosql writes.
func TestTemporaryTriggers(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TEMP TRIGGER again AFTER INSERT ON main.geosql_universe BEGIN SELECT dx_universe('w', 0, 1, 1, 'kWh'); END`,
		`CREATE TEMP TRIGGER charges AFTER INSERT ON main.geosql_cip BEGIN SELECT dx_value('bo', 1, 1, 'u'); END`)
	d.failsSoon(`SELECT dx_universe('v', 0, 1, 1, 'kWh')`, "may not be called while geosql uses its own tables")
	d.failsSoon(`SELECT cip_policy('ten', '{"kernel": "rbf", "variance": 1, "length_scale": 1, "radius": 1, "lambda": 2, "family": "every-other", "sigma2": 1, "epsilon": 100}')`,
		"may not be called while geosql uses its own tables")
	d.spends("bo", "kWh", 0)
	d.run(`DROP TRIGGER again`, `DROP TRIGGER charges`, `SELECT dx_universe('v', 0, 1, 1, 'kWh')`)
}

// An attached database is no more to be trusted than the main one.
func TestHostileAttachedDatabase(t *testing.T) {
	d := declared(t)
	d.run(`ATTACH ':memory:' AS "o.geosql_"`, `CREATE VIEW "o.geosql_".geosql_ledger AS WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r) SELECT id FROM r WHERE id < 0`)
	d.failsSoon(`SELECT dx_value('ana', 1, 1, 'u')`, "geosql_ledger is a view")
	d.spends("ana", "kWh", 0)
}

// An owner may have triggers, views and columns that compute, in all other tables, and indexes on geosql's.
func TestHonestSchemas(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.run(`CREATE VIEW sums AS SELECT dx_sum(kwh, 100) AS sum FROM s`, `CREATE VIEW geosql_sums AS SELECT * FROM sums`,
		`CREATE VIEW accounts AS SELECT pseudonym FROM geosql_sealed_account`, `CREATE UNIQUE INDEX mine ON geosql_sealed_account (pseudonym , sealed)`,
		`CREATE TABLE extra(x, y AS (x + 1) CHECK (y > 0))`, `CREATE TRIGGER counts AFTER INSERT ON s BEGIN INSERT INTO extra VALUES (1); END`,
		`ALTER TABLE geosql_universe RENAME TO a`, `ALTER TABLE a RENAME TO geosql_universe`, `VACUUM`)
	d.again().answers(`SELECT sum FROM geosql_sums`, "[[23]]")
	d.run(`SELECT dx_universe('v', 0, 1, 1, 'kWh')`)
}
