package scalar

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/geosql/geosql/mechanism/exact"
)

// Several percentiles of a group under dh. The middle one of the list is drawn from all rows, and its answer v divides both:
// the lower half of the list is drawn from the rows below v, among the values up to v, and the upper half from the rows from v
// on, among the values from v on (Kaplan, Schnapp and Stemmer, Differentially Private Approximate Quantiles, 2022). A row
// takes part in one question on each level, and levels are few.
//
// # Ties
//
// Equal readings cannot be divided, so each row gets a fraction of a step, drawn afresh for each release, independently of all
// else. Given the fractions, two worlds differ in the rows in which their readings do. So what follows holds for rows with
// fractions, and then on average over these. Answers are rounded down to the universe.
//
// # Scores
//
// The rows of a question stand for the shares p1 to p2 of all rows: of n rows, a share q = (p-p1)/(p2-p1) is to lie below the
// answer for p. With L rows below v, and R at v or below, the score of v is
//
//	max(0, L - q*n, q*n - R),
//
// where q*n is not rounded. q is 0 or 1 only where p is 0 or 100. There the score is that of rank 1 or n, as in rank.go, since
// it would be 0 for all values beyond the readings: max(0, L, 1-R) or max(0, L+1-n, n-R), and 0 without rows.
//
// Scores end at a number of rows that follows from the rate, so that values with hardly any weight need not be told apart. A score
// that is moved to an end changes by no more than before and in the same direction, and all ranges below contain 0.
//
// # Privacy
//
// A value is drawn with probability proportional to exp(-rate*score). If the scores in two worlds differ by numbers with a range
// of d over all values, no probability differs by a factor of more than e^(rate*d), as what all values have in common
// cancels. With rows that differ in one:
//
//   - A row that is replaced, from x to a larger y, takes one from L for x < v <= y, and from R for x <= v < y. So a score
//     falls by one at most or grows by one at most: the range is 2 at most.
//   - A row x that is added adds one to L for v > x, to R for v >= x, and q to q*n. So L - q*n and q*n - R change by q at most
//     for v < x and by 1-q at most for v > x, and at x neither grows or falls by more than m = max(q, 1-q). The range is 2m at
//     most. A row that is removed does the same backwards.
//   - If q is 0, a row that is added adds one to L or to both L and R, and if q is 1, it takes at most one from L-n, or adds at
//     most one to n-R. The range is 2 at most, which is 2m. The first row adds one to all scores but its own.
//
// With an epsilon of e for a question, rate is e/2 at the root of the tree, and e/(4m) below. Given the answers, each row goes
// its way down the tree by its own reading. Of two worlds that differ in one row,
//
//   - if it is added, one question of each level has a row more: the root spends e*m <= e, and each other one e/2;
//   - if it is replaced, a question that both rows reach spends 2e/2 or 2e/(4m), at most e. Where their ways have parted, one
//     question loses a row and another gains one, which spends half of e for each.
//
// The epsilons along each way down add up to epsilon at most, so neither spends more. The tree depends on public facts only.

// A question is about one percentile of some rows. Those below it in the tree are nil if there are no more percentiles.
type question struct {
	at           int     // of the percentile among all, in order
	num, den     uint64  // q = num/den
	rate         float64 // for a score of 1/den
	lower, upper *question
}

// fractionBits are the bits of the fraction of a step that a row gets. With the 40 of an index they fit an int64.
const fractionBits = 22

// newHalving returns the first question about different shares of a whole, in order, or nil if each is better asked about
// alone, with its part of epsilon. That is so if halving has the larger worst ratio of its noise to that of the other, over all
// percentiles. Noise is in rows: 1/rate, for which a probability falls by a factor of e. Epsilon cancels, so that the list alone
// decides.
func newHalving(shares []uint64, whole uint64, epsilon *big.Rat) (*question, error) {
	root, err := halve(shares, 0, 0, whole, epsilon, true)
	if err != nil {
		return nil, err
	}
	eps, _ := epsilon.Float64()
	alone := float64(2*len(shares)) / eps
	if least, most := root.noise(0, 0); most/alone >= alone/least {
		return nil, nil
	}
	return root, nil
}

// halve returns the question about the share nearest to the middle of the rows, among those that leave the levels below no more
// shares on either side than they can ask about, and those below it. Its shares, the first of which is at an index, are for the
// rows between two shares, and have epsilon together.
func halve(shares []uint64, at int, from, to uint64, epsilon *big.Rat, root bool) (_ *question, err error) {
	if len(shares) == 0 {
		return nil, nil
	}
	levels := bits.Len(uint(len(shares)))
	side := 1<<(levels-1) - 1
	middle := max(0, len(shares)-1-side)
	for i := middle + 1; i <= side && i < len(shares); i++ {
		if lopsided(shares[i], from, to) <= lopsided(shares[middle], from, to) {
			middle = i
		}
	}
	share := shares[middle]
	q := &question{at: at + middle, num: share - from, den: to - from}
	e := new(big.Rat).Quo(epsilon, big.NewRat(int64(levels), 1))
	rest := new(big.Rat).Sub(epsilon, e)
	part := new(big.Int).SetUint64(q.den) // of which a row is 2 or 4
	if root {
		part.Lsh(part, 1)
	} else {
		part.Lsh(part.SetUint64(lopsided(share, from, to)), 2)
	}
	if q.rate, err = exact.RateFloor(e.Quo(e, new(big.Rat).SetInt(part))); err != nil {
		return nil, err
	}
	if q.lower, err = halve(shares[:middle], at, from, share, rest, false); err != nil {
		return nil, err
	}
	q.upper, err = halve(shares[middle+1:], at+middle+1, share, to, rest, false)
	return q, err
}

