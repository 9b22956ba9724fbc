package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A fake is a backend that knows a few statements by a word in them. The passwords of its users are their
// names and "-password".
type fake struct {
	mu     sync.Mutex
	price  budget.Amount // of a call
	spent  map[budget.Unit]budget.Amount
	known  map[string]bool // statements with a remembered answer
	asked  []Asked
	saved  []SavedQuestion
	roles  []*role.Role
	logins int // that were judged
	open   int // sessions
	inside int // calls of Quote and Run that are going on
	most   int // of them at once
}

func newFake() *fake {
	f := &fake{price: budget.One / 20, spent: map[budget.Unit]budget.Amount{"kWh": budget.One * 35 / 100}, known: map[string]bool{}}
	f.roles = []*role.Role{{Terms: role.Terms{
		Name: "ana", Columns: []catalog.ColumnName{{Table: "reading", Column: "kwh"}, {Table: "trip", Column: "location"}},
		Epsilon:    map[budget.Unit]budget.Amount{"kWh": budget.One, "m": budget.One / 10, "record": 2 * budget.One},
		EpsilonMax: map[budget.Unit]budget.Amount{"kWh": budget.One / 10},
		MaxRepeat:  1, Timeout: role.DefaultTimeout, LeaveOut: true,
	}}}
	return f
}

func (f *fake) Login(_ context.Context, c Credentials) (Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logins++
	if !slices.Contains([]string{OwnerName, "ana", "bo"}, c.User) || c.Password != c.User+"-password" {
		return nil, ErrLogin
	}
	f.open++
	return &fakeSession{f, c.User}, nil
}

type fakeSession struct {
	*fake
	user string
}

func (s *fakeSession) Owner() bool { return s.user == OwnerName }

func (s *fakeSession) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}

func (s *fakeSession) Schema(context.Context) (*Schema, error) {
	kwh := &Sealed{Universe: "halfhour", Unit: "kWh", Granted: true}
	place := &Sealed{Domain: "beijing", Unit: "m", Granted: true}
	return &Schema{
		Database: "city",
		Tables: []Table{
			{Name: "reading", Columns: []Column{
				{Name: "household", Type: "text"}, {Name: "month", Type: "integer"}, {Name: "day", Type: "text"}, {Name: "kwh", Type: "sealed", Sealed: kwh}}},
			{Name: "trip", Columns: []Column{
				{Name: "person", Type: "text"}, {Name: "mode", Type: "text"}, {Name: "started", Type: "text"},
				{Name: "location", Type: "sealed", Sealed: place},
				{Name: "fare", Type: "sealed", Sealed: &Sealed{Universe: "yuan", Unit: "CNY"}}}},
			{Name: "weather", View: true, Columns: []Column{{Name: "day", Type: "text"}, {Name: "celsius", Type: "real"}}},
		},
		Functions: []Function{
			{Name: "count", Signatures: []string{"count(*)", "count(x)"}, Does: "Counts rows, exactly. Which rows exist is public."},
			{Name: "dx_heatmap", Signatures: []string{"dx_heatmap(sealed, epsilon, cell_m [, squares])"}, Does: "Counts locations in the cells of a grid, with noise.", Charges: true},
			{Name: "dx_sum", Signatures: []string{"dx_sum(sealed, epsilon [, metric])"}, Does: "Adds up readings, with noise.", Charges: true},
			{Name: "dx_stddev", Signatures: []string{"dx_stddev(sealed, epsilon [, metric])"}, Does: "Standard deviation of readings, with noise.", Charges: true},
			{Name: "geoind_laplace", Signatures: []string{"geoind_laplace(sealed, epsilon)"}, Does: "Moves a location by planar Laplace noise.", Charges: true},
			{Name: "round", Signatures: []string{"round(x [, digits])"}, Does: "Rounds a number."},
		},
		Domains:  []Domain{{"beijing", 39.75, 116.1, 40.1, 116.65, "MULTIPOLYGON(((116.2 39.8, 116.6 39.8, 116.4 40.05, 116.2 39.8), (116.35 39.85, 116.45 39.85, 116.4 39.9, 116.35 39.85)))"}},
		Examples: []Example{{"A sum, with noise", "SELECT dx_sum(kwh, 0.1) FROM reading"}},
	}, nil
}

var private = regexp.MustCompile(`dx_\w+|geoind_\w+`)

