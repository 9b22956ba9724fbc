package sealing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
)

// A Dependence measures how far a public column tells a sealed one, or whole rows.
type Dependence struct {
	Text string // a line
	Note bool   // whether there is nothing to confirm
}

// sampleRows is the most rows of a table that are looked at. They are drawn at random.
const sampleRows = 200_000

// Thresholds from which a public column is said to tell something of a sealed one. They lie between
// the measures of columns that people publish without harm and of columns that give secrets away.
// With meters (60 households) and the locations of GeoLife, Gowalla and taxis of San Francisco:
// hours, days, months and times of readings, hours of locations, days and the state of a taxi
// had rank correlations up to 0.16 and narrowed by up to 0.07. The cost of a reading, also with noise
// as large as itself, and a distance from the centre of a city had 0.56 to 0.99; a class of
// three, a trip, a district, and the days of people who travel narrowed by 0.32 to 0.50. A place's
// number agreed in 0.997, and all of these in 0.32 at most.
const (
	determines = 0.9 // share of equal public values with equal secrets, beyond chance
	correlates = 0.3 // Spearman's rank correlation
	narrows    = 0.1 // share of the uncertainty about the secret that goes, beyond chance

	// fewRepeats is the least number of rows with a public value that another row has, too. With fewer
	// of them nothing can be said.
	fewRepeats = 20
)

// bins is the number of classes of equal size that secrets are sorted into, for a location each
// of its coordinates, and publicBins that of numbers with more different values.
const (
	bins       = 16
	gridBins   = 6
	publicBins = 64
)

// Dependences returns how far public columns tell sealed ones. Several together are not
// looked at.
func (c *Contents) Dependences() (found []Dependence) {
	for _, t := range c.tables {
		found = append(found, t.dependences()...)
	}
	return found
}

// dependences returns those of a table.
func (t *contents) dependences() (found []Dependence) {
	if !slices.ContainsFunc(t.columns, func(c column) bool { return c.role == secret }) {
		return nil
	}
	s := t.sample()
	whole := ""
	if s.rows < len(t.rows.refs) {
		whole = fmt.Sprintf(" (in %d rows drawn at random)", s.rows)
	}
	for _, p := range s.public {
		for _, v := range s.secrets {
			if text := measure(p, v).text(p.name, v.name); text != "" {
				found = append(found, Dependence{Text: "table " + show(t.name) + ": " + text + whole})
			}
		}
		if names(p.class, s.account) {
			found = append(found, Dependence{Text: fmt.Sprintf(
				"table %s: %s names the account: it has one value for each, so pseudonyms hide nobody%s", show(t.name), show(p.name), whole)})
		}
		if p.distinct == s.rows && s.rows > 1 {
			found = append(found, Dependence{Note: true, Text: fmt.Sprintf(
				"note: table %s: %s is different in every row%s, so rows can be linked with other data that have it", show(t.name), show(p.name), whole)})
		}
	}
	return found
}

// A sample holds columns of some rows.
type sample struct {
	rows    int
	account []uint32
	public  []*publicColumn
	secrets []*secretColumn
}

// A publicColumn has a class for each row: one for each value, NULL too.
type publicColumn struct {
	name     string
	class    []uint32
	distinct int
	numbers  []float64 // NaN for NULL; nil if there is anything but numbers
}

// A secretColumn has the sealed contents of each row.
type secretColumn struct {
	name   string
	absent []bool
	class  []uint32     // one for each secret
	bin    []uint32     // classes of about equal size
	axes   [2][]float64 // a reading, or latitude and longitude
	width  int          // 1 or 2
}

// sample reads the first rows, which are in random order.
func (t *contents) sample() *sample {
	s := &sample{rows: min(len(t.rows.refs), sampleRows)}
	s.account = make([]uint32, s.rows)
	at := make([]int, len(t.columns)) // index in s.public or s.secrets
	var classes []map[string]uint32
	for i, c := range t.columns {
		switch c.role {
		case public:
			at[i] = len(s.public)
			s.public = append(s.public, &publicColumn{name: c.name, class: make([]uint32, s.rows), numbers: make([]float64, s.rows)})
			classes = append(classes, map[string]uint32{})
		case secret:
			at[i] = len(s.secrets)
			v := &secretColumn{name: c.name, width: len(c.from), absent: make([]bool, s.rows), class: make([]uint32, s.rows)}
			v.axes[0], v.axes[1] = make([]float64, s.rows), make([]float64, s.rows)
			s.secrets = append(s.secrets, v)
		}
	}
	for row := range s.rows {
		payer, rest := nextAccount(t.rows.at(row))
		s.account[row] = payer
		for i := range t.columns {
			switch t.columns[i].role {
			case public:
				p := s.public[at[i]]
				cell, after := nextPublic(rest)
				p.add(row, cell, classes[at[i]])
				rest = after
			case secret:
				rest = s.secrets[at[i]].add(row, rest)
			}
		}
	}
	for i, p := range s.public {
		p.distinct = len(classes[i])
	}
	for _, v := range s.secrets {
		v.classify()
	}
	return s
}

