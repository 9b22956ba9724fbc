package worker

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/wire"
)

// A setting can be shown by SHOW and changed by SET.
type setting struct {
	name     string // as clients are told
	value    string // at the start
	reported bool   // clients are told when it changes
	check    func(*settings, string) (string, error)
}

// Settings that others than the client go by: Epsilon makes SQLite's aggregates over sealed columns private, and the keeper is told
// of it, whether it asks for the cost of statements before they run, and how long clients may ask nothing.
const (
	Epsilon           = "geosql.epsilon"
	Preflight         = "geosql.preflight"
	IdleInTransaction = "idle_in_transaction_session_timeout"
	IdleSession       = "idle_session_timeout"
	StatementTimeout  = "statement_timeout"
)

// known are the settings that every session has.
var known = []setting{
	{"application_name", "", true, anything},
	{"bytea_output", "hex", false, only("hex")},
	{"client_encoding", "UTF8", true, utf8Only},
	{"client_min_messages", "notice", false, anything},
	{"DateStyle", "ISO, MDY", true, dateStyle},
	{"default_transaction_deferrable", "off", false, anything},
	{"default_transaction_isolation", "repeatable read", false, anything},
	{"default_transaction_read_only", "on", true, onOnly},
	{"escape_string_warning", "on", false, anything},
	{"extra_float_digits", "1", false, anything},
	{"geqo", "on", false, anything},
	{Epsilon, "", true, checkEpsilon},
	{Preflight, "on", true, onOrOff},
	{IdleInTransaction, "0", true, timeoutUpTo(func(s *settings) time.Duration { return s.config.IdleInTransaction })},
	{IdleSession, "0", true, timeoutUpTo(func(s *settings) time.Duration { return s.config.IdleSession })},
	{"in_hot_standby", "off", true, nil},
	{"integer_datetimes", "on", true, nil},
	{"IntervalStyle", "postgres", true, anything},
	{"is_superuser", "off", true, nil},
	{"jit", "off", false, anything},
	{"lc_collate", "C", false, nil},
	{"lc_ctype", "C", false, nil},
	{"lc_messages", "C", false, anything},
	{"lc_monetary", "C", false, anything},
	{"lc_numeric", "C", false, anything},
	{"lc_time", "C", false, anything},
	{"lock_timeout", "0", false, anything},
	{"max_identifier_length", "63", false, nil},
	{"max_index_keys", "32", false, nil},
	{"max_parallel_workers_per_gather", "0", false, anything},
	{"row_security", "on", false, anything},
	{"search_path", `"$user", public`, false, anything},
	{"server_encoding", "UTF8", true, nil},
	{"server_version", pgcatalog.Version, true, nil},
	{"server_version_num", "150000", false, nil},
	{"session_authorization", "", true, nil},
	{"standard_conforming_strings", "on", true, onOnly},
	{StatementTimeout, "0", true, timeoutUpTo(func(s *settings) time.Duration { return s.config.Timeout })},
	{"synchronize_seqscans", "on", false, anything},
	{"synchronous_commit", "on", false, anything},
	{"TimeZone", "UTC", true, anything},
	{"transaction_deferrable", "off", false, anything},
	{"transaction_isolation", "repeatable read", false, anything},
	{"transaction_read_only", "on", false, onOnly},
	{"work_mem", "4MB", false, anything},
	{"xmloption", "content", false, anything},
}

var knownByName = func() map[string]*setting {
	m := map[string]*setting{}
	for i := range known {
		m[strings.ToLower(known[i].name)] = &known[i]
	}
	return m
}()

// settings are the settings of a session, by their names in lower case.
type settings struct {
	client  wire.Client
	config  Config
	initial map[string]string
	now     map[string]string
	local   map[string]string // values replaced by SET LOCAL, until the transaction ends
}

func newSettings(config Config, client wire.Client) *settings {
	s := &settings{client: client, config: config, initial: map[string]string{}, local: map[string]string{}}
	for name, k := range knownByName {
		s.initial[name] = k.value
	}
	s.initial["session_authorization"] = config.User
	s.initial[StatementTimeout] = formatTimeout(config.Timeout)
	s.initial[IdleInTransaction] = formatTimeout(config.IdleInTransaction)
	s.initial[IdleSession] = formatTimeout(config.IdleSession)
	s.now = maps.Clone(s.initial)
	return s
}