// cost returns the current cost of a statement.
func (s *fakeSession) cost(q Question) (r sqlitefn.Report) {
	functions := private.FindAllString(q.SQL, -1)
	if q.Epsilon > 0 && strings.Contains(q.SQL, "sum(kwh)") {
		functions = []string{"dx_sum"}
	}
	if len(functions) == 0 {
		return r
	}
	r = sqlitefn.Report{Answers: 12, Functions: functions, Columns: []string{"reading.kwh"}, Radius: 59.91, Unit: "kWh", Drawn: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)}
	unit := budget.Unit("kWh")
	switch functions[0] {
	case "dx_heatmap":
		unit, r.Columns, r.Answers, r.Radius, r.Unit = "record", []string{"trip.location"}, 1, 0, ""
	case "geoind_laplace":
		unit, r.Columns, r.Answers, r.Radius, r.Unit = "m", []string{"trip.location"}, 240, 0, ""
	}
	if strings.Contains(q.SQL, "left_out") {
		r.LeftOut = 17
	}
	if s.known[q.SQL] {
		r.Remembered = r.Answers
		return r
	}
	r.Costs = []sqlitefn.Cost{{Unit: unit, Accounts: 4212, Most: s.price, RoleAccounts: 4212, RoleMost: s.price, Multiplicity: 1}}
	if len(functions) > 1 {
		r.Costs = append(r.Costs, sqlitefn.Cost{Unit: "m", Accounts: 120, Most: budget.One / 100, RoleAccounts: 120, RoleMost: budget.One / 100, Multiplicity: 2})
	}
	return r
}

func (s *fakeSession) enter() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside++
	s.most = max(s.most, s.inside)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inside--
	}
}

// fault returns the error that a statement has.
func (s *fakeSession) fault(ctx context.Context, q Question) error {
	switch {
	case strings.Contains(q.SQL, "SELEC "):
		return &wire.Error{Code: "42601", Message: `near "SELEC": syntax error`, Hint: "The dialect is SQLite's.", Position: strings.Index(q.SQL, "SELEC ") + 1}
	case strings.Contains(q.SQL, "sum(kwh)") && q.Epsilon == 0 && !private.MatchString(q.SQL):
		return fmt.Errorf("wrapped: %w", &wire.Error{Code: "42804", Message: "sum cannot read the sealed column reading.kwh", Hint: "Call dx_sum(kwh, epsilon), or set epsilon for plain aggregates.", Position: utf8.RuneCountInString(q.SQL[:strings.Index(q.SQL, "sum(kwh)")]) + 1})
	case strings.Contains(q.SQL, "poor"):
		return &wire.Error{Code: "53400", Message: "the budget of an account does not pay for this", Detail: "Account 3f1c09aa57d21e04 has 0.02 of kWh left and would pay 0.05.", Hint: "Ask with a smaller epsilon."}
	case strings.Contains(q.SQL, "denied"):
		return &sqlitefn.PermissionError{Reason: "the role may not ask about trip.fare"}
	case strings.Contains(q.SQL, "ended"):
		return &wire.Error{Code: "57P01", Message: "the role has been dropped"}
	case strings.Contains(q.SQL, "broken"):
		return errors.New("/secret/path: disk I/O error")
	case strings.Contains(q.SQL, "xss_error"):
		return &wire.Error{Code: "42601", Message: corpus[0], Detail: corpus[1], Hint: corpus[2], Position: 1}
	case strings.Contains(q.SQL, "slow"):
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return ctx.Err()
	}
	return nil
}

func (s *fakeSession) Quote(ctx context.Context, q Question) (Outcome, error) {
	defer s.enter()()
	if err := s.fault(ctx, q); err != nil {
		return Outcome{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Outcome{Report: s.cost(q)}, nil
}

func (s *fakeSession) Run(ctx context.Context, q Question, quoted sqlitefn.Report) (Rows, error) {
	defer s.enter()()
	if err := s.fault(ctx, q); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.cost(q)
	for _, c := range r.Costs {
		var most budget.Amount
		for _, old := range quoted.Costs {
			if old.Unit == c.Unit {
				most = old.Most
			}
		}
		if c.Most > most {
			return nil, &sqlitefn.OverQuoteError{Unit: c.Unit}
		}
	}
	for _, c := range r.Costs {
		s.spent[c.Unit] += c.Most
		s.known[q.SQL] = true
	}
	if r.Answers > 0 {
		s.asked = append(s.asked, Asked{At: time.Now(), Role: s.user, Report: r, SQL: q.SQL, Epsilon: epsilonText(q.Epsilon)})
	}
	rows := &fakeRows{outcome: Outcome{Report: r}}
	rows.fill(q)
	return rows, nil
}

func (s *fakeSession) Budgets(context.Context) ([]Budget, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []Budget{
		{Role: "ana", Unit: "kWh", Limit: budget.One, Call: budget.One / 10, Accounts: 4212, Most: s.spent["kWh"]},
		{Role: "ana", Unit: "m", Limit: budget.One / 10, Accounts: 120, Most: budget.One*98/1000 + s.spent["m"]},
		{Role: "ana", Unit: "record", Limit: 2 * budget.One, Most: s.spent["record"]},
	}, nil
}

func (s *fakeSession) History(_ context.Context, most int) ([]Asked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.asked)
	slices.Reverse(all)
	return append(all[:min(len(all), most)], Asked{At: time.Now().Add(-26 * time.Hour), Role: "ana", Refused: "53400",
		Report: sqlitefn.Report{Functions: []string{"dx_avg"}, Columns: []string{"reading.kwh"}}}), nil
}

func epsilonText(epsilon budget.Amount) string {
	if epsilon == 0 {
		return ""
	}
	return epsilon.String()
}

func (s *fakeSession) Saved(context.Context) ([]SavedQuestion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.saved), nil
}

