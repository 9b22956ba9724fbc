package audit

// Single readings: dx_value draws from the truncated geometric law, with a loss that every pair attains.
func attacksOnValues(register func(...attack)) {
	value := func(u universe, pair, epsilon string, distance float64, x, y string) attack {
		return scalarReading(attack{
			function: "dx_value", pair: pair, inputs: [2][]string{{"{ana}, " + x}, {"{ana}, " + y}},
			answer: "dx_value(account, x, " + epsilon + ", '" + u.name + "')", unit: u.unit, claim: pure(distance), grid: u.value,
		})
	}
	register(
		value(units, "the lower corner of the universe and a value 4 steps away", "0.5", 4, "0", "4"),
		value(units, "the corners of the universe", "0.2", 10, "0", "10"),
		value(units, "neighbouring values under a small epsilon", "0.1", 1, "5", "6"),
		value(across, "neighbouring values under a large epsilon", "4", 0.5, "0", "0.5"),
		value(units, "a value and one far outside the universe", "0.5", 5, "5", "1e300"),
		value(across, "values outside the universe on both sides", "0.2", 10, "-7.25", "5.000001"),
		value(tenths, "readings between two values", "5", 0.4, "0.2499", "0.6001"),
		value(negative, "the corners of a universe below 0", "0.2", 12, "-10", "2"),
		value(binary, "the only two values", "2", 1, "0", "1"),
		value(dense, "far apart on a fine grid", "0.00001", 250000, "300000", "550000"),

		// Answers about the middle of a vast universe are so many that two equal ones are rare, unless the generator
		// has few bits.
		func() attack {
			a := value(vast, "noise on a vast universe", "0.0000000001", 1e10, "500000000000", "510000000000")
			a.smooth = &smooth{rate: 1e-10, of: func(row []any) (int64, bool) {
				x, ok := number(row[0])
				return int64(x), ok && x > vast.lo && x < vast.hi
			}}
			return a
		}(),

		// A statement with an epsilon that is smaller from its second row on. The first row has no reading.
		attack{
			function: "dx_value", pair: "epsilon becomes smaller from row to row", fixture: readings, columns: "account, x, e",
			inputs: [2][]string{{"{ana}, NULL, 4", "{ana}, 0, 0.2"}, {"{ana}, NULL, 4", "{ana}, 10, 0.2"}},
			answer: "max(v)", from: "FROM (SELECT trial, dx_value(account, x, e, 'u') AS v FROM {rows})", group: "GROUP BY trial",
			unit: "kWh", claim: pure(10), grid: units.value,
		},
		attack{
			function: "dx_value", pair: "the universe changes from row to row", fixture: readings, columns: "account, x, name",
			inputs: [2][]string{{"{ana}, NULL, 'd'", "{ana}, 0, 'u'"}, {"{ana}, NULL, 'd'", "{ana}, 10, 'u'"}},
			answer: "max(v)", from: "FROM (SELECT trial, dx_value(account, x, 0.2, name) AS v FROM {rows})", group: "GROUP BY trial",
			unit: "kWh", claim: pure(10), grid: units.value,
		},

		// Two answers about a reading cost twice, and one more function, which is free, must tell nothing more.
		scalarReading(attack{
			function: "dx_value", pair: "two answers about the same reading",
			inputs: [2][]string{{"{ana}, 2"}, {"{ana}, 7"}},
			answer: "dx_value(account, x, 0.2, 'u'), dx_value(account, x, 0.2, 'u')", unit: "kWh", claim: pure(5),
		}),
		attack{
			function: "dx_value", pair: "an answer and how far off it may be", fixture: readings, columns: "account, x",
			inputs: [2][]string{{"{ana}, 0"}, {"{ana}, 10"}},
			answer: "v, dx_within(v), dx_within(v, 0.5)", from: "FROM (SELECT max(dx_value(account, x, 0.2, 'u')) AS v FROM {rows} GROUP BY trial)",
			unit: "kWh", claim: pure(10),
		},
	)
}