// lopsided returns the larger part of the shares between two that lies on either side of one.
func lopsided(share, from, to uint64) uint64 { return max(share-from, to-share) }

// noise returns the least and the most noise of a question and those below it, with their parts of the noise of the two answers
// between which its rows are: if one of these is r rows too high, the answer is about (1-q)*r or q*r too high.
func (q *question) noise(below, above float64) (least, most float64) {
	if q == nil {
		return math.Inf(1), 0
	}
	share := float64(q.num) / float64(q.den)
	own, below2, above2 := 1/float64(q.rate*float64(q.den)), float64((1-share)*below), float64(share*above)
	noise := math.Sqrt(float64(own*own) + float64(below2*below2) + float64(above2*above2))
	lowerLeast, lowerMost := q.lower.noise(below, noise)
	upperLeast, upperMost := q.upper.noise(noise, above)
	return min(noise, lowerLeast, upperLeast), max(noise, lowerMost, upperMost)
}

// draw returns the index of each percentile in the universe. It sorts the readings.
func (q *question) draw(src *exact.Source, a *Accumulator, u *Universe) []int64 {
	for i, k := range a.indices {
		a.indices[i] = k<<fractionBits | int64(src.Uint32()>>(32-fractionBits))
	}
	a.indices, a.spare = sortIndices(a.indices, a.spare, bits.Len64(uint64(u.last))+fractionBits)
	answers := make([]int64, q.count())
	q.ask(src, &a.choice, a.indices, 0, (u.last+1)<<fractionBits-1, answers)
	for i := range answers {
		answers[i] >>= fractionBits
	}
	for i := range a.indices {
		a.indices[i] >>= fractionBits
	}
	return answers
}

// count returns how many questions there are.
func (q *question) count() int {
	if q == nil {
		return 0
	}
	return 1 + q.lower.count() + q.upper.count()
}

// ask draws the answers to a question and those below it from sorted rows, among the values from first to last.
func (q *question) ask(src *exact.Source, c *choice, rows []int64, first, last int64, answers []int64) {
	if q == nil {
		return
	}
	c.prepare(q.rate, q.scores(c, rows, first, last))
	v := c.draw(src)
	answers[q.at] = v
	below, _ := slices.BinarySearch(rows, v)
	q.lower.ask(src, c, rows[:below], first, v, answers)
	q.upper.ask(src, c, rows[below:], v, last, answers)
}

// scores returns the scores of values from first to last over sorted rows, in the memory of c.
func (q *question) scores(c *choice, rows []int64, first, last int64) *shareScores {
	s := memory[shareScores](c)
	*s = shareScores{rows: rows, first: first, last: last, row: uint128{lo: q.den}}
	s.most = uint128{lo: q.num}.times(uint64(len(rows)))
	s.least, s.cap = s.most, s.row.times(q.cap())
	switch one := (int128{lo: q.den}); {
	case len(rows) == 0:
	case q.num == 0:
		s.least = one
	case q.num == q.den:
		s.most = s.most.add(one.neg())
	}
	return s
}

// cap returns the largest score, in rows: a score of so many has a weight of about e^-100.
func (q *question) cap() uint64 {
	return uint64(min(math.Ceil(100/(q.rate*float64(q.den))), 1<<40))
}

// shareScores count rows that are too many below a value or too few up to it, times the size of a row. Where they are too few, a
// run ends before the next row, and where too many, with it.
type shareScores struct {
	rows        []int64 // in order
	first, last int64   // values
	row         uint128 // the size of a row
	most, least int128  // below a value of score 0, and up to it
	cap         int128  // the largest score

	at int64 // the value at which the next run begins
	i  int   // how many rows are below it
}

func (s *shareScores) restart() { s.at, s.i = s.first, 0 }

// next goes up.
func (s *shareScores) next() (run, bool) {
	if s.at > s.last {
		return run{}, false
	}
	r, below := run{first: s.at, step: 1}, s.i
	if many := s.row.times(uint64(below)).add(s.most.neg()); !many.less(s.cap) {
		r.score = uint128{uint64(s.cap.hi), s.cap.lo}
		s.at = s.last + 1
	} else if (int128{}).less(many) {
		r.score = uint128{uint64(many.hi), many.lo}
		if s.at = s.nextRow(); s.at <= s.last {
			s.pass()
			s.at++
		}
	} else {
		s.pass()
		few := s.least.add(s.row.times(uint64(s.i)).neg())
		if excess := few.add(s.cap.neg()); excess.hi >= 0 { // pass all rows up to which there are too few
			few = s.cap
			rows, _ := bits.Div64(uint64(excess.hi), excess.lo, s.row.lo)
			s.skip(s.i + int(rows))
		}
		if (int128{}).less(few) {
			r.score = uint128{uint64(few.hi), few.lo}
		}
		if r.score == (uint128{}) && s.i > below {
			s.at++
		} else {
			s.at = s.nextRow()
		}
	}
	r.n = s.at - r.first
	return r, true
}

// skip counts the rows below that of an index, if there is one, and else all rows.
func (s *shareScores) skip(index int) {
	if index >= len(s.rows) {
		s.i = len(s.rows)
		return
	}
	s.i, _ = slices.BinarySearch(s.rows, s.rows[index])
}

// pass counts the rows at the value.
func (s *shareScores) pass() {
	for s.i < len(s.rows) && s.rows[s.i] == s.at {
		s.i++
	}
}

// nextRow returns the value of the first row that is not counted, or what comes after the last value.
func (s *shareScores) nextRow() int64 {
	if s.i < len(s.rows) {
		return s.rows[s.i]
	}
	return s.last + 1
}