func (s *fakeSession) Save(_ context.Context, q SavedQuestion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = slices.DeleteFunc(s.saved, func(old SavedQuestion) bool { return old.Name == q.Name })
	if q.SQL != "" {
		s.saved = append(s.saved, q)
	}
	return nil
}

func (s *fakeSession) Left(context.Context) ([]Left, error) {
	return []Left{
		{"kWh", 4212, [11]int{12, 40, 0, 160, 800, 1400, 1000, 500, 200, 60, 40}},
		{"record", 120, [11]int{10: 120}},
	}, nil
}

func (s *fakeSession) Roles(context.Context) ([]*role.Role, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.roles), nil
}

func (s *fakeSession) AddRole(_ context.Context, r *role.Role) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.roles, func(x *role.Role) bool { return x.Name == r.Name }) {
		return &wire.Error{Code: "42710", Message: "there is a role " + r.Name, Hint: "Drop it first, or take another name."}
	}
	s.roles = append(s.roles, r)
	return nil
}

func (s *fakeSession) DropRole(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.roles)
	s.roles = slices.DeleteFunc(s.roles, func(x *role.Role) bool { return x.Name == name })
	if len(s.roles) == n {
		return &wire.Error{Code: "42704", Message: "there is no role " + name}
	}
	return nil
}

type fakeRows struct {
	columns []ResultColumn
	rows    [][]any
	at      int
	fails   int // before this row; 0 never
	asked   int // calls of Next
	outcome Outcome
}

func (r *fakeRows) Columns() []ResultColumn { return r.columns }

func (r *fakeRows) Next() ([]any, error) {
	if r.asked++; r.asked > maxRows {
		return nil, errors.New("rows are read that nobody sees")
	}
	if r.fails > 0 && r.at == r.fails {
		return nil, &wire.Error{Code: "53400", Message: "the budget of an account does not pay for this"}
	}
	if r.at == len(r.rows) {
		return nil, io.EOF
	}
	r.at++
	return r.rows[r.at-1], nil
}

func (r *fakeRows) Close() Outcome { return r.outcome }

// corpus are texts that break out of a page that does not take care.
var corpus = []string{
	`<script>window.pwned = 1</script>`,
	`<img src=x onerror="window.pwned = 1">`,
	`"><svg onload="window.pwned = 1">`,
	`' onmouseover='window.pwned = 1`,
	`javascript:window.pwned=1`,
	`</td></table><iframe srcdoc="<script>parent.pwned = 1</script>">`,
	`{{constructor.constructor('window.pwned = 1')()}}`,
	`<a href="http://other.invalid/">x</a>`,
	`<link rel=stylesheet href=//other.invalid/x.css>`,
	"\u202egnp.exe\u2066\u0000\x1b[31m",
	`__proto__`, `constructor`, `toString`,
	`POINT(116.4 39.9)<script>window.pwned = 1</script>`,
	`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[["<img src=x onerror=window.pwned=1>",1],[2,3]]]},"properties":{"count":"<b>"}}]}`,
}

