package location

import (
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var laplaceFunctions = []*frame.Function{
	latticeRelease("laplace", frame.ArgEpsMetre).row(frame.Function{
		Name:     "geoind_laplace",
		Does:     "Releases a location with planar Laplace noise on the domain's lattice (geo-indistinguishability).",
		Accuracy: "geoind_radius(epsilon, p, domain) metres",
		Charges:  "epsilon in unit m to the account, for each evaluation",
		Notes: "The scalar form returns WKT; the table-valued form has one row per call. " +
			"An answer is at most e^(epsilon*(d + a cell's diagonal)) times as likely from one location as from another d metres away; two locations in one cell give each answer with the same probability. " +
			"SQLite may evaluate the scalar form more often than it shows rows, and each evaluation is a draw and a charge. " +
			"The table-valued form is evaluated once for each row that its arguments come from, or once in all if they name no column. Inside its call write t.lat, since lat alone would be its own column. " +
			"A NULL location gives NULL and charges nobody.",
		Examples: []string{"SELECT geoind_laplace('ana', 39.984, 116.318, 0.005, 'beijing')",
			"SELECT g.lat, g.lon FROM (SELECT 'ana' AS who, 39.984 AS y, 116.318 AS x) t, geoind_laplace(t.who, t.y, t.x, 0.005, 'beijing') g"},
	}, frame.ArgEpsMetre, frame.ArgDomain),
}