// add sets a row to a cell.
func (p *publicColumn) add(row int, cell []byte, classes map[string]uint32) {
	class, known := classes[string(cell)]
	if !known {
		class = uint32(len(classes))
		classes[string(cell)] = class
	}
	p.class[row] = class
	if p.numbers == nil {
		return
	}
	switch c, _ := sqlite.NextCell(cell); c.Type {
	case sqlite.Integer:
		p.numbers[row] = float64(c.Int())
	case sqlite.Float:
		p.numbers[row] = c.Float()
	case sqlite.Null:
		p.numbers[row] = math.NaN()
	default:
		p.numbers = nil
	}
}

// add sets a row to the first of its cells, and returns the others.
func (v *secretColumn) add(row int, cells []byte) (rest []byte) {
	d, present, rest := nextSecret(cells)
	v.absent[row] = !present
	if v.width == 2 {
		lat, lon := d.Location()
		v.axes[0][row], v.axes[1][row] = float64(lat), float64(lon)
	} else {
		v.axes[0][row] = float64(d.Reading())
	}
	return rest
}

// classify finds the classes.
func (v *secretColumn) classify() {
	type place struct{ a, b float64 }
	known := map[place]uint32{}
	for row := range v.class {
		p := place{v.axes[0][row], v.axes[1][row]}
		class, there := known[p]
		if !there {
			class = uint32(len(known))
			known[p] = class
		}
		v.class[row] = class
	}
	if v.width == 1 {
		v.bin = quantiles(v.axes[0], v.absent, bins)
		return
	}
	v.bin = quantiles(v.axes[0], v.absent, gridBins)
	for row, b := range quantiles(v.axes[1], v.absent, gridBins) {
		v.bin[row] = v.bin[row]*gridBins + b
	}
}

// quantiles sorts values into classes of about equal size. Equal values have one class. Values that
// are absent count for nothing.
func quantiles(x []float64, absent []bool, classes int) []uint32 {
	var present []float64
	for i, v := range x {
		if !absent[i] {
			present = append(present, v)
		}
	}
	slices.Sort(present)
	var cuts []float64 // the least value of each class but the first
	for k := 1; k < classes && len(present) > 0; k++ {
		if cut := present[k*len(present)/classes]; cut > present[0] && (len(cuts) == 0 || cut > cuts[len(cuts)-1]) {
			cuts = append(cuts, cut)
		}
	}
	class := make([]uint32, len(x))
	for i, v := range x {
		at, found := slices.BinarySearch(cuts, v)
		if found {
			at++
		}
		class[i] = uint32(at)
	}
	return class
}

// figures say how much a public column tells of a secret one.
type figures struct {
	determined float64 // share of rows with a repeated public value that have its usual secret, beyond chance
	rank       float64 // the largest of Spearman's correlations
	narrowed   float64 // uncertainty coefficient, beyond chance
}

// text returns the figures in words, or "".
func (f figures) text(public, secret string) string {
	public, secret = show(public), show(secret)
	switch {
	case f.determined >= determines:
		return fmt.Sprintf("%s determines %s: where %s is the same, so is %s", public, secret, public, secret)
	case math.Abs(f.rank) >= correlates && math.Abs(f.rank) >= f.narrowed:
		how := "rises"
		if f.rank < 0 {
			how = "falls"
		}
		return fmt.Sprintf("%s %s with %s: rank correlation %.2f", public, how, secret, f.rank)
	case f.narrowed >= narrows:
		return fmt.Sprintf("%s narrows down %s: it takes away %.0f %% of the uncertainty about it", public, secret, 100*f.narrowed)
	}
	return ""
}

