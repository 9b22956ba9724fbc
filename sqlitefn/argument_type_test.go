package sqlitefn_test

import (
	"strings"
	"testing"
)

// An error about a type names the column and the condition that finds the rows. It shows values
// that are public, and no secret.
func TestWrongTypes(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE r (meter, "k w h", kwh, lat, lon, eps, [odd] TEXT)`,
		`INSERT INTO r VALUES (7.5, '0,5', '0,5', '39,9', x'31', '0,5', '0,5'), (NULL, 1, 1, 1, 1, 1, 1)`,
		`CREATE VIEW v AS SELECT dx_value('ana', kwh, 1, 'u') AS x FROM r`)
	for query, want := range map[string]string{
		// secrets
		`SELECT dx_sum('ana', kwh, 1, 'u') FROM r`:                                `dx_sum: x must be a number, got TEXT in kwh; WHERE typeof(kwh) = 'text' finds such rows (all, if kwh was imported as TEXT)`,
		`SELECT DX_SUM ( 'a,(b', r.kwh , 1, 'u') FROM r`:                          `dx_sum: x must be a number, got TEXT in r.kwh; WHERE typeof(r.kwh) = 'text' finds such rows (all, if r.kwh was imported as TEXT)`,
		`SELECT dx_sum('ana', main.r."k w h", 1, 'u') FROM r`:                     `dx_sum: x must be a number, got TEXT in main.r."k w h"; WHERE typeof(main.r."k w h") = 'text' finds such rows (all, if main.r."k w h" was imported as TEXT)`,
		`SELECT geoind_laplace('ana', 39.9, lon, 1) FROM r`:                       `geoind_laplace: lon must be a number, got BLOB in lon; WHERE typeof(lon) = 'blob' finds such rows`,
		`SELECT g.lat FROM r, geoind_laplace('ana', r.lat, 116.3, 1) AS g`:        `geoind_laplace: lat must be a number, got TEXT in r.lat; WHERE typeof(r.lat) = 'text' finds such rows (all, if r.lat was imported as TEXT)`,
		`SELECT dx_value('ana', kwh, 1, 'u'), dx_value('bo', kwh, 1, 'u') FROM r`: `dx_value: x must be a number, got TEXT in kwh; WHERE typeof(kwh) = 'text' finds such rows (all, if kwh was imported as TEXT)`,
		`SELECT dx_value('ana', 1, 1, 'u'), dx_value('ana', kwh, 1, 'u') FROM r`:  `dx_value: x must be a number, got TEXT`,
		`SELECT dx_value('ana', kwh || '', 1, 'u') FROM r`:                        `dx_value: x must be a number, got TEXT`,
		`SELECT dx_value('ana', '0,5', 1, 'u') FROM r`:                            `dx_value: x must be a number, got TEXT`,
		`SELECT dx_value('ana', [odd], 1, 'u') FROM r`:                            `dx_value: x must be a number, got TEXT`,
		`SELECT * FROM v`: `dx_value: x must be a number, got TEXT`,
		"SELECT dx_value('ana', /* dx_value(a, b) */ 1, 1, 'u'), -- dx_value(a, b\n dx_sum('ana', kwh, 1, 'u') FROM r": `dx_sum: x must be a number, got TEXT in kwh; WHERE typeof(kwh) = 'text' finds such rows (all, if kwh was imported as TEXT)`,
		`SELECT * FROM budget_cost('SELECT dx_sum(''ana'', kwh, 1, ''u'') FROM r')`:                                    `budget_cost: dx_sum: x must be a number, got TEXT in kwh; WHERE typeof(kwh) = 'text' finds such rows (all, if kwh was imported as TEXT)`,
		// public values are shown
		`SELECT dx_value(meter, 1, 1, 'u') FROM r`:                          `dx_value: account must be TEXT or INTEGER, got REAL 7.5 in meter; WHERE typeof(meter) = 'real' finds such rows`,
		`SELECT dx_value(meter, 1, 1, 'u') FROM r WHERE kwh = 1`:            `dx_value: account must be TEXT or INTEGER, got NULL in meter; WHERE meter IS NULL finds such rows`,
		`SELECT dx_sum(meter, 1, 1, 'u') FROM r WHERE kwh = 1`:              `dx_sum: account must be TEXT or INTEGER, got NULL in meter; WHERE meter IS NULL finds such rows`,
		`SELECT dx_value(8.0, 1, 1, 'u')`:                                   `dx_value: account must be TEXT or INTEGER, got REAL 8.0`,
		`SELECT dx_value(x'3031', 1, 1, 'u')`:                               `dx_value: account must be TEXT or INTEGER, got BLOB`,
		`SELECT dx_value(NULL, 1, 1, 'u')`:                                  `dx_value: account must be TEXT or INTEGER, got NULL`,
		`SELECT dx_value('ana', 1, eps, 'u') FROM r`:                        `dx_value: epsilon must be a number, got TEXT '0,5' in eps; WHERE typeof(eps) = 'text' finds such rows (all, if eps was imported as TEXT)`,
		`SELECT dx_sum('ana', 1, '0,5', 'u')`:                               `dx_sum: epsilon must be a number, got TEXT '0,5'`,
		`SELECT dx_value('ana', 1, 1, 3)`:                                   `dx_value: universe must be TEXT, got INTEGER 3`,
		`SELECT dx_value('ana', 1, 'a'||char(10)||'b', 'u')`:                `dx_value: epsilon must be a number, got TEXT 'a\nb'`,
		`SELECT dx_value('ana', 1, '` + strings.Repeat("x", 50) + `', 'u')`: `dx_value: epsilon must be a number, got TEXT '` + strings.Repeat("x", 40) + `'`,
	} {
		rows := d.fails(query)
		if _, err := d.try(query); err == nil || err.Error() != want {
			t.Errorf("%s\nfails with  %v\nwant        %s (after %v)", query, err, want, rows)
		}
	}
}
