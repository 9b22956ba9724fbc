package audit

// Sums, averages and variances have geometric noise on integers. The loss of a sum is attained; an average under nd1 and dh
// and a variance share epsilon between several numbers in one answer, so that it shows less.
func attacksOnSums(register func(...attack)) {
	sum := func(u universe, pair, settings string, distance float64, x, y []string) attack {
		return aggregate("dx_sum", u, pair, settings, distance, x, y).on(u.sum)
	}
	average := func(u universe, pair, settings string, distance float64, x, y []string) attack {
		return aggregate("dx_avg", u, pair, settings, distance, x, y).on(between(u.lo, u.hi))
	}
	spread := func(function string, u universe, pair, settings string, distance float64, x, y []string) attack {
		most := (u.hi - u.lo) / 2
		if function == "dx_variance" {
			most *= most
		}
		return aggregate(function, u, pair, settings, distance, x, y).on(between(0, most))
	}
	register(
		sum(units, "one reading moves from corner to corner", "0.2, 'u'", 10, []string{"{ana}, 0", "{ben}, 3"}, []string{"{ana}, 10", "{ben}, 3"}),
		shared(sum(across, "many readings of one account move", "0.25, 'd'", 10,
			[]string{"{ana}, -1", "{ana}, 0", "{ana}, 2.5", "{ana}, 4", "{ben}, 1"},
			[]string{"{ana}, -3.5", "{ana}, -2.5", "{ana}, 0", "{ana}, 1.5", "{ben}, 1"})),
		shared(sum(units, "a reading far outside the universe", "0.5, 'u'", 5, []string{"{ana}, 5"}, []string{"{ana}, 1e300"})),
		shared(sum(tenths, "readings between two values, and NULLs beside them", "5, 't'", 0.4,
			[]string{"{ana}, NULL", "{ana}, 0.2499", "{ben}, NULL"}, []string{"{ana}, NULL", "{ana}, 0.6001", "{ben}, NULL"})),
		shared(sum(above, "neighbouring values above 0", "0.5, 'g'", 4, []string{"{ana}, 3", "{ben}, 19"}, []string{"{ana}, 7", "{ben}, 19"})),
		shared(sum(units, "neighbouring sums under a small epsilon", "0.1, 'u'", 1, []string{"{ana}, 6", "{ben}, 6"}, []string{"{ana}, 7", "{ben}, 6"})),
		sum(negative, "dh: a reading is replaced, from corner to corner", "2, 'n', 'dh'", 1, []string{"{ana}, -10", "{ben}, 1"}, []string{"{ana}, 2", "{ben}, 1"}).record(),
		sum(above, "dh: a reading more, at the corner farthest from 0", "2, 'g', 'dh'", 1, []string{"{ben}, 7"}, []string{"{ben}, 7", "{ana}, 23"}).record().more(),
		sum(farther, "dh: a reading more, far from 0", "2, 'h', 'dh'", 1, []string{"{ben}, 104"}, []string{"{ben}, 104", "{ana}, 110"}).record().more(),
		sum(above, "nd1: a reading more, at the corner farthest from 0", "2, 'g', 'nd1'", 1, []string{"{ben}, 7"}, []string{"{ben}, 7", "{ana}, 23"}).record().more(),
		sum(across, "nd1: a reading moves from corner to corner", "2, 'd', 'nd1'", 1, []string{"{ana}, -5", "{ben}, 1"}, []string{"{ana}, 5", "{ben}, 1"}).record(),
		sum(across, "nd1: a reading moves by a tenth of the universe", "12, 'd', 'nd1'", 0.1, []string{"{ana}, 1", "{ben}, 1"}, []string{"{ana}, 2", "{ben}, 1"}).record(),
		sum(units, "dh: a reading moves by a step", "3, 'u', 'dh'", 1, []string{"{ana}, 4", "{ben}, 1"}, []string{"{ana}, 5", "{ben}, 1"}).record(),
		sum(units, "dh: two readings of one account", "1, 'u', 'dh'", 1, []string{"{ana}, 0", "{ana}, 0"}, []string{"{ana}, 10", "{ana}, 10"}).record(),
		sum(units, "dh: the first reading among NULLs", "2, 'u', 'dh'", 1, []string{"{ben}, NULL"}, []string{"{ben}, NULL", "{ana}, 10"}).record().more(),
		sum(units, "dh: a reading of 0 among NULLs", "2, 'u', 'dh'", 1, []string{"{ben}, NULL"}, []string{"{ben}, NULL", "{ana}, 0"}).record().more(),

		// The sums of both groups are the answer. No reading is in both, so that they cost ana once.
		groups(attack{
			function: "dx_sum", pair: "two groups with different readings of one account", shared: true,
			inputs: [2][]string{{"{ana}, 2, 1", "{ana}, 1, 2"}, {"{ana}, 7, 1", "{ana}, 6, 2"}}, columns: "account, x, g",
			from: "FROM (SELECT trial, dx_sum(account, x, 0.2, 'u') AS s FROM {rows} GROUP BY trial, g)", claim: pure(10),
		}),
		// Here each reading is in two groups, and costs twice.
		groups(attack{
			function: "dx_sum", pair: "two groups with the same reading",
			inputs: [2][]string{{"{ana}, 2"}, {"{ana}, 7"}}, columns: "account, x",
			from: "FROM (SELECT trial, dx_sum(account, x, 0.2, 'u') AS s FROM {rows}, (SELECT 1 AS g UNION ALL SELECT 2) GROUP BY trial, g)", claim: pure(5),
		}),
		groups(attack{
			function: "dx_sum", pair: "two groups of different epsilon, the larger one last", shared: true,
			inputs: [2][]string{{"{ana}, 2, 1", "{ana}, 0, 2"}, {"{ana}, 2, 1", "{ana}, 10, 2"}}, columns: "account, x, g",
			from: "FROM (SELECT trial, dx_sum(account, x, 0.1 * g, 'u') AS s FROM {rows} GROUP BY trial, g)", claim: pure(10),
		}),
		shared(aggregateReadings(attack{
			function: "dx_sum", pair: "a sum and a maximum in one row",
			inputs: [2][]string{{"{ana}, 0", "{ben}, 0"}, {"{ana}, 10", "{ben}, 0"}},
			answer: "dx_sum(account, x, 0.1, 'u'), dx_max(account, x, 0.1, 'u')", unit: "kWh", claim: pure(10),
		})),
		shared(sum(units, "a filter, on where there is a reading", "0.2, 'u'", 10, []string{"{ana}, 0", "{ben}, NULL"}, []string{"{ana}, 10", "{ben}, NULL"})).
			filtered("x IS NOT NULL"),
		attack{
			function: "dx_sum", pair: "an answer and how far off it may be", fixture: readings, columns: "account, x", shared: true,
			inputs: [2][]string{{"{ana}, 0"}, {"{ana}, 10"}},
			answer: "s, dx_within(s)", from: "FROM (SELECT trial, dx_sum(account, x, 0.2, 'u') AS s FROM {rows} GROUP BY trial)",
			unit: "kWh", claim: pure(10),
		},

		average(units, "one of three readings moves from corner to corner", "0.2, 'u'", 10,
			[]string{"{ana}, 0", "{ben}, 3", "{cem}, 4"}, []string{"{ana}, 10", "{ben}, 3", "{cem}, 4"}).on(units.averageOf(3, 1/(0.2*3.))),
		shared(average(units, "a sum that is just divided by the number of readings", "2, 'u'", 1,
			[]string{"{ana}, 0", "{ben}, 1", "{cem}, 1"}, []string{"{ana}, 1", "{ben}, 1", "{cem}, 1"})).on(units.averageOf(3, 1/(2*3.))),
		shared(average(units, "a single reading", "0.2, 'u'", 10, []string{"{ana}, 0", "{ben}, NULL"}, []string{"{ana}, 10", "{ben}, NULL"})).on(units.value),
		average(units, "dinf: all readings move at once", "0.5, 'u', 'dinf'", 4,
			[]string{"{ana}, 0", "{ana}, 2", "{ana}, 6"}, []string{"{ana}, 4", "{ana}, 6", "{ana}, 10"}).on(units.averageOf(3, 1/0.5)),
		average(units, "dh: a reading is replaced, from corner to corner", "4, 'u', 'dh'", 1, []string{"{ana}, 0", "{ben}, 10"}, []string{"{ana}, 10", "{ben}, 10"}).record(),
		average(units, "dh: a second reading", "0.5, 'u', 'dh'", 1, []string{"{ben}, 10"}, []string{"{ben}, 10", "{ana}, 0"}).record().more(),
		average(units, "dh: the first reading", "2, 'u', 'dh'", 1, []string{"{ben}, NULL"}, []string{"{ben}, NULL", "{ana}, 10"}).record().more(),
		average(across, "nd1: a reading moves from corner to corner", "4, 'd', 'nd1'", 1, []string{"{ana}, -5"}, []string{"{ana}, 5"}).record(),
		attack{
			function: "dx_avg", pair: "dh: an answer and how far off it may be, which tells of the noisy count", fixture: readings, columns: "account, x",
			inputs: [2][]string{{"{ben}, 10"}, {"{ben}, 10", "{ana}, 10"}},
			answer: "s, dx_within(s)", from: "FROM (SELECT trial, dx_avg(account, x, 3, 'u', 'dh') AS s FROM {rows} GROUP BY trial)",
			unit: "record", claim: pure(1), uneven: true,
		},

		spread("dx_variance", units, "a reading leaves another", "0.4, 'u'", 10, []string{"{ana}, 0", "{ben}, 0"}, []string{"{ana}, 10", "{ben}, 0"}),
		shared(spread("dx_variance", units, "readings in both corners move towards the middle", "1, 'u'", 4,
			[]string{"{ana}, 0", "{ana}, 0", "{ana}, 10", "{ana}, 10"}, []string{"{ana}, 1", "{ana}, 1", "{ana}, 9", "{ana}, 9"})),
		shared(spread("dx_variance", units, "a single reading", "0.3, 'u'", 10, []string{"{ana}, 0"}, []string{"{ana}, 10"})),
		spread("dx_variance", units, "dh: a reading is replaced", "4, 'u', 'dh'", 1, []string{"{ana}, 0", "{ben}, 0"}, []string{"{ana}, 10", "{ben}, 0"}).record(),
		spread("dx_variance", units, "dh: a reading more", "4, 'u', 'dh'", 1, []string{"{ben}, 5"}, []string{"{ben}, 5", "{ana}, 10"}).record().more(),
		shared(spread("dx_stddev", units, "a reading leaves another", "0.4, 'u'", 10, []string{"{ana}, 0", "{ben}, 0"}, []string{"{ana}, 10", "{ben}, 0"})),
		shared(spread("dx_stddev", units, "readings in both corners move towards the middle", "1, 'u'", 4,
			[]string{"{ana}, 0", "{ana}, 0", "{ana}, 10", "{ana}, 10"}, []string{"{ana}, 1", "{ana}, 1", "{ana}, 9", "{ana}, 9"})),
		spread("dx_stddev", across, "dh: a reading is replaced", "4, 'd', 'dh'", 1, []string{"{ana}, -5", "{ben}, -5"}, []string{"{ana}, 5", "{ben}, -5"}).record(),
	)
}

// shared gives each trial rows of its own, so that the groups of all trials of a statement cost an account once.
func shared(a attack) attack {
	a.shared, a.alike = true, ""
	return a
}

// record counts charges in records.
func (a attack) record() attack {
	a.unit = "record"
	return a
}

// more says that the second input has more rows.
func (a attack) more() attack {
	a.uneven = true
	return a
}

// on says which answers there may be.
func (a attack) on(grid func([]any) bool) attack {
	a.grid = grid
	return a
}

// filtered aggregates the rows that meet a condition.
func (a attack) filtered(where string) attack {
	a.answer += " FILTER (WHERE " + where + ")"
	return a
}

// groups returns an attack on the sums s of several groups of a trial at once.
func groups(a attack) attack {
	a.fixture, a.answer, a.group, a.unit = readings, "group_concat(s, ' ')", "GROUP BY trial", "kWh"
	return a
}
