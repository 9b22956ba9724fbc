package audit

import (
	"encoding/json"
	"slices"
)

// Percentiles. Under dinf, and under d1 where that is better, they have geometric noise, with a loss that is attained.
// Otherwise they are drawn by score, with half of epsilon for the scores and half for the sum of all weights. Both halves
// are attained together where one step makes the scores of nearly all values better and those of a few worse: under dh among
// many values, some hardly off. Under d1 and nd1 most of the weight is near the percentile, wherever that is, and little
// more than one half shows.
func attacksOnRanks(register func(...attack)) {
	rank := func(function string, u universe, pair, settings string, distance float64, x, y []string) attack {
		return aggregate(function, u, pair, settings, distance, x, y).on(u.value)
	}
	percentiles := func(u universe, pair, list, settings string, distance float64, x, y []string) attack {
		return aggregate("dx_percentiles", u, pair, "'"+list+"', "+settings, distance, x, y).on(u.percentiles(list))
	}
	register(
		// d1
		rank("dx_min", units, "a single reading moves from corner to corner", "0.2, 'u'", 10, []string{"{ana}, 0"}, []string{"{ana}, 10"}),
		shared(rank("dx_min", across, "a tie, and the smaller reading moves out of it", "0.4, 'd'", 5, []string{"{ana}, 0", "{ben}, 0"}, []string{"{ana}, -5", "{ben}, 0"})),
		shared(rank("dx_min", units, "all readings move", "0.2, 'u'", 10, []string{"{ana}, 0", "{ana}, 0"}, []string{"{ana}, 5", "{ana}, 5"})),
		rank("dx_max", units, "a single reading moves from corner to corner", "0.2, 'u'", 10, []string{"{ana}, 0"}, []string{"{ana}, 10"}),
		shared(rank("dx_max", dense, "a reading far outside the universe", "0.000003, 'w'", 999999, []string{"{ana}, 1", "{ben}, -5"}, []string{"{ana}, 1e300", "{ben}, -5"})),
		rank("dx_median", units, "a single reading moves from corner to corner", "0.2, 'u'", 10, []string{"{ana}, 0"}, []string{"{ana}, 10"}),
		shared(rank("dx_median", units, "the middle of three readings moves", "0.4, 'u'", 5,
			[]string{"{ana}, 2", "{ben}, 0", "{cem}, 10"}, []string{"{ana}, 7", "{ben}, 0", "{cem}, 10"})),
		shared(rank("dx_median", units, "the upper one of two readings moves", "0.4, 'u'", 5, []string{"{ana}, 5", "{ben}, 0"}, []string{"{ana}, 10", "{ben}, 0"})),
		rank("dx_percentile", units, "p = 100: the largest of two readings moves", "100, 0.2, 'u'", 10, []string{"{ana}, 0", "{ben}, 0"}, []string{"{ana}, 10", "{ben}, 0"}),
		shared(rank("dx_percentile", tenths, "p = 0: the smallest of two readings moves", "0, 2.5, 't'", 0.8, []string{"{ana}, 0.1", "{ben}, 1"}, []string{"{ana}, 0.9", "{ben}, 1"})),
		shared(rank("dx_percentile", units, "p = 75 of four readings: at the edge of a rank", "75, 0.4, 'u'", 5,
			[]string{"{ana}, 10", "{ben}, 0", "{cem}, 0", "{dan}, 0"}, []string{"{ana}, 5", "{ben}, 0", "{cem}, 0", "{dan}, 0"})),
		attack{
			function: "dx_median", pair: "an answer and how many ranks it may be off", fixture: readings, columns: "account, x", shared: true,
			inputs: [2][]string{{"{ana}, 0", "{ben}, 0", "{cem}, 10"}, {"{ana}, 10", "{ben}, 0", "{cem}, 10"}},
			answer: "m, dx_rank_within(m), dx_within(m)", from: "FROM (SELECT trial, dx_median(account, x, 0.2, 'u') AS m FROM {rows} GROUP BY trial)",
			unit: "kWh", claim: pure(10),
		},
		rank("dx_median", units, "d1/window: a reading within the window moves", "0.4, 'u', 'd1/window'", 5,
			[]string{"{ana}, 0", "{ben}, 0", "{cem}, 0"}, []string{"{ana}, 5", "{ben}, 0", "{cem}, 0"}),
		shared(rank("dx_percentile", tenths, "d1/window: all readings of the window move", "60, 1.5, 't', 'd1/window'", 1.2,
			[]string{"{ana}, 0.1", "{ana}, 0.2", "{ana}, 0.3", "{ben}, 0", "{ben}, 1"}, []string{"{ana}, 0.5", "{ana}, 0.6", "{ana}, 0.7", "{ben}, 0", "{ben}, 1"})),
		rank("dx_median", units, "d1/score: the middle of three readings moves", "0.4, 'u', 'd1/score'", 5,
			[]string{"{ana}, 2", "{ben}, 0", "{cem}, 10"}, []string{"{ana}, 7", "{ben}, 0", "{cem}, 10"}),
		rank("dx_median", units, "d1/noise: the middle of three readings moves", "0.4, 'u', 'd1/noise'", 5,
			[]string{"{ana}, 2", "{ben}, 0", "{cem}, 10"}, []string{"{ana}, 7", "{ben}, 0", "{cem}, 10"}),

		// dinf
		rank("dx_min", units, "dinf: all readings move at once", "0.5, 'u', 'dinf'", 4, []string{"{ana}, 0", "{ana}, 3"}, []string{"{ana}, 4", "{ana}, 7"}),
		rank("dx_max", across, "dinf: all readings move at once", "0.5, 'd', 'dinf'", 4, []string{"{ana}, -4", "{ana}, 1"}, []string{"{ana}, 0", "{ana}, 5"}),
		rank("dx_median", units, "dinf: all readings move at once", "0.5, 'u', 'dinf'", 4, []string{"{ana}, 0", "{ana}, 3", "{ana}, 3"}, []string{"{ana}, 4", "{ana}, 7", "{ana}, 7"}),
		rank("dx_percentile", units, "dinf: all readings move at once", "25, 0.5, 'u', 'dinf'", 4, []string{"{ana}, 0", "{ana}, 3", "{ana}, 3"}, []string{"{ana}, 4", "{ana}, 7", "{ana}, 7"}),

		// dh: the scores of nearly all values change from 2 to 1, and those of a few from 0 to 1, or from 1 to 2.
		rank("dx_min", few, "dh: the smallest reading is replaced by the largest", "2, 'k', 'dh'", 1, []string{"{ana}, 0", "{ben}, 1"}, []string{"{ana}, 80", "{ben}, 1"}).record(),
		rank("dx_max", few, "dh: the largest reading is replaced by the smallest", "2, 'k', 'dh'", 1, []string{"{ana}, 80", "{ben}, 79"}, []string{"{ana}, 0", "{ben}, 79"}).record(),
		rank("dx_max", dense, "dh, aimed inside: a reading below that rank is replaced by one above it", "2, 'w', 'dh'", 1,
			[]string{"{ana}, 0", "{ben}, 0", "{cem}, 40000", "{dan}, 40000", "{eva}, 1000000"},
			[]string{"{ana}, 1000000", "{ben}, 0", "{cem}, 40000", "{dan}, 40000", "{eva}, 1000000"}).record(),
		rank("dx_max", dense, "dh, aimed inside: a reading more, which does not change the rank", "2, 'w', 'dh'", 1,
			[]string{"{ben}, 0", "{cem}, 960000", "{dan}, 1000000"}, []string{"{ben}, 0", "{cem}, 960000", "{dan}, 1000000", "{ana}, 0"}).record().more(),
		rank("dx_median", dense, "dh: a reading below the median is replaced by one above it", "2, 'w', 'dh'", 1,
			[]string{"{ana}, 0", "{ben}, 0", "{cem}, 40000", "{dan}, 40000", "{eva}, 1000000"},
			[]string{"{ana}, 1000000", "{ben}, 0", "{cem}, 40000", "{dan}, 40000", "{eva}, 1000000"}).record(),
		rank("dx_percentile", dense, "dh: a reading below the percentile is replaced by one above it", "50, 2, 'w', 'dh'", 1,
			[]string{"{ana}, 1000000", "{ben}, 0", "{cem}, 960000", "{dan}, 960000", "{eva}, 1000000"},
			[]string{"{ana}, 0", "{ben}, 0", "{cem}, 960000", "{dan}, 960000", "{eva}, 1000000"}).record(),
		rank("dx_median", units, "dh: the first reading", "2, 'u', 'dh'", 1, []string{"{ben}, NULL"}, []string{"{ben}, NULL", "{ana}, 5"}).record().more(),
		rank("dx_percentile", few, "dh: a reading more where the rank changes", "34, 2, 'k', 'dh'", 1,
			[]string{"{ben}, 0", "{cem}, 2"}, []string{"{ben}, 0", "{cem}, 2", "{ana}, 80"}).record().more(),

		// Several under dh: the first one tells the worlds apart where the others lie, and a row leaves one half for the other. With
		// all of epsilon on each of its four levels, the fifteen together would lose 1.2 in one answer of twenty.
		percentiles(dense, "dh: a reading below the median is replaced by one above it", "[25,50,75]", "2, 'w', 'dh'", 1,
			[]string{"{ana}, 0", "{ben}, 0", "{cem}, 200000", "{dan}, 200000", "{eva}, 1000000"},
			[]string{"{ana}, 1000000", "{ben}, 0", "{cem}, 200000", "{dan}, 200000", "{eva}, 1000000"}).record(),
		percentiles(units, "dh: the first reading", "[0,50,100]", "2, 'u', 'dh'", 1, []string{"{ben}, NULL"}, []string{"{ben}, NULL", "{ana}, 5"}).record().more(),
		percentiles(few, "dh: a reading more among equal ones", "[20,40,60,80]", "2, 'k', 'dh'", 1,
			[]string{"{ben}, 40", "{cem}, 40"}, []string{"{ben}, 40", "{cem}, 40", "{ana}, 80"}).record().more(),
		percentiles(few, "dh: a row leaves the lowest question of each level for the highest", "[6.25,12.5,18.75,25,31.25,37.5,43.75,50,56.25,62.5,68.75,75,81.25,87.5,93.75]", "1, 'k', 'dh'", 1,
			[]string{"{ana}, 0", "{ben}, 18", "{cem}, 19", "{dan}, 37", "{eva}, 46", "{eva}, 46"},
			[]string{"{ana}, 80", "{ben}, 18", "{cem}, 19", "{dan}, 37", "{eva}, 46", "{eva}, 46"}).record(),
		percentiles(few, "dh: each asked about alone", "[75,25]", "2, 'k', 'dh'", 1, []string{"{ana}, 0", "{ben}, 1"}, []string{"{ana}, 80", "{ben}, 1"}).record(),
		percentiles(units, "a single reading moves from corner to corner", "[25,75]", "0.2, 'u'", 10, []string{"{ana}, 0"}, []string{"{ana}, 10"}),
		shared(percentiles(units, "the middle of three readings moves", "[10,50,90]", "0.4, 'u'", 5,
			[]string{"{ana}, 2", "{ben}, 0", "{cem}, 10"}, []string{"{ana}, 7", "{ben}, 0", "{cem}, 10"})),

		// nd1
		rank("dx_min", units, "nd1: a smaller reading more", "4, 'u', 'nd1'", 1, []string{"{ben}, 10"}, []string{"{ben}, 10", "{ana}, 0"}).record().more(),
		rank("dx_max", units, "nd1: the largest reading moves from corner to corner", "4, 'u', 'nd1'", 1, []string{"{ana}, 0", "{ben}, 0"}, []string{"{ana}, 10", "{ben}, 0"}).record(),
		rank("dx_median", across, "nd1: a single reading moves from corner to corner", "4, 'd', 'nd1'", 1, []string{"{ana}, -5"}, []string{"{ana}, 5"}).record(),
		rank("dx_percentile", units, "nd1: the first reading", "90, 4, 'u', 'nd1'", 1, []string{"{ben}, NULL"}, []string{"{ben}, NULL", "{ana}, 10"}).record().more(),
	)
}

// percentiles returns whether an answer has a value of the universe for each percentile of a list, and these never fall.
func (u universe) percentiles(list string) func(row []any) bool {
	type answer struct{ P, Value float64 }
	var listed []float64
	if err := json.Unmarshal([]byte(list), &listed); err != nil {
		panic(err)
	}
	return func(row []any) bool {
		text, _ := row[0].(string)
		var answers []answer
		if json.Unmarshal([]byte(text), &answers) != nil || len(answers) != len(listed) {
			return false
		}
		for i, a := range answers {
			falls := func(b answer) bool { return b.P < a.P && b.Value > a.Value }
			if a.P != listed[i] || !u.value([]any{a.Value}) || slices.ContainsFunc(answers, falls) {
				return false
			}
		}
		return true
	}
}