func (r *fakeRows) fill(q Question) {
	sql := q.SQL
	add := func(values ...any) { r.rows = append(r.rows, values) }
	switch {
	case strings.Contains(sql, "xss"):
		for i, text := range corpus {
			r.columns = append(r.columns, ResultColumn{text, text})
			row := slices.Repeat([]any{text}, len(corpus))
			row[0] = int64(i)
			add(row...)
		}
		r.outcome.Notices = []*wire.Error{{Message: corpus[1], Detail: corpus[2], Hint: corpus[0]}}
	case strings.Contains(sql, "dx_heatmap"):
		r.columns = []ResultColumn{{"heat", "text"}}
		if strings.Contains(sql, "'adaptive'") {
			add(adaptiveMap)
		} else {
			add(heatMap())
		}
	case strings.Contains(sql, "geoind_laplace"):
		r.columns = []ResultColumn{{"place", "text"}, {"mode", "text"}}
		for i := range 240 {
			a, d := float64(i)*2.4, math.Sqrt(float64(i))/16
			add(fmt.Sprintf("POINT(%.6f %.6f)", 116.39+0.17*d*math.Cos(a), 39.92+0.12*d*math.Sin(a)), []string{"walk", "bus", "taxi", "bike"}[i%4])
		}
	case strings.Contains(sql, "many"):
		r.columns = []ResultColumn{{"n", "integer"}, {"text", "text"}}
		for i := range maxRows + 2000 {
			add(int64(i), fmt.Sprint("row ", i))
		}
	case strings.Contains(sql, "wide"):
		r.columns = []ResultColumn{{"n", "text"}}
		for range 40 {
			add(strings.Repeat("é", maxResult/64))
		}
	case strings.Contains(sql, "types"):
		r.columns = []ResultColumn{{"a", "integer"}, {"b", "real"}, {"c", "blob"}, {"d", "text"}, {"e", "boolean"}}
		add(int64(math.MaxInt64), math.Inf(1), make([]byte, 56), nil, true)
		add(int64(-7), 0.1, []byte{1}, strings.Repeat("x", maxCell+1), false)
	case strings.Contains(sql, "half"):
		r.columns, r.fails = []ResultColumn{{"n", "integer"}}, 1
		add(int64(1))
	case strings.Contains(sql, "dx_sum") || strings.Contains(sql, "sum(kwh)"):
		r.columns = []ResultColumn{{"month", "integer"}, {"kwh", "real"}}
		for i := range 12 {
			add(int64(i+1), math.Round(5200+1900*math.Cos(float64(i)*math.Pi/6)+37*float64(i%5)))
		}
		if strings.Contains(sql, "FROM two") { // and numbers of the same size, and of another one
			r.columns = append(r.columns, ResultColumn{"rows", "bigint"}, ResultColumn{"celsius", "real"})
			for i := range r.rows {
				r.rows[i] = append(r.rows[i], int64(4000+i), float64(i+1))
			}
		}
		sums := map[float64]int{}
		for _, row := range r.rows {
			sums[row[1].(float64)]++
		}
		r.outcome.Intervals = func(x float64) interval.Interval { return interval.Interval{Times: sums[x], Radius: 59.91} }
		r.outcome.Notices = []*wire.Error{{Message: "each answer is within 59.91 kWh of the true one, with probability 0.95"}}
	case strings.Contains(sql, "weather"):
		r.columns = []ResultColumn{{"day", "text"}, {"celsius", "real"}}
		for i := range 120 {
			add(time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), math.Round(10*(14-13*math.Cos(float64(i)/58)+3*math.Sin(float64(i)*1.3)))/10)
		}
	case strings.Contains(sql, "nothing"):
		r.columns = []ResultColumn{{"n", "integer"}}
	default:
		r.columns = []ResultColumn{{"count(*)", "integer"}}
		add(int64(932215))
	}
}

// adaptiveMap has squares of 1 and of 2 km.
const adaptiveMap = `{"type":"FeatureCollection","cell_m":1000,"epsilon":0.5,"features":[` +
	`{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[116.2,39.8],[116.2234,39.8],[116.2234,39.818],[116.2,39.818],[116.2,39.8]]]},"properties":{"count":-3,"cell_m":2000}},` +
	`{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[116.2234,39.8],[116.2351,39.8],[116.2351,39.809],[116.2234,39.809],[116.2234,39.8]]]},"properties":{"count":90,"cell_m":1000}},` +
	`{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[116.2351,39.8],[116.2468,39.8],[116.2468,39.809],[116.2351,39.809],[116.2351,39.8]]]},"properties":{"count":7,"cell_m":1000}},` +
	`{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[116.2234,39.809],[116.2351,39.809],[116.2351,39.818],[116.2234,39.818],[116.2234,39.809]]]},"properties":{"count":12,"cell_m":1000}},` +
	`{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[116.2351,39.809],[116.2468,39.809],[116.2468,39.818],[116.2351,39.818],[116.2351,39.809]]]},"properties":{"count":4,"cell_m":1000}}]}`

func heatMap() string {
	var b strings.Builder
	b.WriteString(`{"type":"FeatureCollection","cell_m":1000,"epsilon":0.5,"threshold":9,"features":[`)
	n := 0
	for i := range 22 {
		for j := range 18 {
			d := math.Hypot(float64(i)-11, float64(j)-8)
			count := int(420*math.Exp(-d*d/18)) + (i*7+j*13)%11
			if count < 9 {
				continue
			}
			if n++; n > 1 {
				b.WriteByte(',')
			}
			w, s := 116.25+0.0117*float64(i), 39.84+0.009*float64(j)
			fmt.Fprintf(&b, `{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[%.5f,%.5f],[%.5f,%.5f],[%.5f,%.5f],[%.5f,%.5f],[%.5f,%.5f]]]},"properties":{"count":%d}}`,
				w, s, w+0.0117, s, w+0.0117, s+0.009, w, s+0.009, w, s, count)
		}
	}
	return b.String() + "]}"
}
