package monitor

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn"
)

// Metrics counts events for Prometheus. Labels have few values, which the owner or this package chooses: no
// role, address, table or account is one.
type Metrics struct {
	registry *prometheus.Registry

	ended      *prometheus.CounterVec
	logins     *prometheus.CounterVec
	statements *prometheus.CounterVec
	seconds    prometheus.Histogram
	rows       prometheus.Counter
	bytes      prometheus.Counter
	answers    *prometheus.CounterVec
	refusals   prometheus.Counter
	leftOut    prometheus.Counter
	charged    *prometheus.CounterVec
	ledger     prometheus.Histogram

	mu    sync.Mutex
	units map[budget.Unit]bool // that are labels
}

// mostUnits is the largest number of units that are labels. The owner declares units, a handful.
const mostUnits = 50

// Reasons, results and so on are labels from the beginning, so that rates are right from the first event on.
var (
	reasons = []Reason{ClientLeft, ServerStops, RoleDropped, WorkerDied, WorkerKilled}

	// classes are those of the SQLSTATEs that a server of geosql has.
	classes = []string{"00", "08", "0A", "22", "23", "24", "25", "26", "28", "34", "3D", "3F", "42", "53", "54", "55", "57", "58", "XX"}
)

// A State is what a session does.
type State string

// The states.
const (
	Starting      State = "starting" // its process
	Idle          State = "idle"
	InTransaction State = "idle in transaction" // or with a cursor
	Active        State = "active"
)

var states = []State{Starting, Idle, InTransaction, Active}

// NewMetrics returns metrics that are all 0.
func NewMetrics() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), units: map[budget.Unit]bool{}}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	factory := promauto.With(m.registry)
	counter := func(name, help string) prometheus.Counter {
		return factory.NewCounter(prometheus.CounterOpts{Name: "geosql_" + name, Help: help})
	}
	counters := func(name, help, label string, values ...string) *prometheus.CounterVec {
		c := factory.NewCounterVec(prometheus.CounterOpts{Name: "geosql_" + name, Help: help}, []string{label})
		for _, v := range values {
			c.WithLabelValues(v)
		}
		return c
	}
	histogram := func(name, help string, first float64, n int) prometheus.Histogram {
		return factory.NewHistogram(prometheus.HistogramOpts{
			Name: "geosql_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(first, 4, n),
		})
	}
	var ends []string
	for _, r := range reasons {
		ends = append(ends, string(r))
	}
	m.ended = counters("sessions_ended_total", "Sessions that ended, by reason.", "reason", ends...)
	m.logins = counters("logins_total", "Logins, by result.", "result", "ok", "failed")
	m.statements = counters("statements_total", "Statements that ended, by the class of their SQLSTATE.", "class", append(classes, "other")...)
	m.seconds = histogram("statement_seconds", "Durations of statements.", 0.001, 9)
	m.rows = counter("rows_total", "Rows that statements have answered.")
	m.bytes = counter("bytes_total", "Bytes of these rows.")
	m.answers = counters("answers_total", "Private answers, by where they come from.", "origin", "drawn", "remembered")
	m.refusals = counter("refusals_total", "Statements that an account or role could not pay (SQLSTATE 53400).")
	m.leftOut = counter("left_out_accounts_total", "Accounts that answers were given without, since they could not pay.")
	m.charged = counters("charged_epsilon_total", "Sum over statements of the largest amount charged to one account, by unit.", "unit")
	m.ledger = histogram("ledger_seconds", "How long statements that charge have waited for the ledger.", 0.0005, 9)
	return m
}

// Gauge adds a metric that computes its value when it is read.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	promauto.With(m.registry).NewGaugeFunc(prometheus.GaugeOpts{Name: "geosql_" + name, Help: help}, value)
}

