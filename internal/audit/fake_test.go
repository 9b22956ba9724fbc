package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/geosql/geosql/internal/audit/host"
)

// A fake is a host. Its only function f(account, x) releases x = 0 or x = 10 with geometric noise of a rate, and charges 0.2 for
// it. Its fields make it wrong. It understands the statements of an audit by their texts.
type fake struct {
	rate     float64                                 // 0.2 if it is 0
	answer   func(input int, x, noise int64) any     // x + noise if it is nil
	noise    func(s *fakeSession, column int) int64  // fresh if it is nil
	fails    func(input int) error                   // a statement
	rows     func(input, trials int) int             // of a statement
	charge   func(input, trials int) float64         // for a statement
	forecast func(s *fakeSession, input int) float64 // for a trial, by a dry run
	refusal  func(input int) error
	forks    func(s *fakeSession) *fakeSession // the session of the child
}

func (*fake) Describe() string  { return "a fake" }
func (*fake) Makes(s bool) bool { return !s }
func (f *fake) Create(context.Context, string, host.Setup) (host.Database, error) {
	return &fakeDatabase{fake: f, spent: map[string]float64{}, limit: map[string]float64{}}, nil
}

type fakeDatabase struct {
	*fake
	mu           sync.Mutex
	spent, limit map[string]float64
	sessions     int
}

func (d *fakeDatabase) Connect(context.Context) (host.Session, error) {
	d.sessions++
	return &fakeSession{fakeDatabase: d, random: rand.New(rand.NewPCG(rand.Uint64(), 1))}, nil
}

func (d *fakeDatabase) Spent(_ context.Context, accounts, _ string) (total float64, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for a, spent := range d.spent {
		if ok, _ := path.Match(accounts, a); ok {
			total += spent
		}
	}
	return total, nil
}

func (*fakeDatabase) Close() error { return nil }

type fakeSession struct {
	*fakeDatabase
	random     *rand.Rand
	statements int // so far
	row        int // of the running statement
	last       int64
}

func (*fakeSession) Close() error { return nil }

// geometric draws noise.
func (s *fakeSession) geometric() int64 {
	rate := s.rate
	if rate == 0 {
		rate = 0.2
	}
	draw := func() int64 { return int64(math.Floor(s.random.ExpFloat64() / rate)) }
	up, down := draw(), draw()
	return up - down
}

var (
	ofTable  = regexp.MustCompile(`secret_\d+_(\d)`)
	ofTrials = regexp.MustCompile(`trial <= (\d+)`)
	ofLimit  = regexp.MustCompile(`^SELECT budget_limit\('([^']*)', '[^']*', ([^)]*)\)`)
	ofEdge   = regexp.MustCompile(`f\('+(c\d+-edge-\d)'+`)
)

func (s *fakeSession) Query(ctx context.Context, sql string, row func([]any) error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m := ofLimit.FindStringSubmatch(sql); m != nil {
		s.limit[m[1]], _ = strconv.ParseFloat(m[2], 64)
		return nil
	}
	input, _ := strconv.Atoi(ofTable.FindStringSubmatch(sql)[1])
	n, _ := strconv.Atoi(ofTrials.FindStringSubmatch(sql)[1])
	if strings.Contains(sql, "budget_cost(") {
		cost := 0.2
		if s.forecast != nil {
			cost = s.forecast(s, input)
		}
		return row([]any{"c0-ana", "u", int64(n), cost * float64(n)})
	}
	s.statements++
	columns := strings.Count(sql, "f(")
	cost := 0.2 * float64(n*columns)
	if s.charge != nil {
		cost = s.charge(input, n*columns)
	}
	account := "c0-ana"
	if m := ofEdge.FindStringSubmatch(sql); m != nil {
		account = m[1]
	}
	if strings.Contains(sql, "'blocked'") || s.limit[account] > 0 && s.spent[account]+cost > s.limit[account] {
		if s.refusal != nil {
			return s.refusal(input)
		}
		return errors.New("refused")
	}
	if s.fails != nil && account == "c0-ana" { // not where a budget ends, which few statements show
		if err := s.fails(input); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.spent[account] += cost
	s.mu.Unlock()
	if s.rows != nil {
		n = s.rows(input, n)
	}
	for s.row = range n {
		var values []any
		for column := range columns {
			values = append(values, s.release(input, column))
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return nil
}

func (s *fakeSession) release(input, column int) any {
	x, noise := int64(10*input), int64(0)
	if s.noise != nil {
		noise = s.noise(s, column)
	} else {
		noise = s.geometric()
	}
	s.last = noise
	if s.answer != nil {
		return s.answer(input, x, noise)
	}
	return x + noise
}

func (s *fakeSession) Fork(ctx context.Context, sql string) (rows [2][][]any, err error) {
	child := &fakeSession{fakeDatabase: s.fakeDatabase, random: rand.New(rand.NewPCG(rand.Uint64(), 2))}
	if s.forks != nil {
		child = s.forks(s)
	}
	for i, session := range []*fakeSession{s, child} {
		err = errors.Join(err, session.Query(ctx, sql, func(row []any) error {
			rows[i] = append(rows[i], row)
			return nil
		}))
	}
	return rows, err
}

// seeded returns noise that a seed decides.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

// sometimes returns an error in a number of calls.
func sometimes(share float64) error {
	if rand.Float64() < share {
		return fmt.Errorf("a failure of account c0-ana-0-%d", rand.IntN(1000))
	}
	return nil
}