// start takes the settings of a startup packet. RESET returns to them.
func (s *settings) start(parameters map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		value := parameters[name]
		name = strings.ToLower(name)
		if name == "options" {
			if err := s.options(value); err != nil {
				return err
			}
			continue
		}
		if err := s.set(name, value); err != nil {
			return err
		}
	}
	s.initial = maps.Clone(s.now)
	return nil
}

// options takes settings as the command line of a server has them: -c name=value and --name=value.
func (s *settings) options(text string) error {
	var words []string
	word, escaped, inside := "", false, false
	for _, c := range text {
		switch {
		case escaped:
			word, escaped = word+string(c), false
		case c == '\\':
			escaped, inside = true, true
		case c == ' ' || c == '\t' || c == '\n':
			if inside {
				words = append(words, word)
			}
			word, inside = "", false
		default:
			word, inside = word+string(c), true
		}
	}
	if inside {
		words = append(words, word)
	}
	for i := 0; i < len(words); i++ {
		assignment, is := strings.CutPrefix(words[i], "--")
		if !is {
			if assignment, is = strings.CutPrefix(words[i], "-c"); is && assignment == "" && i+1 < len(words) {
				i++
				assignment = words[i]
			}
		}
		name, value, assigns := strings.Cut(assignment, "=")
		if !is || !assigns {
			return newError("22023", "options: %s is not understood: write -c name=value", quoted(words[i]))
		}
		if err := s.set(strings.ReplaceAll(strings.ToLower(name), "-", "_"), value); err != nil {
			return err
		}
	}
	return nil
}

// get returns the value of a setting.
func (s *settings) get(name string) (string, bool) {
	value, ok := s.now[strings.ToLower(name)]
	return value, ok
}

// names returns the names of all settings, as clients are told.
func (s *settings) names() (list []string) {
	for name := range s.now {
		if k := knownByName[name]; k != nil {
			name = k.name
		}
		list = append(list, name)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return list
}

// unknown returns the error about a setting that does not exist.
func unknown(name string) error {
	e := newError("42704", "unrecognized configuration parameter %s", quoted(name))
	if strings.HasPrefix(name, "geosql.") {
		e.Hint = "There are geosql.epsilon and geosql.preflight."
	}
	return e
}

// check returns a value in the setting's form, or an error.
func (s *settings) check(name, value string) (string, error) {
	k := knownByName[name]
	switch {
	case k == nil && (!strings.Contains(name, ".") || strings.HasPrefix(name, "geosql.")):
		return "", unknown(name)
	case k == nil: // PostgreSQL takes any that looks like one of an extension
		return value, nil
	case k.check == nil:
		return "", newError("55P02", "parameter %s cannot be changed", quoted(k.name))
	}
	return k.check(s, value)
}

// set changes a setting.
func (s *settings) set(name, value string) error {
	name = strings.ToLower(name)
	checked, err := s.check(name, value)
	if err != nil {
		return err
	}
	s.put(name, checked)
	return nil
}

// put sets a setting without a check, and tells the client.
func (s *settings) put(name, value string) {
	if s.now[name] == value {
		if _, is := s.now[name]; is {
			return
		}
	}
	s.now[name] = value
	if k := knownByName[name]; k != nil && k.reported {
		s.client.Parameter(k.name, value)
	}
}

// setLocal changes a setting until the transaction ends.
func (s *settings) setLocal(name, value string) error {
	name = strings.ToLower(name)
	before, is := s.now[name]
	if err := s.set(name, value); err != nil {
		return err
	}
	if _, already := s.local[name]; !already && is {
		s.local[name] = before
	}
	return nil
}

// reset sets a setting to its value at the start of the session.
func (s *settings) reset(name string) error {
	name = strings.ToLower(name)
	value, is := s.initial[name]
	switch {
	case !is && s.now[name] == "" && !strings.Contains(name, "."):
		return unknown(name)
	case !is:
		delete(s.now, name)
	default:
		s.put(name, value)
	}
	return nil
}

// restore sets all settings to earlier values.
func (s *settings) restore(to map[string]string) {
	for name := range s.now {
		if _, is := to[name]; !is {
			delete(s.now, name)
		}
	}
	for name, value := range to {
		s.put(name, value)
	}
}

// endLocal undoes SET LOCAL.
func (s *settings) endLocal() {
	for name, value := range s.local {
		s.put(name, value)
	}
	clear(s.local)
}

func anything(_ *settings, value string) (string, error) { return value, nil }

func only(value string) func(*settings, string) (string, error) {
	return func(_ *settings, v string) (string, error) {
		if !strings.EqualFold(v, value) {
			return "", newError("0A000", "only the value %s is supported", quoted(value))
		}
		return value, nil
	}
}

// isOn reports whether a value is on, in the ways that PostgreSQL knows.
func isOn(value string) bool {
	return slices.Contains([]string{"on", "true", "yes", "1", "t", "y"}, strings.ToLower(value))
}

func onOnly(_ *settings, value string) (string, error) {
	if isOn(value) {
		return "on", nil
	}
	return "", &wire.Error{Code: "25006", Message: "the database is read-only, and texts have standard escapes: this setting stays on"}
}

func onOrOff(_ *settings, value string) (string, error) {
	switch {
	case isOn(value):
		return "on", nil
	case slices.Contains([]string{"off", "false", "no", "0", "f", "n"}, strings.ToLower(value)):
		return "off", nil
	}
	return "", &wire.Error{Code: "22023", Message: Preflight + " must be on or off, not " + quoted(value)}
}

func utf8Only(_ *settings, value string) (string, error) {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(value)) {
	case "utf8", "unicode":
		return "UTF8", nil
	}
	return "", &wire.Error{Code: "22023", Message: "client_encoding " + quoted(value) + " is not supported", Hint: "Use UTF8."}
}