// Sessions adds the gauge of sessions in each state.
func (m *Metrics) Sessions(count func() map[State]int) {
	sessions := prometheus.NewDesc("geosql_sessions", "Open sessions, by state.", []string{"state"}, nil)
	m.registry.MustRegister(collector(func(to chan<- prometheus.Metric) {
		counts := count()
		for _, state := range states {
			to <- prometheus.MustNewConstMetric(sessions, prometheus.GaugeValue, float64(counts[state]), string(state))
		}
	}))
}

// Ledger adds the metrics of a ledger's size, which is nil while it is not known.
func (m *Metrics) Ledger(size func() *ledger.Size) {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc("geosql_"+name, help, nil, nil) }
	bytes := desc("ledger_bytes", "Size of the ledger.")
	room := desc("ledger_room_bytes", "Bytes that the disk of the ledger has left, of a ledger in a file.")
	answers := desc("ledger_answers", "Answers that the ledger remembers.")
	waits := desc("ledger_pool_waits_total", "Waits for a connection to the ledger's server, since all were in use.")
	m.registry.MustRegister(collector(func(to chan<- prometheus.Metric) {
		s := size()
		if s == nil {
			return
		}
		to <- prometheus.MustNewConstMetric(bytes, prometheus.GaugeValue, float64(s.Bytes))
		to <- prometheus.MustNewConstMetric(answers, prometheus.GaugeValue, float64(s.Answers))
		to <- prometheus.MustNewConstMetric(waits, prometheus.CounterValue, float64(s.Waits))
		if s.Room >= 0 {
			to <- prometheus.MustNewConstMetric(room, prometheus.GaugeValue, float64(s.Room))
		}
	}))
}

// A collector sends metrics as they are now.
type collector func(chan<- prometheus.Metric)

func (collector) Describe(chan<- *prometheus.Desc)      {}
func (c collector) Collect(to chan<- prometheus.Metric) { c(to) }

// Handler returns the handler of /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3, Timeout: 10 * time.Second})
}

// SessionBegan counts a login that succeeded.
func (m *Metrics) SessionBegan(Session) { m.logins.WithLabelValues("ok").Inc() }

// SessionEnded counts why.
func (m *Metrics) SessionEnded(_ Session, reason Reason) {
	if !slices.Contains(reasons, reason) {
		reason = "other"
	}
	m.ended.WithLabelValues(string(reason)).Inc()
}

// LoginFailed counts it.
func (m *Metrics) LoginFailed(net.Addr, string) { m.logins.WithLabelValues("failed").Inc() }

// StatementEnded counts it.
func (m *Metrics) StatementEnded(s Statement) {
	m.statements.WithLabelValues(class(s.state())).Inc()
	m.seconds.Observe(s.Took.Seconds())
	m.rows.Add(float64(max(0, s.Rows)))
	m.bytes.Add(float64(max(0, s.Bytes)))
	if s.State == "53400" {
		m.refusals.Inc()
	}
	m.report(s.Report)
	if s.Ledger > 0 {
		m.ledger.Observe(s.Ledger.Seconds())
	}
}

// report counts answers and their cost.
func (m *Metrics) report(r sqlitefn.Report) {
	m.answers.WithLabelValues("drawn").Add(float64(max(0, r.Answers-r.Remembered)))
	m.answers.WithLabelValues("remembered").Add(float64(max(0, r.Remembered)))
	m.leftOut.Add(float64(max(0, r.LeftOut)))
	for _, c := range r.Costs {
		m.charged.WithLabelValues(m.unit(c.Unit)).Add(max(0, c.Most.Float64()))
	}
}

// unit returns the label of a unit.
func (m *Metrics) unit(u budget.Unit) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.units[u] {
		if len(m.units) >= mostUnits {
			return "other"
		}
		m.units[u] = true
	}
	return strings.ToValidUTF8(string(u), "\uFFFD")
}

// class returns the class of a SQLSTATE.
func class(state string) string {
	for _, c := range classes {
		if len(state) == 5 && state[:2] == c {
			return c
		}
	}
	return "other"
}