// measure compares two columns in the rows that have the secret.
func measure(p *publicColumn, v *secretColumn) (f figures) {
	var rows []int
	for row, absent := range v.absent {
		if !absent {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 {
		return f
	}
	f.determined = excess(p.class, v.class, rows)
	coarse := p.class
	if p.numbers != nil {
		for axis := range v.width {
			if r := spearman(p.numbers, v.axes[axis], rows); math.Abs(r) > math.Abs(f.rank) {
				f.rank = r
			}
		}
		if math.Abs(f.rank) < 6/math.Sqrt(float64(len(rows))) { // six standard deviations of chance
			f.rank = 0
		}
		if p.distinct > publicBins {
			coarse = numberClasses(p.numbers)
		}
	}
	f.narrowed = uncertainty(coarse, v.bin, rows, rows) - uncertainty(coarse, v.bin, rows, shifted(rows))
	return f
}

// names reports whether public values and accounts belong together one by one.
func names(public, accounts []uint32) bool {
	return determined(public, accounts) >= determines && determined(accounts, public) >= determines
}

// determined returns how far a determines b, beyond chance.
func determined(a, b []uint32) float64 {
	rows := make([]int, len(a))
	for i := range rows {
		rows[i] = i
	}
	return excess(a, b, rows)
}

// excess returns how far a determines b in some rows, which are in random order. The effect of chance alone
// is measured with the rows half as many further on, which are independent.
func excess(a, b []uint32, rows []int) float64 {
	real, repeats := agreement(a, b, rows, rows)
	chance, _ := agreement(a, b, rows, shifted(rows))
	if repeats < fewRepeats || chance == 1 {
		return 0
	}
	return (real - chance) / (1 - chance)
}

// shifted returns the rows, the second half first.
func shifted(rows []int) []int { return slices.Concat(rows[len(rows)/2:], rows[:len(rows)/2]) }

// numberClasses sorts numbers into classes. NaN has its own.
func numberClasses(x []float64) []uint32 {
	absent := make([]bool, len(x))
	for i, v := range x {
		absent[i] = math.IsNaN(v)
	}
	class := quantiles(x, absent, publicBins)
	for i := range class {
		if absent[i] {
			class[i] = publicBins
		}
	}
	return class
}

// pairs returns the classes of a in some rows, each with that of b in the other row at its place,
// in ascending order.
func pairs(a, b []uint32, rows, others []int) []uint64 {
	both := make([]uint64, len(rows))
	for i, row := range rows {
		both[i] = uint64(a[row])<<32 | uint64(b[others[i]])
	}
	slices.Sort(both)
	return both
}

// agreement looks at the classes of a that several rows have. It returns the share of their rows,
// without one for each class, that have the class of b that is most frequent there, and how many
// rows these are.
func agreement(a, b []uint32, rows, others []int) (share float64, repeats int) {
	agree := 0
	both := pairs(a, b, rows, others)
	for len(both) > 0 {
		size, most := 0, 0
		for first := both[0] >> 32; size < len(both) && both[size]>>32 == first; {
			n := 1
			for size+n < len(both) && both[size+n] == both[size] {
				n++
			}
			most, size = max(most, n), size+n
		}
		agree, repeats = agree+most-1, repeats+size-1
		both = both[size:]
	}
	return float64(agree) / math.Max(1, float64(repeats)), repeats
}

// uncertainty returns the share of the entropy of b that knowing a takes away.
func uncertainty(a, b []uint32, rows, others []int) float64 {
	both := pairs(a, b, rows, others)
	total := float64(len(both))
	counts := map[uint32]float64{}
	joint, marginal := 0.0, 0.0 // sums of n log n
	for i := 0; i < len(both); {
		first, size := both[i]>>32, 0
		for i < len(both) && both[i]>>32 == first {
			n := 1
			for i+n < len(both) && both[i+n] == both[i] {
				n++
			}
			counts[uint32(both[i])] += float64(n)
			joint += nLogN(float64(n))
			i, size = i+n, size+n
		}
		marginal += nLogN(float64(size))
	}
	secret := 0.0
	for _, n := range counts {
		secret += nLogN(n)
	}
	before := math.Log(total) - secret/total
	if before <= 0 {
		return 0
	}
	after := (marginal - joint) / total
	return 1 - after/before
}

func nLogN(n float64) float64 { return n * math.Log(n) }

// spearman returns the rank correlation of two columns in the rows that have both.
func spearman(x, y []float64, rows []int) float64 {
	var a, b []float64
	for _, row := range rows {
		if !math.IsNaN(x[row]) {
			a, b = append(a, x[row]), append(b, y[row])
		}
	}
	ra, rb := ranks(a), ranks(b)
	mean := float64(len(a)-1) / 2
	var ab, aa, bb float64
	for i := range ra {
		da, db := ra[i]-mean, rb[i]-mean
		ab, aa, bb = ab+da*db, aa+da*da, bb+db*db
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// ranks returns the rank of each value, from 0. Equal values share the mean of their ranks.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	rank := make([]float64, len(x))
	for i := 0; i < len(order); {
		n := 1
		for i+n < len(order) && x[order[i+n]] == x[order[i]] {
			n++
		}
		for _, at := range order[i : i+n] {
			rank[at] = float64(i) + float64(n-1)/2
		}
		i += n
	}
	return rank
}