// dateStyle takes values that begin with ISO: dates are texts.
func dateStyle(_ *settings, value string) (string, error) {
	first, _, _ := strings.Cut(strings.ToLower(value), ",")
	switch strings.TrimSpace(first) {
	case "iso", "mdy", "dmy", "ymd":
		return "ISO, MDY", nil
	}
	return "", &wire.Error{Code: "22023", Message: "DateStyle " + quoted(value) + " is not supported", Hint: "Use ISO."}
}

func checkEpsilon(_ *settings, value string) (string, error) {
	value = strings.TrimSpace(value)
	if value == "" || strings.EqualFold(value, "off") {
		return "", nil
	}
	const digits = "0123456789.eE+-"
	e, ok := new(big.Rat).SetString(value)
	if len(value) > 40 || strings.Trim(value, digits) != "" || !ok || e.Sign() <= 0 {
		return "", &wire.Error{Code: "22023", Message: "geosql.epsilon must be a number above 0, or off, not " + quoted(value),
			Hint: "For example: SET geosql.epsilon = 0.1"}
	}
	return value, nil
}

// timeout returns the time limit of a statement, 0 for none.
func (s *settings) timeout() time.Duration {
	d, _ := ParseTimeout(s.now[StatementTimeout]) // which was checked
	return d
}

// timeoutUpTo takes a timeout. One that is longer than the most that a session may have, or for ever, stands for that.
func timeoutUpTo(most func(*settings) time.Duration) func(*settings, string) (string, error) {
	return func(s *settings, value string) (string, error) {
		d, err := ParseTimeout(value)
		if err != nil {
			return "", err
		}
		if d > 0 {
			d = max(d, time.Millisecond) // 0 would be for ever
		}
		if most := most(s); most > 0 && (d == 0 || d > most) {
			d = most
		}
		return formatTimeout(d), nil
	}
}

// units are the units of times.
var units = []struct {
	name string
	d    time.Duration
}{{"us", time.Microsecond}, {"ms", time.Millisecond}, {"min", time.Minute}, {"s", time.Second}, {"h", time.Hour}, {"d", 24 * time.Hour}}

// ParseTimeout reads the value of a setting such as statement_timeout.
func ParseTimeout(text string) (time.Duration, error) {
	value := strings.TrimSpace(text)
	unit := time.Millisecond
	for _, u := range units {
		if digits, is := strings.CutSuffix(value, u.name); is {
			value, unit = strings.TrimSpace(digits), u.d
			break
		}
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 || n > int64(math.MaxInt64/unit) {
		return 0, &wire.Error{Code: "22023", Message: "a timeout must be a number of milliseconds or a time such as '10s', not " + quoted(text)}
	}
	return time.Duration(n) * unit, nil
}

// formatTimeout writes a time as a whole number of the largest unit that divides it.
func formatTimeout(d time.Duration) string {
	d = d.Truncate(time.Millisecond)
	if d == 0 {
		return "0"
	}
	for _, u := range []int{5, 4, 2, 3, 1} {
		if d%units[u].d == 0 {
			return strconv.FormatInt(int64(d/units[u].d), 10) + units[u].name
		}
	}
	return "0"
}
