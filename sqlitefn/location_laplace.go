package sqlitefn

func init() {
	laplace := latticeRelease("laplace")
	register(&function{
		name: "geoind_laplace", section: released,
		args:    []*argument{argAccount, argLat, argLon, argEpsMetre, argDomain},
		columns: locationColumns,
		does:    "Releases a location by planar Laplace noise on the domain's lattice (geo-indistinguishability).",
		charges: "the account epsilon in unit m, per evaluation",
		notes: "The scalar answers WKT; the table-valued form has one row per call. " +
			"Two locations d metres apart are distinguishable by at most epsilon*(d + a cell's diagonal), within a cell not at all. " +
			"SQLite may evaluate the scalar more often than it shows rows, and each evaluation is a draw and a charge; " +
			"the table-valued form is evaluated once for each row that its arguments come from, and once in all if they name no column. Inside its call write t.lat, since lat alone would be its own column. " +
			"A NULL location yields NULL and charges nobody.",
		example: []string{"SELECT geoind_laplace('ana', 39.984, 116.318, 0.005, 'beijing')",
			"SELECT g.lat, g.lon FROM (SELECT 'ana' AS who, 39.984 AS y, 116.318 AS x) t, geoind_laplace(t.who, t.y, t.x, 0.005, 'beijing') g"},
		scalar: laplace.scalar,
		table:  laplace.table,
	})
}
